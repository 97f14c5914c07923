/**
 * Each function's role allows what it does: the local stack refuses every call that it does not. And it allows nothing
 * else: here every function does all that it can, on a stack of its own, and then no right is left that none needed.
 */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { expect, inject, onTestFinished, test } from 'vitest';
import type { Demo } from '../../infra/local/demo.ts';
import type { AppNetwork } from '../../infra/local/simulated/app-network/app-network.ts';
import { updateAccount } from '../../shared/accounts.ts';
import { sortableTime } from '../../shared/clock.ts';
import { readHead } from '../../shared/outbox.ts';
import { update } from '../../shared/table/client.ts';
import { profilerKey } from '../../shared/table/keys.ts';
import { fileOf, png } from './support/files.ts';
import { type OwnStack, serveOwnStack } from './support/own-stack.ts';
import { newPhone } from './support/world.ts';

/** Milliseconds of a minute: an attempt to deliver has half a second. */
const MINUTE = 3_000;

/** The stack as it is, but for a deliver that has 13 s: so it has to leave the rest to another one after one second. */
const hurriedAssembly = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'rights-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await cp(inject('stack').assembly, folder, { recursive: true });
  const path = join(folder, 'BusinessApi.template.json');
  const template = JSON.parse(await readFile(path, 'utf8'));
  const id = Object.keys(template.Resources).find((name) => name.startsWith('DeliverFunction')) ?? '';
  template.Resources[id].Properties.Timeout = 13;
  await writeFile(path, JSON.stringify(template));
  return folder;
};

/** Calls that must succeed. */
const caller = (url: string, token: string) => async (method: string, path: string, body?: unknown) => {
  const response = await fetch(`${url}/v1/${path}`, {
    method,
    headers: {
      authorization: token,
      'content-type': 'application/json',
      'idempotency-key': `${path} ${JSON.stringify(body)}`,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  expect(response.ok, `${method} ${path} ${response.status}`).toBe(true);
  return response.status === 204 ? {} : response.json();
};

type Send = ReturnType<typeof caller>;

const useProfilers = async (send: Send, { panelist }: Demo): Promise<void> => {
  const created = await send('POST', 'research_profilers', { question: 'Well?', options: ['yes', 'no'] });
  const { profiler_id, options } = created as { profiler_id: string; options: { yes: string } };
  await send('GET', 'research_profilers');
  await send('GET', `research_profilers/${profiler_id}`);
  await send('POST', 'profiler_answer', { profiler_id, option_id: options.yes, phone_number: panelist });
  await send('DELETE', `research_profilers/${profiler_id}`);
  await update({
    Key: profilerKey('demo', profiler_id),
    UpdateExpression: 'SET gsi1sk = :now',
    ExpressionAttributeValues: { ':now': sortableTime(Date.now()) },
  });
};

const useBridge = async ({ stack, rapidpro, turn, demo }: OwnStack): Promise<void> => {
  const message = { to: newPhone(), text: 'Hello' };
  for (const address of [`${rapidpro.url}/channels/demo/send`, `${turn.url}/numbers/demo/send`])
    await fetch(address, { method: 'POST', body: JSON.stringify(message) });
  const tested = await fetch(`${stack.bridgeUrl}/webhook/${demo.bot_phone_number}`, {
    method: 'POST',
    headers: { authorization: demo.token, 'content-type': 'application/json' },
    body: JSON.stringify({ message: { type: 'text', from: newPhone(), text: { body: 'Hi' } } }),
  });
  expect(tested.status).toBe(200);
  const told = async () => (await fetch(`${rapidpro.url}/channels/demo/statuses`)).json();
  await expect.poll(told).toContainEqual(expect.objectContaining({ status: 'sent' }));
};

/** A user is asked, answers, and is forgotten with all there is: an answer, a request that waits, logs, receipts. */
const useUserData = async (send: Send, report: Send, app: AppNetwork): Promise<void> => {
  const phone_number = newPhone();
  const first_name = { value: 'Thandi', source: 'user' };
  const app_version = { value: '2.1', source: 'device' };
  const tell = (id: string, type: string, data: object) => report('POST', 'app/events', { id, type, data });
  await tell('e', 'user.updated', { phone_number, panelist: true, properties: { first_name, app_version } });

  const data = [{ property: 'first_name' }, { property: 'app_version' }];
  const start = async (reason: string): Promise<string> => {
    const path = `user_data/start/${phone_number}`;
    return ((await send('POST', path, { reason, data })) as { requestId: string }).requestId;
  };
  const id = await start('One');
  // The same key again, which looks at the first request.
  expect(await start('One')).toBe(id);
  await tell('f', 'user_data.answered', { id, answers: { first_name: 'approved' } });
  await send('GET', `user_data/fetch/${id}`);
  await send('POST', `user_data/fetch/${phone_number}`, { data: data.slice(1) });

  const created = await send('POST', 'research_profilers', { question: 'Well?', options: ['left', 'right'] });
  const { profiler_id, options } = created as { profiler_id: string; options: { left: string } };
  await send('POST', 'profiler_answer', { profiler_id, option_id: options.left, phone_number });
  const shown = async () => (await fetch(`${app.phoneUrl}/phones/${phone_number}/messages`)).json();
  await expect.poll(shown).toHaveLength(1);

  // What waits for this phone does so until the user is forgotten.
  const later = [{ phone: phone_number, status: 503, retry_after: 3_600 }];
  await fetch(`${app.phoneUrl}/behaviour`, { method: 'PUT', body: JSON.stringify(later) });
  await send('POST', 'message', { to: phone_number, type: 'text', text: { body: 'Hello' } });
  await start('Two');
  await tell('g', 'user.removed', { phone_number });
  const waiting = () => readHead({ direction: 'app', account: 'demo', phone: phone_number });
  await expect.poll(waiting).toBeUndefined();
};

/** An image is uploaded and sent, by the API and by Turn, and looked at. */
const useMedia = async ({ stack, turn, demo }: OwnStack): Promise<void> => {
  const uploaded = await Promise.all(
    ['image', 'file'].map(async (kind) => {
      const body = new FormData();
      body.append('file', fileOf(png));
      const headers = { authorization: demo.token };
      const response = await fetch(`${stack.baseUrl}/v1/upload_${kind}`, { method: 'POST', headers, body });
      expect(response.status).toBe(200);
      return ((await response.json()) as { url: string }).url;
    }),
  );
  const [url = ''] = uploaded;
  expect((await fetch(url)).status).toBe(200);
  await caller(stack.baseUrl, demo.token)('POST', 'message', { to: newPhone(), type: 'image', image: { url } });
  await fetch(`${turn.url}/numbers/demo/send`, {
    method: 'POST',
    body: JSON.stringify({ to: newPhone(), image: { link: url } }),
  });
};

const useMessages = async (
  send: Send,
  report: Send,
  app: AppNetwork,
  { bot_phone_number: bot }: Demo,
): Promise<void> => {
  const text = (to: string) => ({ to, type: 'text', text: { body: 'Hello' } });
  const behave = (rules: unknown) => fetch(`${app.phoneUrl}/behaviour`, { method: 'PUT', body: JSON.stringify(rules) });

  // States that are told to a platform, and a user's message to it.
  await updateAccount('demo', { platform: { name: 'webhook', settings: { url: app.appUrl, secret: app.secret } } });
  const { id } = (await send('POST', 'message', text(newPhone()))) as { id: string };
  await report('POST', 'app/events', { id: 'a', type: 'message.state', data: { id, state: 'read' } });
  const phone_number = newPhone();
  await report('POST', 'app/events', [
    { id: 'b', type: 'message.received', data: { from: phone_number, to: bot, type: 'text', text: { body: 'Hi' } } },
    { id: 'c', type: 'user.updated', data: { phone_number } },
    { id: 'd', type: 'user.removed', data: { phone_number } },
  ]);

  // A receiver that fails for a while, and one that is slow.
  const [failing, slow] = [newPhone(), newPhone()];
  await behave([
    { status: 500, times: 2, phone: failing },
    { delay_ms: 300, phone: slow },
  ]);
  await send('POST', 'message', text(failing));
  for (let count = 0; count < 8; count += 1)
    await send('POST', 'message', { ...text(slow), text: { body: `${count}` } });

  // The same key again, which looks at the first message.
  const repeated = text(newPhone());
  await send('POST', 'message', repeated);
  await send('POST', 'message', repeated);

  await send('GET', 'stats/logs?state=sent');
  await send('GET', `stats/logs?contact=${failing}`);
  await send('GET', 'stats/logs?job_id=00000000-0000-4000-8000-000000000000');
  await send('GET', 'stats/jobs?start_date=2026-01-01&end_date=2026-01-01');
};

test('no role allows more than its function needs', async () => {
  const lines: string[] = [];
  const own = await serveOwnStack({
    name: 'rights',
    assembly: hurriedAssembly(),
    minute: MINUTE,
    onLine: (source, line) => void lines.push(`${source} ${line}`),
  });
  const { stack, app, demo } = own;
  const send = caller(stack.baseUrl, demo.token);
  await useProfilers(send, demo);
  await useBridge(own);
  await useMedia(own);
  const report = caller(stack.bridgeUrl, demo.app_token);
  await useUserData(send, report, app);
  await useMessages(send, report, app, demo);

  // A wake-up that cannot be read makes deliver fail, and ask for it to come again soon.
  const queue = new SQSClient({ endpoint: stack.awsEndpoint });
  const [, QueueUrl = ''] = Object.entries(stack.queueUrls()).find(([id]) => id.startsWith('WakeUpsQueue')) ?? [];
  await queue.send(
    new SendMessageCommand({ QueueUrl, MessageBody: '{}', MessageGroupId: 'g', MessageDeduplicationId: 'd' }),
  );

  await expect.poll(() => stack.unusedRights(), { timeout: 40_000 }).toEqual({});
  expect(lines.filter((line) => line.includes('refused by policy'))).toEqual([]);
});
