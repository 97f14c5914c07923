/**
 * Events about one user are applied in order. After a rejected event, later events of the user are held back.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { messageHistory } from '../../../../infra/operator/queries/message-history.ts';
import { resumeErasure } from '../../../../shared/user-data/erasure.ts';
import { latestProfile } from '../../../../shared/users/users.ts';
import {
  answered,
  applied,
  heldBack,
  message,
  named,
  rejected,
  removed,
  state,
  updated,
} from '../../support/app-events.ts';
import { call } from '../../support/client.ts';
import { newCaller, newPhone } from '../../support/world.ts';

const firstName = async (phone: string): Promise<string | undefined> =>
  (await latestProfile(phone))?.profile.first_name?.value;

/** A new account's request for a user's first name. */
const requested = async (phone: string) => {
  const { token } = await newCaller('user_data');
  const body = { reason: 'To greet you', data: [{ property: 'first_name' as const }] };
  const { body: started } = await call('startUserDataRequest', { token, path: { phone_number: phone }, body });
  const id = started.requestId;
  const results = async () => (await call('fetchUserData', { token, path: { id }, query: {} })).body;
  return { id, results };
};

const APPROVED = { first_name: 'approved' };

describe('events about one user in one batch', () => {
  test('are applied in order: an answer releases the value of the last update before it', async () => {
    for (let run = 0; run < 5; run += 1) {
      const phone = newPhone();
      await applied(updated(phone, {}));
      const { id, results } = await requested(phone);
      await applied([named(phone, 'A'), named(phone, 'B'), named(phone, 'C'), answered(id, APPROVED)]);
      expect(await results()).toMatchObject({
        status: 'completed',
        results: { first_name: { status: 'approved', value: 'C' } },
      });
    }
  });

  test('are applied in order: an answer before a removal is recorded, and the batch can be repeated', async () => {
    const phone = newPhone();
    await applied(named(phone, 'A'));
    const { id } = await requested(phone);
    const batch = [answered(id, APPROVED), removed(phone)];
    await applied(batch);
    expect(await latestProfile(phone)).toBeUndefined();
    await applied(batch);
    await resumeErasure(phone);
    // The erasure has deleted the request.
    await applied(batch);
    expect(await rejected(answered(id, APPROVED))).toEqual([
      '#/data/id is the id of no request, or of one that has expired',
    ]);
  });

  test('are applied in order: an answer after a removal is rejected, and the user stays removed', async () => {
    const phone = newPhone();
    await applied(named(phone, 'A'));
    const { id } = await requested(phone);
    const batch = [removed(phone), answered(id, APPROVED)];
    for (let run = 0; run < 2; run += 1) {
      expect(await rejected(batch)).toEqual(['#/1/data/id is the id of no request, or of one that has expired']);
      expect(await latestProfile(phone)).toBeUndefined();
    }
  });

  test('are applied in order: a user who registers after a removal has no earlier property', async () => {
    const phone = newPhone();
    const batch = [
      updated(phone, { panelist: true, properties: { last_name: { value: 'Old', source: 'user' } } }),
      removed(phone),
      named(phone, 'New'),
    ];
    await applied(batch);
    await applied(batch);
    expect((await latestProfile(phone))?.profile).toEqual({ first_name: { value: 'New', source: 'user' } });
  });

  test('are applied once each if the batch contains duplicates', async () => {
    const phone = newPhone();
    const [first, second] = [named(phone, 'A'), named(phone, 'B')];
    await applied([first, first, second, first, second, first]);
    expect(await firstName(phone)).toBe('B');
  });
});

describe('after a rejected event', () => {
  test('later events of any type of the user are held back; the corrected batch is applied in order', async () => {
    const phone = newPhone();
    const business = await newCaller('messages', 'stats');
    const { body: sent } = await call('sendMessage', {
      token: business.token,
      body: { to: phone, type: 'text', text: { body: 'Hello' } },
    });
    await applied(named(phone, 'Known'));
    const { id, results } = await requested(phone);
    const [first, second] = [randomUUID(), randomUUID()];
    const later = [named(phone, 'Second', second), answered(id, APPROVED), state(sent.id, 'read')];
    const bad = updated(phone, { properties: { first_name: { value: 7, source: 'user' } } }, first);
    expect(await rejected([bad, ...later])).toEqual([
      '#/0/data/properties/first_name must be an object with value and source, or with the value null',
      ...[1, 2, 3].map(heldBack),
    ]);
    expect(await firstName(phone)).toBe('Known');
    expect(await results()).toMatchObject({ status: 'pending' });

    await applied([named(phone, 'First', first), ...later]);
    expect(await firstName(phone)).toBe('Second');
    expect(await results()).toMatchObject({ results: { first_name: { value: 'Second' } } });
    const { body: states } = await call('listLogs', { token: business.token, query: { state: 'read' } });
    expect(states).toHaveLength(1);
  });

  test('earlier events of the same user and all events of other users are applied', async () => {
    const [phone, other] = [newPhone(), newPhone()];
    const batch = [named(phone, 'A'), message(phone, newPhone()), named(other, 'B'), named(phone, 'C')];
    expect(await rejected(batch)).toEqual(["#/1/data/to is no bot's number", heldBack(3)]);
    expect([await firstName(phone), await firstName(other)]).toEqual(['A', 'B']);
  });

  test('later invalid events return their own validation errors', async () => {
    const phone = newPhone();
    const bad = updated(phone, { panelist: 'yes' });
    expect(await rejected([bad, bad])).toEqual([
      '#/0/data/panelist must be true or false, not a string',
      '#/1/data/panelist must be true or false, not a string',
    ]);
  });

  test('no event is held back if the rejected events name no known user', async () => {
    const phone = newPhone();
    const errors = await rejected([
      state(randomUUID(), 'read'),
      answered(randomUUID(), APPROVED),
      { id: 'x', type: 'user.exploded', data: { phone_number: phone } },
      named(phone, 'A'),
    ]);
    expect(errors.map((error) => error.slice(0, 3))).toEqual(['#/0', '#/1', '#/2']);
    expect(await firstName(phone)).toBe('A');
  });
});

describe('an event', () => {
  test.each<[string, (phone: string) => object]>([
    ['a value of 1,001 characters', (phone) => named(phone, '😀'.repeat(1_001))],
    ['an event id of 256 characters', (phone) => named(phone, 'A', '😀'.repeat(256))],
    ['a message id that is a number', () => ({ id: 'x', type: 'message.state', data: { id: 7, state: 'read' } })],
    [
      '10,000 properties',
      (phone) =>
        updated(phone, {
          properties: Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`p${index}`, 1])),
        }),
    ],
    [
      'a property name of 100,000 characters',
      (phone) => updated(phone, { properties: { ['☺'.repeat(100_000)]: null } }),
    ],
    [
      'nested properties',
      (phone) => updated(phone, { properties: { first_name: { value: { value: { value: [[[]]] } } } } }),
    ],
    ['an invalid timestamp', (phone) => ({ ...named(phone, 'A'), timestamp: 'yesterday' })],
  ])('with %s is rejected by its index, and other events are applied', async (_, make) => {
    const other = newPhone();
    const errors = await rejected([named(other, 'A'), make(newPhone()), named(other, 'B')]);
    for (const error of errors) expect(error).toMatch(/^#\/1\b/);
    expect(await firstName(other)).toBe('B');
  });

  test('has at most ten entries in the response, so that the response covers each of 100 invalid events', async () => {
    const properties = Object.fromEntries(
      Array.from({ length: 100 }, (_, index) => [`${index}`.padStart(100, '☺'), 1]),
    );
    const errors = await rejected(Array.from({ length: 100 }, () => updated(newPhone(), { properties })));
    expect(errors).toHaveLength(1_000);
    expect(errors.filter((error) => /^#\/\d+ has \d+ more errors$/.test(error))).toHaveLength(100);
  });

  test.each([
    ['ends at', 499],
    ['starts after', 500],
    ['ends before', 498],
  ])('whose reason has an emoji that %s 500 characters is applied without half an emoji', async (_, before) => {
    const { token } = await newCaller('messages');
    const phone = newPhone();
    const { body: sent } = await call('sendMessage', {
      token,
      body: { to: phone, type: 'text', text: { body: 'Hello' } },
    });
    const reason = `${'x'.repeat(before)}😀😀`;
    const event = {
      id: randomUUID(),
      type: 'message.state',
      data: { id: sent.id, state: 'delivery_failed', reason },
    };
    await applied(event);
    const { states = [] } = (await messageHistory(sent.id)) ?? {};
    expect(states.flatMap(({ reason: kept }) => kept ?? [])).toEqual([[...reason].slice(0, 500).join('')]);
  });

  test('whose id is 255 emoji, control characters or a property name of JavaScript objects is applied', async () => {
    const phone = newPhone();
    for (const id of ['😀'.repeat(255), '#*?/\\%00\u0000', '__proto__', 'constructor', ' ​x']) {
      await applied(named(phone, 'A', id));
      expect(await rejected(state(id, 'read'))).toEqual(['#/data/id is the id of no message that was sent to a user']);
      expect(await rejected(answered(id, APPROVED))).toEqual([
        '#/data/id is the id of no request, or of one that has expired',
      ]);
    }
  });
});
