/** Functions that are frozen between invocations, while the servers that they talked to close the connections. */
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

/** Milliseconds of a minute: an attempt may take 5 s, and a body 1 s. */
const MINUTE = 30_000;
/** Milliseconds after which every timer of an invocation has run out: the longest is that of the bucket. */
const LONG_FREEZE_MS = 6_500;

/** Answers how to get at the proxy of a server, one for each. */
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

/** Responds with a status, and then with a part of a body that never ends. */
const unfinished = 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart';
const finished = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

test('a frozen function loses nothing and sends nothing twice when its connections were closed meanwhile', async () => {
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

  const onPhone = async (): Promise<string[]> => {
    const response = await fetch(`${app.phoneUrl}/phones/${phone}/messages`);
    const shown = v.parse(
      v.array(v.object({ data: v.object({ text: v.object({ body: v.string() }) }) })),
      await response.json(),
    );
    return shown.map(({ data }) => data.text.body);
  };
  const atDestination = (): string[] =>
    destination.bodies
      .map((body) => JSON.parse(body).message)
      .filter(Boolean)
      .map(({ text }) => text.body);

  // The first response on a connection is complete; a later one breaks off when the function is frozen.
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
  expect(await onPhone()).toEqual(expected);
  expect(atDestination()).toEqual(expected);
  // States as well: a message and a state in each round.
  expect(new Set(destination.bodies).size).toBe(2 * expected.length);
  expect(destination.bodies).toHaveLength(2 * expected.length);
  expect(errors).toEqual([]);
});

const emptied = (counts: Record<string, object>) =>
  Object.fromEntries(Object.keys(counts).map((queue) => [queue, { visible: 0, inFlight: 0 }]));
