/** User data requests: approval through the app, automatic properties, access, consent receipts and notifications. */
import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { type AccountPlatform, updateAccount } from '../../../infra/operator/queries/accounts-admin.ts';
import { update } from '../../../shared/table/client.ts';
import { requestKey } from '../../../shared/table/keys.ts';
import { listConsentReceipts } from '../../../shared/user-data/consent-receipts.ts';
import type { PropertyName } from '../../../shared/users/profile-properties.ts';
import { call, fail, type ProblemDocument, type Received, sendRaw } from '../support/client.ts';
import { DestinationServer } from '../support/destination-server.ts';
import { untilShown, write } from '../support/phones.ts';
import { type Caller, newCaller, newPhone } from '../support/world.ts';

const { app_token } = inject('stack');

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

const event = (type: string, data: object) => ({ id: randomUUID(), type, data });

/** The app network reports events that the service accepts. */
const report = (...events: object[]) => call('receiveAppEvents', { token: app_token, body: events });

/** Reports events that are rejected. Returns a pointer and a detail for each error. */
const rejections = async (...events: object[]): Promise<string[]> => {
  const { body } = await fail('receiveAppEvents', { token: app_token, body: events });
  expect(body).toMatchObject({ status: 422, code: 'events_refused' });
  return (body.errors ?? []).map(({ pointer, detail }) => `${pointer} ${detail}`);
};

/** The app reports properties of a user. */
const reportProfile = (phone_number: string, properties: object) =>
  report(event('user.updated', { phone_number, properties }));

/** The number of a new user with a profile. */
const newUser = async (): Promise<string> => {
  const phone = newPhone();
  await reportProfile(phone, PROFILE);
  return phone;
};

const business = (): Promise<Caller> => newCaller('user_data', 'messages');

type Answers = Partial<Record<PropertyName, 'approved' | 'denied'>>;

const answerEvent = (id: string, answers: Answers | Record<string, string>) =>
  event('user_data.answered', { id, answers });

/** The app reports the user's answers. */
const answer = (id: string, answers: Answers) => report(answerEvent(id, answers));

const dataFor = (...properties: PropertyName[]) => properties.map((property) => ({ property }));

/** Starts a request and returns its id. */
const start = async ({ token }: Caller, phone: string, ...properties: PropertyName[]): Promise<string> => {
  const body = { reason: REASON, data: dataFor(...properties) };
  return (await call('startUserDataRequest', { token, path: { phone_number: phone }, body })).body.requestId;
};

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
    const { body } = await call('startUserDataRequest', {
      token: caller.token,
      path: { phone_number: phone },
      body: {
        reason: REASON,
        data: [
          { property: 'last_name' },
          { property: 'device_platform', reason: 'To send the right picture', required: true },
          { property: 'first_name', reason: 'To greet you', required: true },
          { property: 'citizenship', reason: 'The law asks for it', required: false },
        ],
      },
    });
    expect(body).toEqual({ requestId: expect.stringMatching(UUID), status: 'pending' });
    const [shown] = await untilShown(phone, 1);
    expect({ type: shown?.type, data: shown?.data }).toStrictEqual({
      type: 'user_data.request',
      data: {
        id: body.requestId,
        to: phone,
        business: 'Bank & Sons',
        reason: REASON,
        properties: [
          { property: 'last_name', required: false },
          { property: 'first_name', reason: 'To greet you', required: true },
          { property: 'citizenship', reason: 'The law asks for it', required: false },
        ],
      },
    });
    expect(await typesShownUpToNow(caller, phone, 1)).toEqual(['user_data.request', 'message.send']);
  });

  test('a pending request returns no results, not even properties that were granted at once', async () => {
    const caller = await business();
    const phone = await newUser();
    const id = await start(caller, phone, 'first_name', 'device_platform');
    expect(await fetched(caller, id)).toEqual({ status: 'pending', results: {} });
    expect(await receipts(phone)).toEqual([['device_platform', REASON]]);
  });

  test('a request for automatic properties is completed at once, and the app does not ask the user', async () => {
    const caller = await business();
    const phone = await newUser();
    const { body } = await call('startUserDataRequest', {
      token: caller.token,
      path: { phone_number: phone },
      body: { reason: REASON, data: dataFor('device_platform', 'device_make') },
    });
    expect(body).toEqual({ requestId: expect.stringMatching(UUID), status: 'completed' });
    expect(await fetched(caller, body.requestId)).toEqual({
      status: 'completed',
      results: { device_platform: approved('device_platform'), device_make: unavailable },
    });
    expect(await typesShownUpToNow(caller, phone, 0)).toEqual(['message.send']);
  });

  test('a request to an unregistered number returns 404 user_not_found', async () => {
    const { token } = await business();
    const body = { reason: REASON, data: dataFor('first_name') };
    const problem = await fail('startUserDataRequest', { token, path: { phone_number: newPhone() }, body });
    expect(problem.body).toMatchObject({ status: 404, code: 'user_not_found' });
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
  test.each<[string, PropertyName[], Answers, object]>([
    [
      'approves all properties',
      ['first_name', 'display_name'],
      { first_name: 'approved', display_name: 'approved' },
      { first_name: approved('first_name'), display_name: approved('display_name') },
    ],
    [
      'denies one property',
      ['first_name', 'citizenship'],
      { first_name: 'approved', citizenship: 'denied' },
      { first_name: approved('first_name'), citizenship: denied },
    ],
    [
      'denies all properties',
      ['first_name', 'id_number'],
      { first_name: 'denied', id_number: 'denied' },
      { first_name: denied, id_number: denied },
    ],
    [
      'approves a property without a value',
      ['last_name', 'first_name'],
      { last_name: 'approved', first_name: 'approved' },
      { last_name: unavailable, first_name: approved('first_name') },
    ],
    [
      'denies a property beside automatic ones',
      ['first_name', 'app_version', 'device_model'],
      { first_name: 'denied' },
      { first_name: denied, app_version: approved('app_version'), device_model: unavailable },
    ],
  ])('an answer that %s completes the request', { tags: 'long' }, async (_, asked, answers, results) => {
    const caller = await business();
    const id = await start(caller, await newUser(), ...asked);
    await answer(id, answers);
    expect(await fetched(caller, id)).toEqual({ status: 'completed', results });
  });

  test('an answer that denies a required property completes the request', async () => {
    const caller = await business();
    const { body } = await call('startUserDataRequest', {
      token: caller.token,
      path: { phone_number: await newUser() },
      body: { reason: REASON, data: [{ property: 'first_name', required: true }] },
    });
    await answer(body.requestId, { first_name: 'denied' });
    expect(await fetched(caller, body.requestId)).toEqual({ status: 'completed', results: { first_name: denied } });
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
  ])(
    'a later %s of a granted property in the profile does not change the request',
    { tags: 'long' },
    async (_, change) => {
      const caller = await business();
      const phone = await newUser();
      const id = await start(caller, phone, 'first_name', 'citizenship', 'app_version');
      await answer(id, { first_name: 'approved' });
      await reportProfile(phone, change);
      await answer(id, { first_name: 'approved', citizenship: 'denied' });
      const results = { first_name: approved('first_name'), citizenship: denied, app_version: approved('app_version') };
      expect(await fetched(caller, id)).toEqual({ status: 'completed', results });
      await reportProfile(phone, change);
      expect(await fetched(caller, id)).toEqual({ status: 'completed', results });
    },
  );

  test('an approval releases the value at the time of the answer, not at the time of the request', async () => {
    const caller = await business();
    const phone = await newUser();
    const id = await start(caller, phone, 'first_name', 'last_name');
    await reportProfile(phone, { first_name: { value: null }, last_name: { value: 'Zoë', source: 'user' } });
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
    const caller = await business();
    const phone = await newUser();
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
    const caller = await business();
    const phone = await newUser();
    const expired = await start(caller, phone, 'first_name');
    await expire(expired);
    const detail = 'is the id of no request, or of one that has expired';
    const answers = { first_name: 'approved' };
    expect(
      await rejections(
        answerEvent(randomUUID(), answers),
        answerEvent(expired, answers),
        answerEvent(expired.toUpperCase(), answers),
        answerEvent('x', answers),
      ),
    ).toEqual([0, 1, 2, 3].map((place) => `#/${place}/data/id ${detail}`));
    expect(await receipts(phone)).toEqual([]);
  });

  test('an answer with a property outside the request is rejected whole, with later events about the same user', async () => {
    const caller = await business();
    const phone = await newUser();
    const [id, other] = [
      await start(caller, phone, 'first_name', 'app_version'),
      await start(caller, phone, 'citizenship'),
    ];
    const strange = { first_name: 'approved', last_name: 'approved', app_version: 'denied', 'shoe/size': 'denied' };
    expect(
      await rejections(
        answerEvent(other, { citizenship: 'approved' }),
        answerEvent(id, strange),
        event('user.updated', { phone_number: phone, properties: { last_name: { value: 'Zoë', source: 'user' } } }),
      ),
    ).toEqual([
      ...['last_name', 'shoe~1size'].map(
        (name) => `#/1/data/answers/${name} is not among the properties that this request asks for`,
      ),
      expect.stringMatching(/^#\/2 was not applied, because an earlier event about the same user was rejected/),
    ]);
    expect(await fetched(caller, other)).toMatchObject({ status: 'completed' });
    expect(await fetched(caller, id)).toEqual({ status: 'pending', results: {} });
    // The rejected answer changed nothing, so the next answer counts as the first.
    await answer(id, { first_name: 'denied' });
    expect((await fetched(caller, id)).results).toEqual({ first_name: denied, app_version: approved('app_version') });
    expect(await receipts(phone)).toEqual([
      ['app_version', REASON],
      ['citizenship', REASON],
    ]);
  });
});

test('after the app removes a user, starts, retrievals and answers fail, and the request returns 404 within a minute', {
  tags: 'long',
}, async () => {
  const caller = await business();
  const { token } = caller;
  const phone = await newUser();
  const id = await start(caller, phone, 'first_name', 'app_version');
  await report(event('user.removed', { phone_number: phone }));
  expect(await rejections(answerEvent(id, { first_name: 'approved' }))).toEqual([
    '#/0/data/id is the id of no request, or of one that has expired',
  ]);
  const body = { reason: REASON, data: dataFor('app_version') };
  for (const problem of [
    await fail('startUserDataRequest', { token, path: { phone_number: phone }, body }),
    await fail('retrieveUserData', { token, path: { id: phone }, body }),
  ])
    expect(problem.body.code).toBe('user_not_found');
  await expect.poll(async () => (await sendRaw('fetchUserData', { token, path: { id } })).status).toBe(404);
});

describe('simultaneous answers', () => {
  /** Defines a race: once for the quick tests, and twice more for the long ones. */
  const inRounds = (name: string, race: () => Promise<void>): void => {
    test(`${name} (round 1)`, race);
    test.each([2, 3])(`${name} (round %i)`, { tags: 'long' }, race);
  };

  /** Enough answers that several function instances process them at the same time. */
  const threeTimes = <Item>(items: Item[]): Item[] => [...items, ...items, ...items];

  inRounds('one of several answers to the same property counts, and the receipts agree', async () => {
    const caller = await business();
    const phone = await newUser();
    const id = await start(caller, phone, 'first_name');
    const all: ('approved' | 'denied')[] = ['approved', 'denied', 'approved', 'denied'];
    await Promise.all(threeTimes(all).map((first_name) => answer(id, { first_name })));
    const { status, results } = await fetched(caller, id);
    expect(status).toBe('completed');
    expect([approved('first_name'), denied]).toContainEqual(results.first_name);
    const wasApproved = results.first_name?.status === 'approved';
    expect(await receipts(phone)).toEqual(wasApproved ? [['first_name', REASON]] : []);
  });

  inRounds('answers to different properties are each recorded once', async () => {
    const caller = await business();
    const phone = await newUser();
    const id = await start(caller, phone, 'first_name', 'display_name', 'citizenship', 'number');
    const all: Answers[] = [
      { first_name: 'approved' },
      { display_name: 'approved' },
      { citizenship: 'approved' },
      { number: 'denied' },
    ];
    await Promise.all(threeTimes(all).map((part) => answer(id, part)));
    expect(await fetched(caller, id)).toEqual({
      status: 'completed',
      results: {
        first_name: approved('first_name'),
        display_name: approved('display_name'),
        citizenship: approved('citizenship'),
        number: denied,
      },
    });
    expect((await receipts(phone)).sort()).toEqual([
      ['citizenship', REASON],
      ['display_name', REASON],
      ['first_name', REASON],
    ]);
  });
});

describe('GET /v1/user_data/fetch', () => {
  test('a long poll returns the results when the user answers', async () => {
    const caller = await business();
    const { token } = caller;
    const id = await start(caller, await newUser(), 'first_name');
    const begun = performance.now();
    const waiting = call('fetchUserData', { token, path: { id }, query: { long_poll: '30' } });
    await answer(id, { first_name: 'approved' });
    expect((await waiting).body).toEqual({ status: 'completed', results: { first_name: approved('first_name') } });
    expect(performance.now() - begun).toBeLessThan(10_000);
  });

  test('a long poll of one second without an answer returns pending after one second', async () => {
    const caller = await business();
    const id = await start(caller, await newUser(), 'first_name');
    const begun = performance.now();
    const { body } = await call('fetchUserData', { token: caller.token, path: { id }, query: { long_poll: '1' } });
    expect(body).toEqual({ status: 'pending', results: {} });
    expect(performance.now() - begun).toBeGreaterThan(990);
  });

  test('a long poll of a completed request returns at once', async () => {
    const caller = await business();
    const id = await start(caller, await newUser(), 'app_version');
    const begun = performance.now();
    for (const long_poll of ['0', '1', '30']) {
      const { body } = await call('fetchUserData', { token: caller.token, path: { id }, query: { long_poll } });
      expect(body.status).toBe('completed');
    }
    expect(performance.now() - begun).toBeLessThan(10_000);
  });

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

  test.each(['-1', '31', '1.5', 'abc', '', '1e1', ' 1', '1,2'])(
    'a fetch with long_poll "%s" returns 422',
    { tags: 'long' },
    async (long_poll) => {
      const { token } = await newCaller('user_data');
      const problem = await fail('fetchUserData', { token, path: { id: randomUUID() }, query: { long_poll } });
      expect(problem.body).toMatchObject({
        status: 422,
        code: 'invalid_request',
        errors: [{ parameter: 'long_poll', detail: 'must be a whole number from 0 to 30' }],
      });
    },
  );
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
    const caller = await business();
    const phone = await newUser();
    const all = await Promise.all(Array.from({ length: 10 }, () => begin(caller, phone, 'key')));
    const [first] = all;
    for (const { status, body } of [...all, await begin(caller, phone, 'key')]) {
      expect({ status, body }).toEqual({
        status: 200,
        body: { requestId: expect.stringMatching(UUID), status: 'pending' },
      });
      expect(body).toEqual(first?.body);
    }
    expect(await typesShownUpToNow(caller, phone, 1)).toEqual(['user_data.request', 'message.send']);
    expect(await receipts(phone)).toEqual([['app_version', REASON]]);
  });

  test.each<[string, object]>([
    [
      'sets required to its default',
      { data: [{ property: 'first_name', required: false }, ...dataFor('app_version')] },
    ],
    ['contains an unknown field', { comment: 'x' }],
  ])('a repeat that %s returns the first response', async (_, change) => {
    const caller = await business();
    const phone = await newUser();
    const { body } = await begin(caller, phone, 'key');
    expect(await begin(caller, phone, 'key', change)).toMatchObject({ status: 200, body });
  });

  test.each<[string, object]>([
    ['another reason', { reason: 'Another' }],
    ['other properties', { data: dataFor('first_name') }],
    ['another order', { data: dataFor('app_version', 'first_name') }],
    ['a reason for a property', { data: [{ property: 'first_name', reason: 'x' }, ...dataFor('app_version')] }],
    ['a required property', { data: [{ property: 'first_name', required: true }, ...dataFor('app_version')] }],
  ])('a repeat with %s returns 422 idempotency_key_reused', async (_, change) => {
    const caller = await business();
    const phone = await newUser();
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
    const [one, another] = [
      await begin(await business(), phone, 'key'),
      await begin(await business(), phone, 'key', { reason: 'Another' }),
    ];
    expect([one.status, another.status]).toEqual([200, 200]);
    expect(one.body).not.toEqual(another.body);
  });
});

describe('POST /v1/user_data/fetch', () => {
  const retrieve = async ({ token }: Caller, id: string, ...properties: PropertyName[]) =>
    (await call('retrieveUserData', { token, path: { id }, body: { data: dataFor(...properties) } })).body;

  test('a one-shot retrieval returns automatic properties, and the app does not ask the user', async () => {
    const caller = await business();
    const phone = await newUser();
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
    const [known, unknown] = await Promise.all(
      [phone, newPhone()].map((id) =>
        fail('retrieveUserData', {
          token,
          path: { id },
          body: { data: dataFor('app_version', 'first_name', 'number') },
        }),
      ),
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

  test('a one-shot retrieval for an unregistered number returns 404 user_not_found', async () => {
    const { token } = await business();
    const phone = newPhone();
    const problem = await fail('retrieveUserData', {
      token,
      path: { id: phone },
      body: { data: dataFor('app_version') },
    });
    expect(problem.body).toMatchObject({ status: 404, code: 'user_not_found' });
    expect(await receipts(phone)).toEqual([]);
  });
});

describe('a consent receipt', () => {
  test('each release has one receipt with account, properties, reason and time, and without values', async () => {
    const [one, other] = [await business(), await business()];
    const phone = await newUser();
    const id = await start(
      one,
      phone,
      'first_name',
      'display_name',
      'last_name',
      'citizenship',
      'app_version',
      'device_make',
    );
    await answer(id, { first_name: 'approved', citizenship: 'denied' });
    await answer(id, { last_name: 'approved' });
    const { body: oneShot } = await call('retrieveUserData', {
      token: other.token,
      path: { id: phone },
      body: { data: dataFor('device_platform', 'app_version', 'device_model') },
    });
    await call('retrieveUserData', {
      token: other.token,
      path: { id: phone },
      body: { data: dataFor('device_model') },
    });
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
  const ALL_MISSING = ['reason', 'data'].map((name) => ({ pointer: `#/${name}`, detail: 'is required' }));
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
    ['no value', undefined, [{ pointer: '#/data', detail: 'is required' }]],
    ['null', null, [{ pointer: '#/data', detail: 'must be an array, not null' }]],
    ['an empty array', [], [{ pointer: '#/data', detail: 'must name at least one property' }]],
    ['a string', 'app_version', [{ pointer: '#/data', detail: 'must be an array, not a string' }]],
    ['an object', { property: 'app_version' }, [{ pointer: '#/data', detail: 'must be an array, not an object' }]],
    [
      'an array of names',
      ['app_version', 'first_name'],
      [0, 1].map((place) => ({ pointer: `#/data/${place}`, detail: 'must be an object, not a string' })),
    ],
    ['an unknown property', [{ property: 'shoe_size' }], [{ pointer: '#/data/0/property', detail: UNKNOWN }]],
    [
      'the name of a method of every object',
      [{ property: 'toString' }],
      [{ pointer: '#/data/0/property', detail: UNKNOWN }],
    ],
    ['no property', [{ reason: 'x' }], [{ pointer: '#/data/0/property', detail: 'is required' }]],
    [
      'one property twice',
      dataFor('app_version', 'device_make', 'app_version'),
      [{ pointer: '#/data/2', detail: 'names app_version again' }],
    ],
    [
      'several errors',
      [...dataFor('app_version'), { property: 'x' }, {}, { property: 'x' }, ...dataFor('app_version')],
      [
        { pointer: '#/data/1/property', detail: UNKNOWN },
        { pointer: '#/data/2/property', detail: 'is required' },
        { pointer: '#/data/3/property', detail: UNKNOWN },
        { pointer: '#/data/3', detail: 'names x again' },
        { pointer: '#/data/4', detail: 'names app_version again' },
      ],
    ],
    [
      '200 properties',
      Array.from({ length: 200 }, (_, place) => ({ property: cycle[place % cycle.length] })),
      Array.from({ length: 200 - cycle.length }, (_, place) => ({
        pointer: `#/data/${place + cycle.length}`,
        detail: `names ${cycle[place % cycle.length]} again`,
      })),
    ],
  ];

  test.each(inData)(
    'data with %s returns 422 with all validation errors',
    { tags: 'long' },
    async (_, data, errors) => {
      for (const name of ['startUserDataRequest', 'retrieveUserData'] as const) {
        expect(await post(name, newPhone(), { reason: REASON, data })).toMatchObject(invalid(errors));
      }
    },
  );

  test.each<[string, unknown, object[]]>([
    ['no reason', { data: good.data }, [{ pointer: '#/reason', detail: 'is required' }]],
    ['a blank reason', { ...good, reason: ' \n' }, [{ pointer: '#/reason', detail: BLANK }]],
    [
      'a reason that is not a string',
      { ...good, reason: 1 },
      [{ pointer: '#/reason', detail: 'must be a string, not a number' }],
    ],
    [
      'a reason that is too long',
      { ...good, reason: '😀'.repeat(1_001) },
      [{ pointer: '#/reason', detail: 'must have at most 1000 characters' }],
    ],
    [
      'half a character in a reason',
      { ...good, reason: '\ud83d' },
      [{ pointer: '#/reason', detail: 'must be valid Unicode: it holds half of a surrogate pair' }],
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
        { pointer: '#/data/0/reason', detail: 'must have at most 1000 characters' },
        { pointer: '#/data/0/required', detail: 'must be true or false, not a string' },
        { pointer: '#/data/1/reason', detail: BLANK },
      ],
    ],
    [
      'required set to null',
      { ...good, data: [{ property: 'number', required: null }] },
      [{ pointer: '#/data/0/required', detail: 'must be true or false, not null' }],
    ],
    ['an empty object as its body', {}, ALL_MISSING],
    ['an array as its body', [good], ALL_MISSING],
    ['null as its body', null, [{ pointer: '#', detail: 'must be an object, not null' }]],
  ])('a start request with %s returns 422 with all validation errors', { tags: 'long' }, async (_, body, errors) => {
    expect(await post('startUserDataRequest', newPhone(), body)).toMatchObject(invalid(errors));
  });

  test('a one-shot retrieval with an array as its body returns 422', async () => {
    expect(await post('retrieveUserData', newPhone(), [])).toMatchObject(
      invalid([{ pointer: '#/data', detail: 'is required' }]),
    );
  });

  test.each([
    '+27821234567',
    '2782123456x',
    '278212',
    '2782123456789012',
    '２７８２１２３４５６７',
    ' 27821234567',
    randomUUID(),
  ])('the malformed phone number "%s" returns 422', { tags: 'long' }, async (number) => {
    expect(await post('startUserDataRequest', number, good)).toMatchObject(
      invalid([{ parameter: 'phone_number', detail: PHONE }]),
    );
    expect(await post('retrieveUserData', number, { data: dataFor('app_version') })).toMatchObject(
      invalid([{ parameter: 'id', detail: PHONE }]),
    );
  });

  test('a request can ask for all properties with reasons of the maximum length', async () => {
    const caller = await business();
    const phone = await newUser();
    const all: PropertyName[] = [
      'first_name',
      'last_name',
      'display_name',
      'number',
      'id_number',
      'citizenship',
      'device_platform',
      'app_version',
      'device_make',
      'device_model',
    ];
    const reason = '😀'.repeat(1_000);
    const data = all.map((property) => ({ property, reason, required: true }));
    const { body } = await call('startUserDataRequest', {
      token: caller.token,
      path: { phone_number: phone },
      body: { reason, data },
    });
    const [shown] = await untilShown(phone, 1);
    expect(shown?.data).toMatchObject({ reason, properties: data.slice(0, 6) });
    await answer(body.requestId, Object.fromEntries(all.slice(0, 6).map((property) => [property, 'approved'])));
    expect(Object.keys((await fetched(caller, body.requestId)).results).sort()).toEqual([...all].sort());
  });
});

test('a token without the permission user_data gets 403 for a start, a fetch and a one-shot retrieval', async () => {
  const owner = await business();
  const phone = await newUser();
  const id = await start(owner, phone, 'app_version');
  const { token } = await newCaller('profilers', 'stats', 'messages', 'bridge');
  const problems = [
    await fail('startUserDataRequest', {
      token,
      path: { phone_number: phone },
      body: { reason: REASON, data: dataFor('app_version') },
    }),
    await fail('fetchUserData', { token, path: { id }, query: {} }),
    await fail('retrieveUserData', { token, path: { id: phone }, body: { data: dataFor('app_version') } }),
  ];
  for (const { body } of problems) expect(body).toMatchObject({ status: 403, code: 'permission_required' });
  expect(await receipts(phone)).toHaveLength(1);
});
