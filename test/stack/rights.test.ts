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
import type { AppNetwork } from '../../infra/local/simulated/app-network.ts';
import { updateAccount } from '../../shared/accounts.ts';
import { sortableTime } from '../../shared/clock.ts';
import { update } from '../../shared/table/client.ts';
import { profilerKey } from '../../shared/table/keys.ts';
import { serveOwnStack } from './support/own-stack.ts';
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
  const { stack, app, demo } = await serveOwnStack({
    name: 'rights',
    assembly: hurriedAssembly(),
    minute: MINUTE,
    onLine: (source, line) => void lines.push(`${source} ${line}`),
  });
  const send = caller(stack.baseUrl, demo.token);
  await useProfilers(send, demo);
  await useMessages(send, caller(stack.bridgeUrl, demo.app_token), app, demo);

  // A wake-up that cannot be read makes deliver fail, and ask for it to come again soon.
  const queue = new SQSClient({ endpoint: stack.awsEndpoint });
  const [, QueueUrl = ''] = Object.entries(stack.queueUrls()).find(([id]) => id.startsWith('WakeUpsQueue')) ?? [];
  await queue.send(
    new SendMessageCommand({ QueueUrl, MessageBody: '{}', MessageGroupId: 'g', MessageDeduplicationId: 'd' }),
  );

  await expect.poll(() => stack.unusedRights(), { timeout: 40_000 }).toEqual({});
  expect(lines.filter((line) => line.includes('refused by policy'))).toEqual([]);
});
