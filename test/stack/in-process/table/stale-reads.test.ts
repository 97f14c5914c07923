/**
 * @module-tag long
 *
 * Responses directly after a change, on a separate stack where all eventually consistent reads are stale. Within a
 * test, they return only changes for which the test has waited.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DeleteObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { createAccount, updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { deleteMedia } from '../../../../infra/operator/queries/media-admin.ts';
import { issueToken } from '../../../../infra/operator/queries/tokens-admin.ts';
import { accountKey, numberKey, platformKey } from '../../../../shared/accounts/entities.ts';
import { permissions } from '../../../../shared/core/permissions.ts';
import { mediaKey } from '../../../../shared/media/entities.ts';
import { profilerKey } from '../../../../shared/profilers/entities.ts';
import { listLogs } from '../../../../shared/stats/delivery-log.ts';
import { documents, getConsistent } from '../../../../shared/table/client.ts';
import type { Key } from '../../../../shared/table/keys.ts';
import { listConsentReceipts } from '../../../../shared/user-data/consent-receipts.ts';
import { requestKey } from '../../../../shared/user-data/entities.ts';
import { userKey } from '../../../../shared/users/entities.ts';
import { DestinationServer } from '../../support/destination-server.ts';
import { fileOf, png } from '../../support/files.ts';
import { startStack, type TestStack } from '../../support/start-stack.ts';
import { newAccountId, newPhone } from '../../support/world.ts';

/** Whether stale reads stay at their present state. */
let isHeld = false;

let stack: TestStack;
let close: () => Promise<void>;

beforeAll(async () => {
  vi.stubEnv('JID_DOMAIN', 'users.example.com');
  const { assembly, calls, table } = inject('stack');
  ({ served: stack, close } = await startStack({
    assembly: Promise.resolve(assembly),
    log: join(tmpdir(), `${table}-stale-reads.log`),
    calls,
    table: `${table}-stale-reads`,
    minute: 2_000,
    dynamodbEndpoint: process.env.DYNAMODB_ENDPOINT || undefined,
    staleReads: { share: 1, random: () => 0, behind: 0, held: () => isHeld },
  }));
});

afterEach(() => {
  isHeld = false;
});

afterAll(async () => {
  vi.unstubAllEnvs();
  await close();
  await rm(stack.log, { force: true });
});

interface Answered {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: what tests look into is theirs to know
  body: any;
}

interface Request {
  token: string;
  body?: object | FormData;
  key?: string;
}

const send = async (method: string, url: string, { token, body, key }: Request): Promise<Answered> => {
  const isForm = body instanceof FormData;
  const response = await fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(key !== undefined && { 'idempotency-key': key }),
      ...(body !== undefined && !isForm && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') && text !== '';
  return { status: response.status, body: isJson ? JSON.parse(text) : undefined };
};

const post = (path: string, request: Request) => send('POST', `${stack.base_url}${path}`, request);
const get = (path: string, token: string) => send('GET', `${stack.base_url}${path}`, { token });

/** The app network reports an event. */
const report = async (type: string, data: object): Promise<void> => {
  const body = { id: randomUUID(), type, data };
  const { status } = await send('POST', `${stack.bridge_url}/v1/app/events`, { token: stack.app_token, body });
  expect(status).toBe(204);
};

/** Waits until stale reads return the current version of these items, and then keeps stale reads at that state. */
const untilReplicated = async (...keys: Key[]): Promise<void> => {
  isHeld = false;
  for (const key of keys) {
    const stale = async () =>
      (await documents.send(new GetCommand({ TableName: `${stack.table}-replica`, Key: key, ConsistentRead: true })))
        .Item;
    await expect.poll(stale, { interval: 50 }).toEqual(await getConsistent(key));
  }
  isHeld = true;
};

/** A new account with a token, replicated to stale reads. */
const newCaller = async (bot_number = newPhone()) => {
  const { id: account } = await createAccount({ name: 'Test', id: newAccountId(), bot_number });
  const everything = permissions.filter((permission) => permission !== 'app');
  const { token } = await issueToken(account, { label: 'test', permissions: everything });
  await untilReplicated(accountKey(account), numberKey(bot_number));
  return { account, token, bot_number };
};

const newReceiver = async (): Promise<DestinationServer> => {
  const destination = await DestinationServer.start();
  onTestFinished(() => destination.close());
  return destination;
};

const webhookAt = ({ url }: DestinationServer) => ({
  name: 'webhook' as const,
  settings: { url, secret: `whsec_${randomBytes(32).toString('base64')}` },
});

const device = (value: string) => ({ device_make: { value, source: 'device' } });

/** A user with a device of this make, replicated to stale reads. */
const newUser = async (make = 'Old', panelist = false): Promise<string> => {
  const phone_number = newPhone();
  await report('user.updated', { phone_number, panelist, properties: device(make) });
  await untilReplicated(userKey(phone_number));
  return phone_number;
};

const retrieve = (token: string, phone: string) =>
  post(`/v1/user_data/fetch/${phone}`, { token, body: { data: [{ property: 'device_make' }] } });

const startRequest = (token: string, phone: string, property: string, key?: string) =>
  post(`/v1/user_data/start/${phone}`, {
    token,
    body: { reason: 'To know', data: [{ property }] },
    ...(key && { key }),
  });

const textTo = (to: string, body = 'Hello') => ({ to, type: 'text', text: { body } });

describe('directly after a change of a user', () => {
  test('an answer of a user who has just become a panelist is accepted', async () => {
    const { token } = await newCaller();
    const phone_number = await newUser();
    const created = await post('/v1/research_profilers', { token, body: { question: 'Well?', options: ['a', 'b'] } });
    await report('user.updated', { phone_number, panelist: true });
    const { profiler_id, options } = created.body;
    const body = { profiler_id, option_id: options.a, phone_number };
    expect(await post('/v1/profiler_answer', { token, body })).toMatchObject({ status: 204 });
  });

  test('after the removal of a user, requests return 404 and no value is released', async () => {
    const { token } = await newCaller();
    const phone = await newUser();
    await report('user.removed', { phone_number: phone });
    expect(await retrieve(token, phone)).toMatchObject({ status: 404, body: { code: 'user_not_found' } });
    expect(await startRequest(token, phone, 'device_make')).toMatchObject({ status: 404 });
    expect(await startRequest(token, phone, 'first_name')).toMatchObject({ status: 404 });
    expect(await listConsentReceipts(phone)).toEqual([]);
  });

  test('after a number gets a new user, only values of the new user are released', async () => {
    const { token } = await newCaller();
    const phone = await newUser('Old');
    await report('user.removed', { phone_number: phone });
    await report('user.updated', { phone_number: phone, properties: device('New') });
    const { body } = await retrieve(token, phone);
    expect(body.results.device_make).toMatchObject({ value: 'New' });
    const started = await startRequest(token, phone, 'device_make');
    const fetched = await get(`/v1/user_data/fetch/${started.body.requestId}`, token);
    expect(fetched.body.results.device_make).toMatchObject({ value: 'New' });
  });

  test('after a change of a profile, the new value is released', async () => {
    const { token } = await newCaller();
    const phone = await newUser('Old');
    await report('user.updated', { phone_number: phone, properties: device('New') });
    expect((await retrieve(token, phone)).body.results.device_make).toMatchObject({ value: 'New' });
    const started = await startRequest(token, phone, 'device_make');
    const fetched = await get(`/v1/user_data/fetch/${started.body.requestId}`, token);
    expect(fetched.body.results.device_make).toMatchObject({ value: 'New' });
  });
});

describe('directly after the answer to a user data request', () => {
  /** A pending request, replicated to stale reads. */
  const pending = async () => {
    const { account, token } = await newCaller();
    const phone = await newUser();
    const { body } = await startRequest(token, phone, 'first_name');
    await untilReplicated(requestKey(body.requestId));
    const id: string = body.requestId;
    return { account, token, id, path: `/v1/user_data/fetch/${id}` };
  };

  test.each(['', '?long_poll=1'])('a fetch%s directly after the answer returns completed', async (query) => {
    const { token, id, path } = await pending();
    await report('user_data.answered', { id, answers: { first_name: 'denied' } });
    expect(await get(`${path}${query}`, token)).toMatchObject({ status: 200, body: { status: 'completed' } });
  });

  test('a fetch after the notification of the webhook returns completed', async () => {
    const { account, token, id, path } = await pending();
    const destination = await newReceiver();
    await updateAccount(account, { platform: webhookAt(destination) });
    await report('user_data.answered', { id, answers: { first_name: 'denied' } });
    await expect.poll(() => destination.calls.length).toBeGreaterThan(0);
    expect(await get(path, token)).toMatchObject({ status: 200, body: { status: 'completed' } });
  });

  test('a long poll that began before the answer returns completed', async () => {
    const { token, id, path } = await pending();
    const waiting = get(`${path}?long_poll=2`, token);
    await report('user_data.answered', { id, answers: { first_name: 'denied' } });
    expect(await waiting).toMatchObject({ status: 200, body: { status: 'completed' } });
  });
});

describe('directly after a change of an account', () => {
  const write = (bot: string, text: string) =>
    report('message.received', { from: newPhone(), to: bot, type: 'text', text: { body: text } });

  test("a user's message reaches a platform that was just set", async () => {
    const { account, bot_number } = await newCaller();
    const destination = await newReceiver();
    await updateAccount(account, { platform: webhookAt(destination) });
    await write(bot_number, 'Hi');
    await expect.poll(() => destination.calls.map(({ json }) => json.message.text.body)).toEqual(['Hi']);
  });

  test('after a change of the URL of a platform, messages go only to the new URL', async () => {
    const { account, bot_number } = await newCaller();
    const [before, after] = [await newReceiver(), await newReceiver()];
    await updateAccount(account, { platform: webhookAt(before) });
    await untilReplicated(accountKey(account), platformKey(account));
    await updateAccount(account, { platform: webhookAt(after) });
    await write(bot_number, 'Hi');
    await expect.poll(() => after.calls.length).toBeGreaterThan(0);
    expect(before.calls).toEqual([]);
  });

  test('a platform that was just set receives the statuses of a message', async () => {
    const { account, token } = await newCaller();
    const destination = await newReceiver();
    await updateAccount(account, { platform: webhookAt(destination) });
    const { body } = await post('/v1/message', { token, body: textTo(newPhone()) });
    await expect.poll(() => destination.calls.map(({ json }) => json.status?.id)).toContain(body.id);
  });

  test('after a number moves to another account, messages to it belong to the new account', async () => {
    const number = newPhone();
    const [before, after] = [await newCaller(number), await newCaller()];
    await updateAccount(before.account, { bot_number: null });
    await updateAccount(after.account, { bot_number: number });
    await write(number, 'Hi');
    const logs = async ({ account }: { account: string }) => (await listLogs(account, {}, 10)).entries.length;
    expect(await logs(after)).toBe(1);
    expect(await logs(before)).toBe(0);
    const body = { message: { type: 'text', from: newPhone(), text: { body: 'Hi' } } };
    const test = (token: string) => send('POST', `${stack.bridge_url}/webhook/${number}`, { token, body });
    expect(await test(before.token)).toMatchObject({ status: 404, body: { code: 'bot_not_found' } });
    expect(await test(after.token)).toMatchObject({ status: 200 });
  });

  test('a new token works at once', async () => {
    const { account } = await newCaller();
    const { token } = await issueToken(account, { label: 'new', permissions: ['profilers'] });
    expect(await get('/v1/research_profilers', token)).toMatchObject({ status: 200 });
  });
});

describe('directly after a change of a profiler', () => {
  const draft = { question: 'Well?', options: ['a', 'b'] };

  test('a new profiler can be read, listed and answered, and another answer returns 409', async () => {
    const { token } = await newCaller();
    const phone_number = await newUser('Old', true);
    const { profiler_id, options } = (await post('/v1/research_profilers', { token, body: draft })).body;
    expect(await get(`/v1/research_profilers/${profiler_id}`, token)).toMatchObject({ status: 200 });
    expect((await get('/v1/research_profilers', token)).body).toHaveLength(1);
    const body = { profiler_id, option_id: options.a, phone_number };
    expect(await post('/v1/profiler_answer', { token, body })).toMatchObject({ status: 204 });
    expect(await post('/v1/profiler_answer', { token, body })).toMatchObject({ status: 204 });
    const other = { ...body, option_id: options.b };
    expect(await post('/v1/profiler_answer', { token, body: other })).toMatchObject({ status: 409 });
  });

  test('a deleted profiler returns 404 and is not listed', async () => {
    const { account, token } = await newCaller();
    const phone_number = await newUser('Old', true);
    const { profiler_id, options } = (await post('/v1/research_profilers', { token, body: draft })).body;
    await untilReplicated(profilerKey(account, profiler_id));
    const url = `${stack.base_url}/v1/research_profilers/${profiler_id}`;
    expect(await send('DELETE', url, { token })).toMatchObject({ status: 204 });
    const body = { profiler_id, option_id: options.a, phone_number };
    expect(await post('/v1/profiler_answer', { token, body })).toMatchObject({ status: 404 });
    expect(await send('GET', url, { token })).toMatchObject({ status: 404 });
    expect((await get('/v1/research_profilers', token)).body).toEqual([]);
    expect(await send('DELETE', url, { token })).toMatchObject({ status: 404 });
  });
});

describe('directly after a change of media', () => {
  const upload = async (token: string): Promise<string> => {
    const form = new FormData();
    form.append('file', fileOf(png));
    return (await post('/v1/upload_image', { token, body: form })).body.url;
  };

  const idIn = (url: string): string => url.split('/').at(-1) ?? '';

  const imageTo = (url: string) => ({ to: newPhone(), type: 'image', image: { url } });

  const deleteBytes = async (id: string): Promise<void> => {
    const { bucket } = (await getConsistent<{ bucket: string }>(mediaKey(id))) ?? {};
    const credentials = { accessKeyId: 'operator', secretAccessKey: 'local' };
    const client = new S3Client({ endpoint: stack.s3_endpoint, forcePathStyle: true, credentials });
    await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: id }));
    client.destroy();
  };

  test('an upload can be read and sent', async () => {
    const { token } = await newCaller();
    const url = await upload(token);
    expect((await fetch(url)).status).toBe(200);
    expect(await post('/v1/message', { token, body: imageTo(url) })).toMatchObject({ status: 200 });
  });

  test('the URL of deleted media returns 404, and sending them returns 422', async () => {
    const { token } = await newCaller();
    const url = await upload(token);
    await untilReplicated(mediaKey(idIn(url)));
    await deleteMedia(idIn(url), () => deleteBytes(idIn(url)));
    expect(await send('GET', url, { token })).toMatchObject({ status: 404, body: { code: 'media_not_found' } });
    expect(await post('/v1/message', { token, body: imageTo(url) })).toMatchObject({ status: 422 });
  });

  test('after an interrupted deletion, the URL returns 410 and sending it returns 422', async () => {
    const { token } = await newCaller();
    const url = await upload(token);
    await untilReplicated(mediaKey(idIn(url)));
    const interrupted = deleteMedia(idIn(url), async () => {
      await deleteBytes(idIn(url));
      throw new Error('interrupted');
    });
    await expect(interrupted).rejects.toThrow('interrupted');
    expect(await send('GET', url, { token })).toMatchObject({ status: 410, body: { code: 'media_expired' } });
    expect(await post('/v1/message', { token, body: imageTo(url) })).toMatchObject({ status: 422 });
  });
});

test.each([
  ['message', '/v1/message', 'to'],
  ['profiler', '/v1/research_profilers', 'question'],
])(
  'a repeat with an idempotency key returns the same %s, and another request with the key returns 422',
  async (_, path) => {
    const { token } = await newCaller();
    const key = randomUUID();
    const bodies = {
      '/v1/message': [textTo('27821234567'), textTo('27821234567', 'Other')],
      '/v1/research_profilers': [
        { question: 'Well?', options: ['a', 'b'] },
        { question: 'And?', options: ['a', 'b'] },
      ],
    }[path];
    const [first, other] = bodies ?? [];
    const made = await post(path, { token, key, ...(first && { body: first }) });
    expect(made.status).toBe(200);
    expect(await post(path, { token, key, ...(first && { body: first }) })).toEqual(made);
    expect(await post(path, { token, key, ...(other && { body: other }) })).toMatchObject({
      status: 422,
      body: { code: 'idempotency_key_reused' },
    });
  },
);

test('a repeat of a user data request with an idempotency key returns the same request', async () => {
  const { token } = await newCaller();
  const phone = await newUser();
  const key = randomUUID();
  const made = await startRequest(token, phone, 'first_name', key);
  expect(made.status).toBe(200);
  expect(await startRequest(token, phone, 'first_name', key)).toEqual(made);
  expect(await startRequest(token, phone, 'last_name', key)).toMatchObject({ status: 422 });
});

test('a state that the app reports directly after the message was sent is logged', async () => {
  const { account, token } = await newCaller();
  const { body } = await post('/v1/message', { token, body: textTo(newPhone()) });
  await report('message.state', { id: body.id, state: 'read' });
  const { entries } = await listLogs(account, { state: 'read' }, 10);
  expect(entries).toHaveLength(1);
});
