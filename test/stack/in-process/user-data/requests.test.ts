/**
 * User data requests: approval through the app, automatic properties, access, consent receipts and notifications.
 *
 * @module-tag long
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type AccountPlatform, updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { update } from '../../../../shared/table/client.ts';
import { listConsentReceipts } from '../../../../shared/user-data/consent-receipts.ts';
import { requestKey } from '../../../../shared/user-data/entities.ts';
import type { PropertyName } from '../../../../shared/users/profile-properties.ts';
import { answered, applied, rejected, updated } from '../../support/app-events.ts';
import { call, fail, type ProblemDocument, type Received, sendRaw } from '../../support/client.ts';
import { DestinationServer } from '../../support/destination-server.ts';
import { untilShown, write } from '../../support/phones.ts';
import { type Caller, newCaller, newPhone } from '../../support/world.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/);

const JSON_TYPE = { 'content-type': 'application/json' };

const REASON = 'To open your account';

/** The profile of each test user. Properties that are not listed have no value. */
const PROFILE = {
  first_name: { value: 'Thandi', source: 'user' },
  display_name: { value: 'Zoë 😀', source: 'user' },
  citizenship: { value: 'ZA', source: 'document' },
  device_platform: { value: 'android', source: 'device' },
  app_version: { value: '2.1', source: 'device' },
} as const;

/** The result of a granted property. */
const approved = (property: keyof typeof PROFILE) => ({ status: 'approved', ...PROFILE[property], timestamp: time });
const denied = { status: 'denied' };
const unavailable = { status: 'unavailable' };

/** The number of a new user with a profile. */
const newUser = async (): Promise<string> => {
  const phone = newPhone();
  await applied(updated(phone, { properties: PROFILE }));
  return phone;
};

const business = (): Promise<Caller> => newCaller('user_data', 'messages');

const newWorld = async () => ({ caller: await business(), phone: await newUser() });

type Answers = Partial<Record<PropertyName, 'approved' | 'denied'>>;

/** The app reports the user's answers. */
const answer = (id: string, answers: Answers) => applied(answered(id, answers));

const dataFor = (...properties: PropertyName[]) => properties.map((property) => ({ property }));

type Body = NonNullable<Parameters<typeof call<'startUserDataRequest'>>[1]['body']>;

const ask = async ({ token }: Caller, phone: string, body: Body) =>
  (await call('startUserDataRequest', { token, path: { phone_number: phone }, body })).body;

/** Starts a request and returns its id. */
const start = async (caller: Caller, phone: string, ...properties: PropertyName[]): Promise<string> =>
  (await ask(caller, phone, { reason: REASON, data: dataFor(...properties) })).requestId;

const fetched = async ({ token }: Caller, id: string) =>
  (await call('fetchUserData', { token, path: { id }, query: {} })).body;

/** The released properties and the reason, from each consent receipt of a user. */
const receipts = async (phone: string) =>
  (await listConsentReceipts(phone)).map(({ properties, reason }) => [...properties, reason]);

/** The types of the entries that a phone has received from an account, up to a message that is sent now. */
const typesShownUpToNow = async ({ token }: Caller, phone: string, before: number) => {
  await call('sendMessage', { token, body: { to: phone, type: 'text', text: { body: 'That is all' } } });
  return (await untilShown(phone, before + 1)).map(({ type }) => type);
};

/** A problem without its trace id, which differs each time. */
const bytesOf = ({ body: { trace_id: _, ...rest } }: Received<ProblemDocument>) => JSON.stringify(rest);

/** Sets the expiry of a request in the past. The table still contains the item. */
const expire = (id: string) =>
  update({
    Key: requestKey(id),
    UpdateExpression: 'SET expires_at = :past',
    ExpressionAttributeValues: { ':past': Math.floor(Date.now() / 1000) - 1 },
  });

describe('POST /v1/user_data/start', () => {
  test('the app asks the user only for the properties that need approval', async () => {
    const caller = await business();
    await updateAccount(caller.account, { name: 'Bank & Sons' });
    const phone = await newUser();
    const data: Body['data'] = [
      { property: 'last_name' },
      { property: 'device_platform', reason: 'To send the right picture', required: true },
      { property: 'first_name', reason: 'To greet you', required: true },
      { property: 'citizenship', reason: 'The law asks for it', required: false },
    ];
    const body = await ask(caller, phone, { reason: REASON, data });
    expect(body).toEqual({ requestId: expect.stringMatching(UUID), status: 'pending' });
    const [shown] = await untilShown(phone, 1);
    expect({ type: shown?.type, data: shown?.data }).toStrictEqual({
      type: 'user_data.request',
      data: {
        id: body.requestId,
        to: phone,
        business: 'Bank & Sons',
        reason: REASON,
        properties: [{ property: 'last_name', required: false }, data[2], data[3]],
      },
    });
    expect(await typesShownUpToNow(caller, phone, 1)).toEqual(['user_data.request', 'message.send']);
  });

  test('a pending request returns no results, not even properties that were granted at once', async () => {
    const { caller, phone } = await newWorld();
    const id = await start(caller, phone, 'first_name', 'device_platform');
    expect(await fetched(caller, id)).toEqual({ status: 'pending', results: {} });
    expect(await receipts(phone)).toEqual([['device_platform', REASON]]);
  });

  test('a request for automatic properties is completed at once, and the app does not ask the user', async () => {
    const { caller, phone } = await newWorld();
    const body = await ask(caller, phone, { reason: REASON, data: dataFor('device_platform', 'device_make') });
    expect(body).toEqual({ requestId: expect.stringMatching(UUID), status: 'completed' });
    expect(await fetched(caller, body.requestId)).toEqual({
      status: 'completed',
      results: { device_platform: approved('device_platform'), device_make: unavailable },
    });
    expect(await typesShownUpToNow(caller, phone, 0)).toEqual(['message.send']);
  });

  test('a request with two errors in the body, one in the path and one in a header returns 422 with all four', async () => {
    const { token } = await business();
    const received = await sendRaw('startUserDataRequest', {
      token,
      path: { phone_number: '123' },
      headers: { ...JSON_TYPE, 'idempotency-key': 'x'.repeat(256) },
      body: JSON.stringify({ reason: ' ', data: [{ property: 'first_name', required: 'yes' }] }),
    });
    expect(received).toMatchObject({
      status: 422,
      body: {
        errors: [
          { parameter: 'phone_number', detail: expect.stringContaining('7 to 15 digits') },
          { parameter: 'idempotency-key', detail: 'must have at most 255 characters' },
          { pointer: '#/reason', detail: 'must not be empty or white space only' },
          { pointer: '#/data/0/required', detail: 'must be true or false, not a string' },
        ],
      },
    });
  });
});

describe('an answer of the user', () => {
  test.each<[string, Answers, Partial<Record<PropertyName, object>>]>([
    [
      'approves all properties',
      { first_name: 'approved', display_name: 'approved' },
      { first_name: approved('first_name'), display_name: approved('display_name') },
    ],
    [
      'denies one optional property',
      { first_name: 'approved', citizenship: 'denied' },
      { first_name: approved('first_name'), citizenship: denied },
    ],
    [
      'denies all properties, also the required one',
      { first_name: 'denied', id_number: 'denied' },
      { first_name: denied, id_number: denied },
    ],
    [
      'approves a property without a value',
      { last_name: 'approved', first_name: 'approved' },
      { last_name: unavailable, first_name: approved('first_name') },
    ],
    [
      'denies a property beside automatic ones',
      { first_name: 'denied' },
      { first_name: denied, app_version: approved('app_version'), device_model: unavailable },
    ],
  ])('an answer that %s completes the request', async (_, answers, results) => {
    const caller = await business();
    const data = Object.keys(results).map((property, index) => ({ property, required: index === 0 }));
    const { requestId } = await ask(caller, await newUser(), { reason: REASON, data });
    await answer(requestId, answers);
    expect(await fetched(caller, requestId)).toEqual({ status: 'completed', results });
  });

  test('a request stays pending until each of its properties is answered', async () => {
    const caller = await business();
    const id = await start(caller, await newUser(), 'first_name', 'display_name', 'citizenship');
    const parts: Answers[] = [{ first_name: 'approved' }, {}, { citizenship: 'denied' }];
    for (const part of parts) {
      await answer(id, part);
      expect(await fetched(caller, id)).toEqual({ status: 'pending', results: {} });
    }
    await answer(id, { display_name: 'approved' });
    expect(await fetched(caller, id)).toEqual({
      status: 'completed',
      results: { first_name: approved('first_name'), citizenship: denied, display_name: approved('display_name') },
    });
  });

  test.each<[string, object]>([
    ['change', { first_name: { value: 'Other', source: 'document' }, app_version: { value: '3', source: 'device' } }],
    ['removal', { first_name: { value: null }, app_version: { value: null } }],
  ])('a later %s of a granted property in the profile does not change the request', async (_, change) => {
    const caller = await business();
    const phone = await newUser();
    const id = await start(caller, phone, 'first_name', 'citizenship', 'app_version');
    await answer(id, { first_name: 'approved' });
    await applied(updated(phone, { properties: change }));
    await answer(id, { first_name: 'approved', citizenship: 'denied' });
    const results = { first_name: approved('first_name'), citizenship: denied, app_version: approved('app_version') };
    expect(await fetched(caller, id)).toEqual({ status: 'completed', results });
    await applied(updated(phone, { properties: change }));
    expect(await fetched(caller, id)).toEqual({ status: 'completed', results });
  });

  test('an approval releases the value at the time of the answer, not at the time of the request', async () => {
    const { caller, phone } = await newWorld();
    const id = await start(caller, phone, 'first_name', 'last_name');
    const properties = { first_name: { value: null }, last_name: { value: 'Zoë', source: 'user' } };
    await applied(updated(phone, { properties }));
    await answer(id, { first_name: 'approved', last_name: 'approved' });
    expect((await fetched(caller, id)).results).toEqual({
      first_name: unavailable,
      last_name: { status: 'approved', value: 'Zoë', source: 'user', timestamp: time },
    });
  });

  test.each<[string, Answers, Answers]>([
    ['repeats it', { first_name: 'approved' }, { first_name: 'approved' }],
    ['withdraws an approval', { first_name: 'approved' }, { first_name: 'denied' }],
    ['withdraws a denial', { first_name: 'denied' }, { first_name: 'approved' }],
  ])('the first answer stays when a later answer %s', async (_, first, second) => {
    const { caller, phone } = await newWorld();
    const id = await start(caller, phone, 'first_name', 'citizenship');
    await answer(id, first);
    // The second answer arrives twice: while the request is pending, and after it is completed.
    await answer(id, { ...second, citizenship: 'denied' });
    const before = { data: await fetched(caller, id), receipts: await listConsentReceipts(phone) };
    expect(before.data).toEqual({
      status: 'completed',
      results: { first_name: first.first_name === 'approved' ? approved('first_name') : denied, citizenship: denied },
    });
    await answer(id, { ...second, citizenship: 'approved' });
    expect({ data: await fetched(caller, id), receipts: await listConsentReceipts(phone) }).toEqual(before);
    expect(before.receipts).toHaveLength(first.first_name === 'approved' ? 1 : 0);
  });

  test('answers to an unknown, an expired and a malformed request id are rejected', async () => {
    const { caller, phone } = await newWorld();
    const expired = await start(caller, phone, 'first_name');
    await expire(expired);
    const detail = 'is the id of no request, or of one that has expired';
    const answers = { first_name: 'approved' };
    const ids = [randomUUID(), expired, expired.toUpperCase(), 'x'];
    expect(await rejected(ids.map((id) => answered(id, answers)))).toEqual(
      [0, 1, 2, 3].map((index) => `#/${index}/data/id ${detail}`),
    );
    expect(await receipts(phone)).toEqual([]);
  });
});

test('of simultaneous answers, one to each property counts, and the receipts agree', async () => {
  const { caller, phone } = await newWorld();
  const id = await start(caller, phone, 'first_name', 'display_name', 'citizenship', 'number');
  const all: Answers[] = [
    ...[{ first_name: 'approved' as const }, { first_name: 'denied' as const }],
    ...[{ display_name: 'approved' as const }, { citizenship: 'approved' as const }, { number: 'denied' as const }],
  ];
  // Enough that several function instances process them at the same time.
  await Promise.all([...all, ...all, ...all].map((part) => answer(id, part)));
  const { status, results } = await fetched(caller, id);
  const { first_name, ...others } = results;
  expect({ status, others }).toEqual({
    status: 'completed',
    others: { display_name: approved('display_name'), citizenship: approved('citizenship'), number: denied },
  });
  expect([approved('first_name'), denied]).toContainEqual(first_name);
  const released = ['citizenship', 'display_name', ...(first_name?.status === 'approved' ? ['first_name'] : [])];
  expect((await receipts(phone)).sort()).toEqual(released.map((name) => [name, REASON]));
});

describe('GET /v1/user_data/fetch', () => {
  test("another account's, expired, unknown and malformed request ids return the same bytes of a 404", async () => {
    const [owner, other] = [await business(), await business()];
    const phone = await newUser();
    const id = await start(owner, phone, 'first_name');
    const expired = await start(owner, phone, 'app_version');
    await expire(expired);
    const unknown = await fail('fetchUserData', { token: owner.token, path: { id: randomUUID() }, query: {} });
    expect(unknown.body).toMatchObject({ status: 404, code: 'request_not_found' });
    const others: [Caller, string, string][] = [
      [other, id, '0'],
      // A long poll of another account's request returns at once too, so its duration reveals nothing.
      [other, id, '30'],
      [owner, expired, '30'],
      [owner, randomUUID(), '30'],
      [owner, `${id}x`, '0'],
      [owner, phone, '0'],
      [owner, 'x', '0'],
      [owner, 'x'.repeat(3_000), '0'],
      [owner, 'Zoë/😀 #?', '0'],
    ];
    const begun = performance.now();
    for (const [{ token }, given, long_poll] of others) {
      const problem = await fail('fetchUserData', { token, path: { id: given }, query: { long_poll } });
      expect({ given, bytes: bytesOf(problem) }).toEqual({ given, bytes: bytesOf(unknown) });
    }
    expect(performance.now() - begun).toBeLessThan(20_000);
    expect(await fetched(owner, id)).toEqual({ status: 'pending', results: {} });
  });

  test.each(['-1', '31', '1.5'])('a fetch with long_poll "%s" returns 422', async (long_poll) => {
    const { token } = await newCaller('user_data');
    const problem = await fail('fetchUserData', { token, path: { id: randomUUID() }, query: { long_poll } });
    expect(problem.body).toMatchObject({
      status: 422,
      code: 'invalid_request',
      errors: [{ parameter: 'long_poll', detail: 'must be a whole number from 0 to 30' }],
    });
  });
});

describe('POST /v1/user_data/start with an idempotency key', () => {
  const begin = async ({ token }: Caller, phone: string, key: string, change: object = {}) =>
    sendRaw('startUserDataRequest', {
      token,
      path: { phone_number: phone },
      headers: { ...JSON_TYPE, 'idempotency-key': key },
      body: JSON.stringify({ reason: REASON, data: dataFor('first_name', 'app_version'), ...change }),
    });

  test('simultaneous and later requests with the same key create one user data request', async () => {
    const { caller, phone } = await newWorld();
    const all = await Promise.all(Array.from({ length: 10 }, () => begin(caller, phone, 'key')));
    const [first] = all;
    expect(first?.body).toEqual({ requestId: expect.stringMatching(UUID), status: 'pending' });
    for (const { status, body } of [...all, await begin(caller, phone, 'key')]) {
      expect({ status, body }).toEqual({ status: 200, body: first?.body });
    }
    expect(await typesShownUpToNow(caller, phone, 1)).toEqual(['user_data.request', 'message.send']);
    expect(await receipts(phone)).toEqual([['app_version', REASON]]);
  });

  test('a repeat with required as its default, or with an unknown field, returns the first response', async () => {
    const { caller, phone } = await newWorld();
    const { body } = await begin(caller, phone, 'key');
    const data = [{ property: 'first_name', required: false }, ...dataFor('app_version')];
    for (const change of [{ data }, { comment: 'x' }]) {
      expect(await begin(caller, phone, 'key', change)).toMatchObject({ status: 200, body });
    }
  });

  test.each<[string, object]>([
    ['another reason', { reason: 'Another' }],
    ['another order', { data: dataFor('app_version', 'first_name') }],
    ['a required property', { data: [{ property: 'first_name', required: true }, ...dataFor('app_version')] }],
  ])('a repeat with %s returns 422 idempotency_key_reused', async (_, change) => {
    const { caller, phone } = await newWorld();
    await begin(caller, phone, 'key');
    const { status, body } = await begin(caller, phone, 'key', change);
    expect({ status, body }).toMatchObject({
      status: 422,
      body: { code: 'idempotency_key_reused', detail: expect.stringContaining('another request.') },
    });
    expect(await receipts(phone)).toEqual([['app_version', REASON]]);
  });

  test('a repeat with the same key to another user returns 422 idempotency_key_reused', async () => {
    const caller = await business();
    const [phone, other] = [await newUser(), await newUser()];
    await begin(caller, phone, 'key');
    expect(await begin(caller, other, 'key')).toMatchObject({ status: 422, body: { code: 'idempotency_key_reused' } });
    expect(await receipts(other)).toEqual([]);
  });

  test('two accounts can use the same key for different requests', async () => {
    const phone = await newUser();
    const one = await begin(await business(), phone, 'key');
    const another = await begin(await business(), phone, 'key', { reason: 'Another' });
    expect([one.status, another.status]).toEqual([200, 200]);
    expect(one.body).not.toEqual(another.body);
  });
});

describe('POST /v1/user_data/fetch', () => {
  const retrieve = async ({ token }: Caller, id: string, ...properties: PropertyName[]) =>
    (await call('retrieveUserData', { token, path: { id }, body: { data: dataFor(...properties) } })).body;

  test('a one-shot retrieval returns automatic properties, and the app does not ask the user', async () => {
    const { caller, phone } = await newWorld();
    expect(await retrieve(caller, phone, 'device_platform', 'app_version', 'device_model')).toEqual({
      status: 'completed',
      results: {
        device_platform: approved('device_platform'),
        app_version: approved('app_version'),
        device_model: unavailable,
      },
    });
    expect(await typesShownUpToNow(caller, phone, 0)).toEqual(['message.send']);
  });

  test('a property that needs approval returns 403 with the same bytes for registered and unregistered numbers', async () => {
    const { token } = await business();
    const phone = await newUser();
    const body = { data: dataFor('app_version', 'first_name', 'number') };
    const [known, unknown] = await Promise.all(
      [phone, newPhone()].map((id) => fail('retrieveUserData', { token, path: { id }, body })),
    );
    if (known === undefined || unknown === undefined) throw new Error('A response is missing.');
    expect(known.body).toMatchObject({
      status: 403,
      code: 'approval_required',
      detail: expect.stringContaining('first_name, number'),
    });
    expect(Object.keys(known.body).sort()).toEqual(['code', 'detail', 'status', 'title', 'trace_id', 'type']);
    expect(bytesOf(known)).toBe(bytesOf(unknown));
    expect(await receipts(phone)).toEqual([]);
  });

  test('a one-shot retrieval for an unregistered number, and a start, return 404 user_not_found', async () => {
    const { token } = await business();
    const phone = newPhone();
    const body = { reason: REASON, data: dataFor('app_version') };
    for (const problem of [
      await fail('retrieveUserData', { token, path: { id: phone }, body }),
      await fail('startUserDataRequest', { token, path: { phone_number: phone }, body }),
    ]) {
      expect(problem.body).toMatchObject({ status: 404, code: 'user_not_found' });
    }
    expect(await receipts(phone)).toEqual([]);
  });
});

describe('a consent receipt', () => {
  test('each release has one receipt with account, properties, reason and time, and without values', async () => {
    const [one, other] = [await business(), await business()];
    const phone = await newUser();
    const names = ['first_name', 'display_name', 'last_name', 'citizenship', 'app_version', 'device_make'] as const;
    const id = await start(one, phone, ...names);
    await answer(id, { first_name: 'approved', citizenship: 'denied' });
    await answer(id, { last_name: 'approved' });
    const retrieve = (...properties: PropertyName[]) =>
      call('retrieveUserData', { token: other.token, path: { id: phone }, body: { data: dataFor(...properties) } });
    const { body: oneShot } = await retrieve('device_platform', 'app_version', 'device_model');
    await retrieve('device_model');
    await answer(id, { display_name: 'approved' });
    const { results } = await fetched(one, id);
    await fetched(one, id);

    const timeOf = (name: string, given = results) => {
      const result = given[name];
      return result?.status === 'approved' ? result.timestamp : undefined;
    };
    const at = { account: one.account, request: id, reason: REASON };
    const grants = await listConsentReceipts(phone);
    expect(grants).toEqual([
      { ...at, properties: ['app_version'], created: timeOf('app_version') },
      { ...at, properties: ['first_name'], created: timeOf('first_name') },
      {
        account: other.account,
        request: expect.stringMatching(UUID),
        properties: ['device_platform', 'app_version'],
        created: timeOf('device_platform', oneShot.results),
      },
      { ...at, properties: ['display_name'], created: timeOf('display_name') },
    ]);
    for (const { value } of Object.values(PROFILE)) expect(JSON.stringify(grants)).not.toContain(`"${value}"`);
  });
});

describe('a notification of a completed request', () => {
  /** Creates an account with a bot and a platform. The destination is the platform's server. */
  const withPlatform = async (platformAt: (url: string) => AccountPlatform) => {
    const destination = await DestinationServer.start();
    onTestFinished(() => destination.close());
    destination.answers = [200];
    const caller = await business();
    const bot = newPhone();
    await updateAccount(caller.account, { bot_number: bot, platform: platformAt(destination.url) });
    return { caller, bot, destination };
  };

  const webhook = (url: string): AccountPlatform => ({
    name: 'webhook',
    settings: { url, secret: `whsec_${randomBytes(32).toString('base64')}` },
  });

  /** The platform's calls, up to a message that the user writes now. */
  const callsUpToNow = async (destination: DestinationServer, phone: string, bot: string) => {
    await write(phone, bot, 'That is all');
    await expect.poll(() => destination.calls.some(({ body }) => body.includes('That'))).toBe(true);
    return destination.calls;
  };

  const notificationOf = (id: string, phone: string) => ({
    user_data: { id, status: 'completed', contact: `${phone}@users.example.com`, completed: time },
  });

  test('a plain webhook is notified once of a completed request, without values', async () => {
    const { caller, bot, destination } = await withPlatform(webhook);
    const phone = await newUser();
    const id = await start(caller, phone, 'first_name', 'display_name');
    await answer(id, { first_name: 'approved' });
    await Promise.all([answer(id, { display_name: 'approved' }), answer(id, { display_name: 'denied' })]);
    await answer(id, { display_name: 'approved' });
    await fetched(caller, id);
    const calls = await callsUpToNow(destination, phone, bot);
    expect(calls.map(({ json }) => json)).toEqual([notificationOf(id, phone), { message: expect.anything() }]);
  });

  test('a plain webhook is notified of a request that is completed at once, but not of a one-shot retrieval', async () => {
    const { caller, bot, destination } = await withPlatform(webhook);
    const phone = await newUser();
    const id = await start(caller, phone, 'app_version');
    const data = dataFor('app_version');
    await call('retrieveUserData', { token: caller.token, path: { id: phone }, body: { data } });
    const calls = await callsUpToNow(destination, phone, bot);
    expect(calls.map(({ json }) => json)).toEqual([notificationOf(id, phone), { message: expect.anything() }]);
  });

  test.each<[string, (url: string) => AccountPlatform]>([
    ['RapidPro', (url) => ({ name: 'rapidpro', settings: { url } })],
    ['Turn', (url) => ({ name: 'turn', settings: { url, channel: 'channel', token: 'token' } })],
  ])('%s is not notified of completed requests', async (_, platformAt) => {
    const { caller, bot, destination } = await withPlatform(platformAt);
    const phone = await newUser();
    const id = await start(caller, phone, 'first_name');
    await start(caller, phone, 'app_version');
    await answer(id, { first_name: 'approved' });
    expect(await callsUpToNow(destination, phone, bot)).toHaveLength(1);
  });
});

describe('the body of a request for properties', () => {
  const UNKNOWN = expect.stringMatching(/^must be "first_name", .+ or "device_tac"$/);
  const BLANK = 'must not be empty or white space only';
  const PHONE = expect.stringContaining('must be a phone number in international format without +: 7 to 15 digits');
  const at = (pointer: string, detail: unknown) => ({ pointer: `#/${pointer}`, detail });
  const MISSING = 'is required';
  const good = { reason: REASON, data: dataFor('first_name') };
  const cycle: PropertyName[] = ['first_name', 'last_name', 'app_version', 'device_make'];

  const post = async (name: 'startUserDataRequest' | 'retrieveUserData', number: string, body: unknown) => {
    const { token } = await newCaller('user_data');
    const path = { phone_number: number, id: number };
    return sendRaw(name, { token, path, headers: JSON_TYPE, body: JSON.stringify(body) });
  };

  const invalid = (errors: object[]) => ({ status: 422, body: { code: 'invalid_request', errors } });

  /** Validation errors of `data`, the same for both endpoints. */
  const inData: [string, unknown, object[]][] = [
    ['no value', undefined, [at('data', MISSING)]],
    ['an empty array', [], [at('data', 'must name at least one property')]],
    ['an object', { property: 'app_version' }, [at('data', 'must be an array, not an object')]],
    [
      'an array of names',
      ['app_version', 'first_name'],
      [0, 1].map((index) => at(`data/${index}`, 'must be an object, not a string')),
    ],
    ['the name of a method of every object', [{ property: 'toString' }], [at('data/0/property', UNKNOWN)]],
    [
      'several errors',
      [...dataFor('app_version'), { property: 'x' }, {}, { property: 'x' }, ...dataFor('app_version')],
      [
        at('data/1/property', UNKNOWN),
        at('data/2/property', MISSING),
        at('data/3/property', UNKNOWN),
        at('data/3', 'names x again'),
        at('data/4', 'names app_version again'),
      ],
    ],
    [
      '200 properties',
      Array.from({ length: 200 }, (_, index) => ({ property: cycle[index % 4] })),
      Array.from({ length: 196 }, (_, index) => at(`data/${index + 4}`, `names ${cycle[index % 4]} again`)),
    ],
  ];

  test.each(inData)('data with %s returns 422 with all validation errors', async (_, data, errors) => {
    for (const name of ['startUserDataRequest', 'retrieveUserData'] as const) {
      expect(await post(name, newPhone(), { reason: REASON, data })).toMatchObject(invalid(errors));
    }
  });

  test.each<[string, unknown, object[]]>([
    ['a reason that is not a string', { ...good, reason: 1 }, [at('reason', 'must be a string, not a number')]],
    [
      'a reason that is too long',
      { ...good, reason: '😀'.repeat(1_001) },
      [at('reason', 'must have at most 1000 characters')],
    ],
    [
      "errors in a property's fields",
      {
        ...good,
        data: [
          { property: 'first_name', reason: 'x'.repeat(1_001), required: 'true' },
          { property: 'number', reason: '' },
        ],
      },
      [
        at('data/0/reason', 'must have at most 1000 characters'),
        at('data/0/required', 'must be true or false, not a string'),
        at('data/1/reason', BLANK),
      ],
    ],
    ['an array as its body', [good], [at('reason', MISSING), at('data', MISSING)]],
    ['null as its body', null, [{ pointer: '#', detail: 'must be an object, not null' }]],
  ])('a start request with %s returns 422 with all validation errors', async (_, body, errors) => {
    expect(await post('startUserDataRequest', newPhone(), body)).toMatchObject(invalid(errors));
  });

  test.each(['+27821234567', randomUUID()])('the malformed phone number "%s" returns 422', async (number) => {
    expect(await post('startUserDataRequest', number, good)).toMatchObject(
      invalid([{ parameter: 'phone_number', detail: PHONE }]),
    );
    expect(await post('retrieveUserData', number, { data: dataFor('app_version') })).toMatchObject(
      invalid([{ parameter: 'id', detail: PHONE }]),
    );
  });

  test('a request can ask for all properties with reasons of the maximum length', async () => {
    const { caller, phone } = await newWorld();
    const asked = ['first_name', 'last_name', 'display_name', 'number', 'id_number', 'citizenship'] as const;
    const all = [...asked, 'device_platform', 'app_version', 'device_make', 'device_model'] as const;
    const reason = '😀'.repeat(1_000);
    const data = all.map((property) => ({ property, reason, required: true }));
    const { requestId } = await ask(caller, phone, { reason, data });
    const [shown] = await untilShown(phone, 1);
    expect(shown?.data).toMatchObject({ reason, properties: data.slice(0, asked.length) });
    await answer(requestId, Object.fromEntries(asked.map((property) => [property, 'approved'])));
    expect(Object.keys((await fetched(caller, requestId)).results).sort()).toEqual(all.toSorted());
  });
});
