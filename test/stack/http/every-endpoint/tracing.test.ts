/**
 * Tracing in the log: messages by id, and effects of requests by trace id, through functions, queue and delivery.
 *
 * @module-tag long
 */
import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { circuitKey } from '../../../../shared/delivery/entities.ts';
import { putIfAbsent } from '../../../../shared/table/client.ts';
import { asProblem, call, sendRaw } from '../../support/client.ts';
import { DestinationServer } from '../../support/destination-server.ts';
import { type LogLine, logLines } from '../../support/log-lines.ts';
import { newCaller, newPanelist, newPhone } from '../../support/world.ts';

/** Waits until a line matches. Returns all lines. */
const until = async (fits: (line: LogLine['line']) => boolean): Promise<LogLine[]> => {
  await expect.poll(async () => (await logLines()).some(({ line }) => fits(line))).toBe(true);
  return logLines();
};

/** Function name and message of each matching line, without the suffix that the stack adds to the name. */
const summary = (lines: LogLine[], fits: (line: LogLine['line']) => boolean): string[] =>
  lines
    .filter(({ line }) => fits(line))
    .map(({ source, line }) => `${source.replace(/(Function|Api).*/, '')} ${line.message ?? 'access'}`);

const hasTrace = (trace: string) => (line: LogLine['line']) =>
  line.trace_id === trace || (Array.isArray(line.trace_ids) && line.trace_ids.includes(trace));

/** A new account with a bot, and a webhook that receives its messages and statuses. */
const newListener = async () => {
  const { account, token } = await newCaller('messages', 'bridge');
  const destination = await DestinationServer.start();
  onTestFinished(() => destination.close());
  const settings = { url: destination.url, secret: `whsec_${randomBytes(32).toString('base64')}` };
  const bot_number = newPhone();
  await updateAccount(account, { bot_number, platform: { name: 'webhook', settings } });
  return { account, token, bot_number, destination };
};

const report = async (type: string, data: object): Promise<string> => {
  const { token } = await newCaller('app');
  const { headers } = await call('receiveAppEvents', {
    token,
    body: { id: randomBytes(8).toString('hex'), type, data },
  });
  return headers.get('apigw-requestid') ?? '';
};

test('a message to a user has one trace through acceptance, relay and delivery, and its report another', async () => {
  const { account, token } = await newListener();
  const body = { to: newPhone(), type: 'text', text: { body: 'Hello' } } as const;
  const sent = await call('sendMessage', { token, body });
  const { id } = sent.body;
  const trace = sent.headers.get('apigw-requestid') ?? '';
  const isDone = (line: LogLine['line']) => hasTrace(trace)(line) && line.message === 'deliver';
  const lines = await until((line) => isDone(line) && line.settled !== 0);

  const all = summary(lines, hasTrace(trace));
  for (const step of ['SendMessage accepted', 'SendMessage request', 'Base access', 'Relay relay', 'Deliver delivered'])
    expect(all).toContain(step);
  expect(lines.find(({ line }) => line.message === 'delivered' && line.message_id === id)?.line).toMatchObject({
    account,
    type: 'message.send',
    trace_id: trace,
    delivery_ms: expect.any(Number),
  });

  // The report is a request with its own trace, up to the delivery to the account's platform.
  const second = await report('message.state', { id, state: 'read' });
  const later = await until((line) => hasTrace(second)(line) && line.message === 'delivered');
  expect(summary(later, (line) => line.message_id === id && line.type !== 'message.state')).toEqual([
    'SendMessage accepted',
    'Deliver delivered',
    'ReceiveAppEvents state',
  ]);
  expect(summary(later, hasTrace(second))).toEqual(
    expect.arrayContaining(['ReceiveAppEvents state', 'Deliver delivered']),
  );
});

test("a user's message has the app network's trace through acceptance, relay and delivery", async () => {
  const { bot_number, account } = await newListener();
  const data = { from: newPhone(), to: bot_number, type: 'text', text: { body: 'Hi' } };
  const trace = await report('message.received', data);
  const lines = await until((line) => line.trace_id === trace && line.message === 'delivered');
  const ids = lines
    .filter(({ line }) => line.trace_id === trace && line.account === account)
    .flatMap(({ line }) => line.message_id ?? []);
  expect(new Set(ids).size).toBe(1);
  expect(summary(lines, hasTrace(trace))).toEqual(
    expect.arrayContaining(['ReceiveAppEvents accepted', 'Relay relay', 'Deliver delivered']),
  );
});

test("a problem's trace_id is that of its log lines", async () => {
  const { token } = await newCaller('messages');
  const body = { to: 'nobody', type: 'text', text: { body: 'Hello' } } as const;
  const headers = { 'content-type': 'application/json' };
  const refused = asProblem(await sendRaw('sendMessage', { token, headers, body: JSON.stringify(body) }));
  const lines = await until((line) => line.trace_id === refused.body.trace_id && line.message === 'request');
  expect(summary(lines, hasTrace(refused.body.trace_id))).toContain('SendMessage request');
  const { line } = lines.find(({ line: { message, trace_id } }) => {
    return message === 'request' && trace_id === refused.body.trace_id;
  }) ?? { line: {} };
  expect(line).toMatchObject({ outcome: 'rejected', requests: 1 });
});

test("a failing destination's circuit is logged as opened once, and as closed after its recovery", async () => {
  const { account, token, bot_number, destination } = await newListener();
  // The record of an earlier outage has expired, but the table still contains it: TTL removes it up to two days late.
  await putIfAbsent({
    ...circuitKey(`platform#${account}`),
    failures: 2,
    expires_at: Math.floor(Date.now() / 1_000) - 60,
  });
  destination.answers = [503];
  await Promise.all(
    Array.from({ length: 3 }, () =>
      call('receiveTestMessage', {
        token,
        path: { bot_phone_number: bot_number },
        body: { message: { type: 'text', from: newPhone(), text: { body: 'Hi' } } },
      }),
    ),
  );
  const isOf = (message: string) => (line: LogLine['line']) =>
    line.message === message && (line.destination === `platform#${account}` || line.account === account);
  const failing = await until(isOf('circuit opened'));
  expect(failing.find(({ line }) => isOf('retry scheduled')(line))?.line).toMatchObject({
    reason: 'status_5xx',
    cause: 'status_503',
    retries_scheduled: 1,
  });
  destination.answers = [204];
  const lines = await until(isOf('circuit closed'));
  expect(lines.filter(({ line }) => isOf('circuit opened')(line))).toHaveLength(1);
});

test('a long poll is logged with its outcome, duration and request id', async () => {
  const { token } = await newCaller('user_data');
  const phone_number = await newPanelist();
  const body = { reason: 'Delivery', data: [{ property: 'first_name' as const }] };
  const started = await call('startUserDataRequest', { token, path: { phone_number }, body });
  const id = started.body.requestId;
  await call('fetchUserData', { token, path: { id }, query: { long_poll: '1' } });
  const isIts = (line: LogLine['line']) => line.message === 'long poll' && line.user_data_request_id === id;
  expect((await until(isIts)).find(({ line }) => isIts(line))?.line).toMatchObject({
    outcome: 'pending',
    long_polls: 1,
    long_poll_ms: expect.any(Number),
  });
});
