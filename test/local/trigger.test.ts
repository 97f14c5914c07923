/** `operator trigger`: events of the app on the local stack, as its simulated app network reports them. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AppNetwork } from '../../infra/local/simulators/app-network/app-network.ts';
import { replaceEnvironment } from '../support/first-environment.ts';
import { runHere } from '../support/operator-command.ts';
import { type Bridge, openBridge, signatureOf } from './support/simulator.ts';

const PANELIST = '27821234567';
const OTHER = '27820000009';
const BOT = '447700900000';
const MESSAGE = '0199a3f2-7c4e-7d10-8000-000000000001';
const REQUEST = '0199a3f2-7c4e-7d10-8000-000000000002';

let network: AppNetwork;
let bridge: Bridge;
let folder: string;
let environment: NodeJS.ProcessEnv;

beforeEach(async () => {
  bridge = await openBridge();
  bridge.answerWith({ status: 204 });
  network = await AppNetwork.start({ port: 0 });
  network.connect({ bridgeUrl: bridge.url, appToken: 'bapi_app' });
  folder = await mkdtemp(join(tmpdir(), 'trigger-'));
  environment = { ...process.env };
  // Other tests of this process may have named a table in AWS.
  for (const name of ['TABLE_NAME', 'STACK_NAME']) delete process.env[name];
  process.env.LOCAL_FOLDER = folder;
  await writeFile(
    join(folder, 'stack.json'),
    JSON.stringify({
      base_url: bridge.url,
      bridge_url: bridge.url,
      phone_url: network.phoneUrl,
      dynamodb_endpoint: bridge.url,
      s3_endpoint: bridge.url,
      table: 'table',
      bot_phone_number: BOT,
      panelist: PANELIST,
      pid: process.pid,
    }),
  );
});

afterEach(async () => {
  replaceEnvironment(environment);
  await network.close();
  await bridge.close();
  await rm(folder, { recursive: true });
});

/** Sends an event to a phone, like the service. */
const deliver = async (type: string, data: object): Promise<void> => {
  const body = JSON.stringify({ type, timestamp: '2026-01-02T03:04:05.000000', data });
  const headers = signatureOf(network.secret, body);
  expect((await fetch(network.appUrl, { method: 'POST', headers, body })).status).toBe(204);
};

const deliverMessage = (to: string, id = MESSAGE) =>
  deliver('message.send', { id, from: BOT, to, type: 'text', text: { body: 'Hi' } });

const ask = (to: string, properties = ['first_name', 'last_name']) =>
  deliver('user_data.request', {
    id: REQUEST,
    to,
    business: 'Demo',
    reason: 'Surveys',
    properties: properties.map((property) => ({ property })),
  });

const trigger = (...args: string[]) => runHere(['trigger', ...args]);

/** The events that the service received, without ids and times. */
const received = () =>
  bridge.calls
    .filter(({ url }) => url === '/v1/app/events')
    .map(({ body }) => JSON.parse(body))
    .map(({ type, data }) => ({ type, data }));

test.each<[args: string[], type: string, data: object]>([
  [['user-writes'], 'message.received', { from: PANELIST, to: BOT, type: 'text', text: { body: 'Hello' } }],
  [
    ['user-writes', '--from', OTHER, '--to', '447700900009', '--text', 'Molo'],
    'message.received',
    { from: OTHER, to: '447700900009', type: 'text', text: { body: 'Molo' } },
  ],
  [['message-delivered'], 'message.state', { id: MESSAGE, state: 'delivered_to_user' }],
  [['message-read', '--id', REQUEST], 'message.state', { id: REQUEST, state: 'read' }],
  [
    ['message-failed', '--from', PANELIST, '--reason', 'No space'],
    'message.state',
    { id: MESSAGE, state: 'delivery_failed', reason: 'No space' },
  ],
  [
    ['user-updated', '--phone-number', OTHER, '--panelist', 'false', '--property', 'first_name=A=B'],
    'user.updated',
    { phone_number: OTHER, panelist: false, properties: { first_name: { value: 'A=B', source: 'user' } } },
  ],
  [['user-removed', '--phone-number', OTHER], 'user.removed', { phone_number: OTHER }],
  [['user-stopped'], 'user.stopped', { from: PANELIST, to: BOT }],
  [['user-started', '--from', OTHER], 'user.started', { from: OTHER, to: BOT }],
  [
    ['consent-approved'],
    'user_data.answered',
    { id: REQUEST, answers: { first_name: 'approved', last_name: 'approved' } },
  ],
  [
    ['consent-denied', '--property', 'last_name'],
    'user_data.answered',
    { id: REQUEST, answers: { last_name: 'denied' } },
  ],
  [
    ['consent-withdrawn', '--id', MESSAGE, '--property', 'first_name', 'last_name'],
    'user_data.withdrawn',
    { id: MESSAGE, properties: ['first_name', 'last_name'] },
  ],
])(
  'trigger %j reports one event with these fields, or those of the last message or request',
  async (args, type, data) => {
    await deliverMessage(PANELIST, '0199a3f2-7c4e-7d10-8000-000000000000');
    await ask(PANELIST);
    await deliverMessage(PANELIST);
    const { code, stdout } = await trigger(...args);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/ [\da-f-]{36}: accepted with 204\.\n$/),
    });
    expect(received()).toEqual([{ type, data }]);
  },
);

test('with --json, the event is printed as the service received it', async () => {
  const { stdout } = await trigger('user-writes', '--json');
  expect(JSON.parse(stdout)).toEqual({ event: JSON.parse(bridge.calls[0]?.body ?? ''), status: 204 });
});

test.each([
  [['message-read'], 1, `The phone of ${PANELIST} shows no message: send one, or name one with --id.`],
  [['consent-approved'], 1, `The phone of ${PANELIST} has no user data request: start one, or name one with --id.`],
  [['consent-denied', '--id', REQUEST], 1, 'Name the properties of this request with --property.'],
  [['user-updated', '--property', 'first_name'], 1, '--property first_name needs a value'],
  [['user-stopped', '--text', 'Hi'], 2, 'user-stopped has no --text; it takes --from, --to'],
  [['user-writes', '--from', 'x'], 2, "'x' is invalid"],
  [['user-sings'], 2, "'user-sings' is no valid event"],
  [['user-updated', '--panelist', 'maybe'], 2, 'must be true or false'],
])('trigger %j reports nothing, and says what to do', async (args, code, words) => {
  expect(await trigger(...args)).toEqual({ code, stdout: '', stderr: expect.stringContaining(words) });
  expect(received()).toEqual([]);
});

test('an event that the service rejects fails with its reason', async () => {
  const problem = { detail: 'Correct the errors.', errors: [{ pointer: '#/data/to', detail: 'must be a number' }] };
  bridge.answerWith({ status: 422, type: 'application/problem+json', body: JSON.stringify(problem) });
  const { code, stderr } = await trigger('user-stopped');
  expect(code).toBe(1);
  expect(stderr).toContain('The service rejects user.stopped with 422: Correct the errors. #/data/to must be a number');
});

test('without a local stack, or for a table in AWS, no event is created', async () => {
  await rm(join(folder, 'stack.json'));
  expect(await trigger('user-writes')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('No local stack is running.'),
  });
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_DYNAMODB: bridge.url,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'operator',
    AWS_SECRET_ACCESS_KEY: 'secret',
  });
  bridge.answerWith({ status: 400, body: '{"__type":"AccessDeniedException"}' });
  expect(await trigger('user-writes', '--table', 'production')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Events can be created on the local stack only'),
  });
  expect(received()).toEqual([]);
});
