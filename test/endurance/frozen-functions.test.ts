/** Functions that are frozen between invocations, while the servers close their connections. */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import * as v from 'valibot';
import { expect, onTestFinished, test } from 'vitest';
import { updateAccount } from '../../infra/operator/queries/accounts-admin.ts';
import { fileOf, png } from '../stack/support/files.ts';
import { frozenFunctions } from '../stack/support/frozen-function.ts';
import { InterruptingProxy } from '../stack/support/interrupting-proxy.ts';
import { serveOwnStack } from '../stack/support/own-stack.ts';
import { newCaller, newPhone } from '../stack/support/world.ts';
import { RawServer } from '../unit/support/raw-server.ts';

/** Milliseconds of a minute. The time limits are 5 s for an attempt, and 1 s for a body. */
const MINUTE = 30_000;
/** Milliseconds after which every timer of an invocation has expired. The longest one is for calls to the bucket. */
const LONG_FREEZE_MS = 6_500;

/** Creates a proxy per server. Also returns a function that closes idle connections. */
const proxies = () => {
  const all = new Map<string, Promise<InterruptingProxy>>();
  onTestFinished(async () => {
    for (const proxy of all.values()) await (await proxy).close();
  });
  const through = (url: string): Promise<InterruptingProxy> => {
    const proxy = all.get(url) ?? InterruptingProxy.to(url);
    all.set(url, proxy);
    return proxy;
  };
  const closeIdle = async (how: 'by FIN' | 'by RST'): Promise<number> => {
    const closed = (await Promise.all(all.values())).map((proxy) => proxy.closeIdle(how));
    return closed.reduce((sum, count) => sum + count, 0);
  };
  return { through, closeIdle };
};

/** A response with a part of its body, which never ends. */
const unfinished = 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart';
const finished = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

test('functions whose connections are closed while they are frozen lose no message, and send none twice', async () => {
  const destination = await RawServer.start();
  onTestFinished(() => destination.close());
  const { through, closeIdle } = proxies();
  const errors: string[] = [];
  const { stack, app } = await serveOwnStack({
    name: 'frozen-functions',
    minute: MINUTE,
    functions: frozenFunctions(through),
    onLine: (source, line) => {
      if (/"level":"(?:error|warn)"|^ +at |Error/.test(line)) errors.push(`${source} ${line}`);
    },
  });
  const bot = newPhone();
  const { account, token } = await newCaller('messages', 'stats');
  const settings = { url: destination.url, secret: `whsec_${randomBytes(32).toString('base64')}` };
  await updateAccount(account, { bot_number: bot, platform: { name: 'webhook', settings } });
  const phone = newPhone();
  const authorization = `Bearer ${token}`;

  const send = (body: string) =>
    fetch(`${stack.baseUrl}/v1/message`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ to: phone, type: 'text', text: { body } }),
    });
  const upload = () => {
    const body = new FormData();
    body.set('file', fileOf(png));
    return fetch(`${stack.baseUrl}/v1/upload_image`, { method: 'POST', headers: { authorization }, body });
  };
  const write = (text: string) =>
    fetch(`${app.phoneUrl}/phones/${phone}/messages`, { method: 'POST', body: JSON.stringify({ to: bot, text }) });

  const texts = v.array(v.object({ data: v.object({ text: v.object({ body: v.string() }) }) }));
  const onPhone = (): string[] => v.parse(texts, app.inbox.shownOn(phone)).map(({ data }) => data.text.body);
  const atDestination = (): string[] =>
    destination.bodies
      .map((body) => JSON.parse(body).message)
      .filter(Boolean)
      .map(({ text }) => text.body);

  // The first response on a connection is complete. The body of a later one never ends.
  destination.respond = ({ socket, place }) => void socket.write(place === 1 ? finished : unfinished);
  const expected: string[] = [];
  for (const [round, closed] of (['none', 'none', 'by RST', 'none', 'by FIN', 'none', 'by RST'] as const).entries()) {
    const text = `${round}`;
    expected.push(text);
    const answers = await Promise.all([send(text), upload(), write(text)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    await expect.poll(onPhone).toEqual(expected);
    await expect.poll(atDestination).toEqual(expected);
    await expect.poll(() => stack.queueCounts()).toEqual(emptied(stack.queueCounts()));
    if (closed === 'none') continue;
    if (round === 4) await pause(LONG_FREEZE_MS);
    await expect.poll(() => closeIdle(closed)).toBeGreaterThan(0);
    destination.closeConnections(closed);
  }
  expect(onPhone()).toEqual(expected);
  expect(atDestination()).toEqual(expected);
  // Each round has a message and a state.
  expect(new Set(destination.bodies).size).toBe(2 * expected.length);
  expect(destination.bodies).toHaveLength(2 * expected.length);
  expect(errors).toEqual([]);
});

const emptied = (counts: Record<string, object>) =>
  Object.fromEntries(Object.keys(counts).map((queue) => [queue, { visible: 0, inFlight: 0 }]));
