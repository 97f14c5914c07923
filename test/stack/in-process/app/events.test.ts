/**
 * Events of the app network: each is applied once, in any order, alone or in a batch.
 *
 * @module-tag long
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { findUser, registerUser } from '../../../../infra/operator/queries/users-admin.ts';
import { readHead } from '../../../../shared/outbox/head.ts';
import { getConsistent } from '../../../../shared/table/client.ts';
import { userKey } from '../../../../shared/users/entities.ts';
import { latestProfile } from '../../../../shared/users/users.ts';
import { answered, applied, message, rejected, removed, report, state, updated } from '../../support/app-events.ts';
import { call } from '../../support/client.ts';
import { DestinationServer } from '../../support/destination-server.ts';
import { type Caller, newCaller, newPhone } from '../../support/world.ts';

const business = async () => {
  const caller = await newCaller('messages', 'stats');
  const bot = newPhone();
  await updateAccount(caller.account, { bot_number: bot });
  return { ...caller, bot };
};

const sent = async ({ token: own }: Caller, to = newPhone()): Promise<{ id: string; to: string }> => {
  const { body } = await call('sendMessage', { token: own, body: { to, type: 'text', text: { body: 'Hello' } } });
  return { id: body.id, to };
};

/** The states in an account's delivery log, or in a contact's, oldest first, without delivered_to_server. */
const logged = async ({ token: own }: Caller, contact?: string): Promise<string[]> =>
  ((await call('listLogs', { token: own, query: contact === undefined ? {} : { contact } })).body ?? [])
    .map((entry) => entry.state)
    .filter((one) => one !== 'delivered_to_server')
    .reverse();

describe('a state', () => {
  test('is logged once, however often it is reported', async () => {
    const caller = await business();
    const { id, to } = await sent(caller);
    const event = state(id, 'delivered_to_user');
    await applied(event);
    await applied(event);
    await applied([event, event, state(id, 'delivered_to_user')]);
    expect(await logged(caller, to)).toEqual(['sent', 'delivered_to_user']);
  });

  test('is logged in the order of the reports, even if read precedes delivered_to_user', async () => {
    const caller = await business();
    const { id, to } = await sent(caller);
    await applied(state(id, 'read'));
    await applied(state(id, 'delivered_to_user'));
    await applied(state(id, 'delivery_failed'));
    expect(await logged(caller, to)).toEqual(['sent', 'read', 'delivered_to_user', 'delivery_failed']);
  });

  test('of an unknown message, or of a message from a user, is rejected', async () => {
    const caller = await business();
    const detail = '#/data/id is the id of no message that was sent to a user';
    expect(await rejected(state(randomUUID(), 'read'))).toEqual([detail]);
    const phone = newPhone();
    const received = message(phone, caller.bot);
    await applied(received);
    expect(await rejected(state(received.id, 'read'))).toEqual([detail]);
  });

  test('that only the service sets, delivered_to_server, is rejected', async () => {
    const { id } = await sent(await business());
    expect(await rejected(state(id, 'delivered_to_server'))).toEqual([
      '#/data/state must be "delivered_to_user", "read" or "delivery_failed"',
    ]);
  });
});

describe("a user's message", () => {
  test('is received once, however often its event arrives', async () => {
    const caller = await business();
    const phone = newPhone();
    const event = message(phone, caller.bot);
    await Promise.all([applied(event), applied(event), applied([event, event])]);
    await applied(message(phone, caller.bot));
    expect(await logged(caller, phone)).toEqual(['received', 'received']);
  });

  test("to a number that is no bot's is rejected", async () => {
    expect(await rejected(message(newPhone(), newPhone()))).toEqual(["#/data/to is no bot's number"]);
  });

  test('with 65,536 characters is received, and with 65,537 rejected', async () => {
    const caller = await business();
    const phone = newPhone();
    await applied(message(phone, caller.bot, '☺'.repeat(65_536)));
    expect(await rejected(message(phone, caller.bot, 'x'.repeat(65_537)))).toEqual([
      '#/data/text/body must have at most 65536 characters',
    ]);
    expect(await logged(caller, phone)).toEqual(['received']);
  });
});

describe('an answer to a request', () => {
  /** A request for three properties of a new user, whose profile has two of them. */
  const requested = async () => {
    const { token: own } = await newCaller('user_data');
    const phone = newPhone();
    const properties = {
      first_name: { value: 'Thandi', source: 'user' },
      last_name: { value: 'Zoë', source: 'user' },
    };
    await applied(updated(phone, { properties }));
    const { body } = await call('startUserDataRequest', {
      token: own,
      path: { phone_number: phone },
      body: {
        reason: 'To open your account',
        data: [{ property: 'first_name' }, { property: 'last_name' }, { property: 'citizenship' }],
      },
    });
    const id = body.requestId;
    return { id, fetched: async () => (await call('fetchUserData', { token: own, path: { id }, query: {} })).body };
  };

  const approved = (value: string) => expect.objectContaining({ status: 'approved', value, source: 'user' });
  const denied = { status: 'denied' };

  test('is final for each property: in a batch, the first answer counts', async () => {
    const { id, fetched } = await requested();
    await applied([
      answered(id, { first_name: 'denied' }),
      answered(id, { first_name: 'approved', last_name: 'approved' }),
      answered(id, { last_name: 'denied', citizenship: 'denied' }),
    ]);
    expect(await fetched()).toEqual({
      status: 'completed',
      results: { first_name: denied, last_name: approved('Zoë'), citizenship: denied },
    });
  });

  test.each<[string, object, string[]]>([
    [
      'invalid answers',
      { first_name: 'maybe', last_name: true, citizenship: null },
      ['first_name', 'last_name', 'citizenship'].map(
        (name) => `#/0/data/answers/${name} must be "approved" or "denied"`,
      ),
    ],
    [
      'a property that was not requested',
      { first_name: 'approved', number: 'approved' },
      ['#/0/data/answers/number is not among the properties that this request asks for'],
    ],
    [
      'the name of a method of every object',
      { toString: 'approved' },
      ['#/0/data/answers/toString is not among the properties that this request asks for'],
    ],
    ['a list', ['approved'], ['#/0/data/answers/0 is not among the properties that this request asks for']],
  ])('with %s is rejected, and events of other users in the batch are applied', async (_, answers, errors) => {
    const { id, fetched } = await requested();
    const other = newPhone();
    expect(await rejected([answered(id, answers), updated(other, { panelist: true })])).toEqual(errors);
    expect(await findUser(other)).toEqual({ phone_number: other, panelist: true });
    await applied(answered(id, { first_name: 'denied', last_name: 'approved', citizenship: 'denied' }));
    expect((await fetched()).results).toEqual({ first_name: denied, last_name: approved('Zoë'), citizenship: denied });
  });

  test('with an unknown or an empty request id is rejected', async () => {
    const nameless = { id: randomUUID(), type: 'user_data.answered', data: { id: '' } };
    expect(await rejected([answered(randomUUID(), { first_name: 'approved' }), nameless])).toEqual([
      '#/0/data/id is the id of no request, or of one that has expired',
      '#/1/data/id must not be empty or white space only',
      '#/1/data/answers is required',
    ]);
  });
});

describe('a user', () => {
  test("who is removed has no pending message: the message is logged as failed, without the user's number", async () => {
    const caller = await business();
    const destination = await DestinationServer.start();
    onTestFinished(() => destination.close());
    destination.answers = [{ status: 503, headers: { 'retry-after': '3600' } }];
    const settings = { url: destination.url, secret: `whsec_${randomBytes(32).toString('base64')}` };
    await updateAccount(caller.account, { platform: { name: 'webhook', settings } });
    const phone = newPhone();
    await applied(updated(phone, {}));
    await applied(message(phone, caller.bot));
    await expect.poll(() => destination.calls.length).toBeGreaterThan(0);
    await applied(removed(phone));
    const conversation = { direction: 'platform', account: caller.account, phone } as const;
    await expect.poll(() => readHead(conversation)).toBeUndefined();
    expect(await logged(caller)).toEqual(['received', 'reception_failed_http']);
    // An erasure renames log entries after it has dropped pending ones.
    await expect.poll(() => logged(caller, phone)).toEqual([]);
  });

  const stored = (phone: string) => getConsistent<object>(userKey(phone));

  test('is registered by an update, and keeps properties that a later update does not contain', async () => {
    const phone = newPhone();
    await applied(updated(phone, { properties: { first_name: { value: 'A', source: 'user' } } }));
    expect(await findUser(phone)).toEqual({ phone_number: phone, panelist: false });
    await applied(updated(phone, { panelist: true }));
    await applied(updated(phone, { properties: { app_version: { value: '2.1', source: 'device' } } }));
    expect(await findUser(phone)).toEqual({ phone_number: phone, panelist: true });
    expect(await stored(phone)).toMatchObject({
      property_first_name: { value: 'A', source: 'user' },
      property_app_version: { value: '2.1', source: 'device' },
    });
    await applied(updated(phone, { properties: { first_name: { value: null } } }));
    expect((await latestProfile(phone))?.profile).toEqual({ app_version: { value: '2.1', source: 'device' } });
    expect(JSON.stringify(await stored(phone))).not.toContain('"A"');
  });

  test('who is removed stays removed if an older update is repeated', async () => {
    const phone = newPhone();
    const first = updated(phone, { panelist: true });
    await applied(first);
    await applied(removed(phone));
    await applied(first);
    expect(await findUser(phone)).toBeUndefined();
  });

  test('who registers again is not removed by the repeat of the earlier removal', async () => {
    const phone = newPhone();
    await registerUser({ phone_number: phone, panelist: true });
    const removal = removed(phone);
    await applied(removal);
    await applied(updated(phone, { panelist: true }));
    await applied(removal);
    expect(await findUser(phone)).toEqual({ phone_number: phone, panelist: true });
  });

  test('who is not registered can be removed without an error', async () => {
    await applied(removed(newPhone()));
  });

  test('with an unknown property is rejected, with a list of the known ones', async () => {
    const [error] = await rejected(updated(newPhone(), { properties: { shoe_size: { value: '9', source: 'user' } } }));
    expect(error).toMatch(/^#\/data\/properties\/shoe_size must be "first_name", .+ or "device_tac"$/);
  });
});

describe('a batch', () => {
  test('with invalid events applies the valid ones, and returns the errors of the others by index', async () => {
    const caller = await business();
    const [phone, other] = [newPhone(), newPhone()];
    const bad = { ...message(phone, caller.bot), data: { from: phone } };
    const batch = [
      message(phone, caller.bot),
      bad,
      state(randomUUID(), 'read'),
      { id: 'x', type: 'message.exploded', data: {} },
      'nothing',
      message(other, caller.bot),
    ];
    expect(await rejected(batch)).toEqual([
      '#/1/data/to is required',
      '#/1/data/type is required',
      '#/2/data/id is the id of no message that was sent to a user',
      '#/3/type must be "message.received", "message.state", "user.updated", "user_data.answered", "user_data.withdrawn", "user.removed", "user.stopped" or "user.started"',
      '#/4 must be an object, not a string',
    ]);
    expect(await logged(caller)).toEqual(['received', 'received']);
    await rejected(batch);
    expect(await logged(caller)).toEqual(['received', 'received']);
  });

  test('of 100 events of many users is applied, and a repeat adds nothing', async () => {
    const caller = await business();
    const phone = newPhone();
    const events = Array.from({ length: 100 }, (_, index) =>
      message(index % 2 === 0 ? phone : newPhone(), caller.bot, `${index}`),
    );
    await applied(events);
    expect(await logged(caller, phone)).toEqual(Array(50).fill('received'));
    await applied(events);
    expect(await logged(caller, phone)).toHaveLength(50);
  });

  test('of 101 events is rejected as a whole with 422', async () => {
    const { status, body } = await report(Array(101).fill(removed(newPhone())));
    expect(status).toBe(422);
    expect(body).toMatchObject({
      code: 'invalid_request',
      errors: [{ pointer: '#', detail: 'must hold at most 100 events' }],
    });
  });

  test('without events is accepted', async () => {
    await applied([]);
  });
});
