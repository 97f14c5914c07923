/** The item of a delivery attempt: its size, what it keeps, and its public id. */
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { newId, newIdAt } from '../../../shared/core/ids.ts';
import { attemptIdOf, attemptOf, attemptsFrom, attemptWithId } from '../../../shared/delivery/entities.ts';
import { type Attempt, type AttemptItem, attemptItem, unpack } from '../../../shared/delivery/history/attempt-item.ts';
import { toDelivery } from '../../../shared/delivery/history/deliveries.ts';
import { eventOf } from '../../../shared/delivery/history/replay.ts';
import { conversationName, entryKey } from '../../../shared/outbox/entities.ts';
import type { OutboxEvent } from '../../../shared/outbox/event.ts';
import { lifetime } from '../../support/lifetime.ts';

/** The longest account id and the longest number that are allowed. */
const [account, phone] = ['a'.repeat(40), '9'.repeat(15)];
const STARTED = Date.UTC(2030, 0, 1);

const message = () => ({ id: newId(), account, phone, job_id: newId(), payload_type: 'text', ...lifetime });

const written = (body: string): OutboxEvent => ({
  type: 'message.received',
  message: message(),
  to: '27820000001',
  content: { type: 'text', text: { body } },
});

const reported = (): OutboxEvent => ({
  type: 'message.state',
  message: message(),
  state: 'delivered_to_user',
  created: '2030-01-01T00:00:00.000000',
});

const attemptOfEvent = (outgoing: OutboxEvent, body: string, url = 'https://example.com/hook'): Attempt => {
  const id = newId();
  const key = entryKey(conversationName({ direction: 'platform', account, phone }), id);
  return {
    entry: { ...key, id, created: '2030-01-01T00:00:00.000000', outgoing },
    number: 27,
    hasSucceeded: false,
    exchange: { started: STARTED, ended: STARTED + 9_999, url, response: { status: 503, headers: {}, body } },
    at: STARTED,
    isFinal: true,
    next: STARTED + 60_000,
  };
};

const sizeOf = (item: AttemptItem): number =>
  Object.entries(item).reduce((sum, [name, value]) => {
    const size = typeof value === 'number' ? 21 : value === true ? 1 : Buffer.from(value as string).length;
    return sum + name.length + size;
  }, 0);

/** Text that does not compress. */
const random = (bytes: number): string => randomBytes(bytes).toString('base64');

/** An attempt that is followed by others. */
const followed = (attempt: Attempt): Attempt => ({ ...attempt, isFinal: false });

describe('an attempt that is followed by others has at most 1,024 bytes', () => {
  test.each<[string, Attempt]>([
    ['with a long text and a long response', attemptOfEvent(written(random(3_000)), random(3_000))],
    ['with a short text and a long response', attemptOfEvent(written('Hi'), random(3_000))],
    ['with a state and a long response', attemptOfEvent(reported(), random(3_000))],
  ])('%s', (_, attempt) => {
    expect(sizeOf(attemptItem(followed(attempt), 1_900_000_000))).toBeLessThanOrEqual(1_024);
  });

  test('with any text and any response', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 2_000 });
    fc.assert(
      fc.property(text, text, (body, response) => {
        const attempt = followed(attemptOfEvent(written(body), response));
        expect(sizeOf(attemptItem(attempt, 1_900_000_000))).toBeLessThanOrEqual(1_024);
      }),
      { numRuns: 50 },
    );
  });
});

const shown = (attempt: Attempt) => toDelivery(attemptItem(attempt, 1_900_000_000));

describe('an attempt keeps', () => {
  test('the whole event beside a kilobyte of a usual response', () => {
    const body = JSON.stringify({ errors: Array.from({ length: 40 }, (_, index) => `field ${index} is not valid`) });
    const attempt = attemptOfEvent(written('How are you? '.repeat(20)), body);
    expect(eventOf(attemptItem(attempt, 1))).toEqual(attempt.entry.outgoing);
    expect(shown(attempt).response).toBe(body.slice(0, 1_024));
  });

  test('the event before the response, and as much of the response as fits', () => {
    const response = random(1_024);
    const attempt = attemptOfEvent(reported(), response);
    expect(eventOf(attemptItem(attempt, 1))).toEqual(attempt.entry.outgoing);
    const { response: kept = '' } = shown(attempt);
    expect(response.startsWith(kept)).toBe(true);
    expect(kept.length).toBeGreaterThan(300);
  });

  test('the whole event in the last attempt, in less than an item may have, whatever its text', () => {
    const texts = [
      random(49_152),
      '\u0001'.repeat(65_536),
      '漢'.repeat(65_536),
      Array.from({ length: 65_536 }, (_, index) => String.fromCharCode(0x4e00 + ((index * 7_919) % 20_000))).join(''),
    ];
    for (const text of texts) {
      const attempt = attemptOfEvent(written(text), random(3_000));
      const item = attemptItem(attempt, 1_900_000_000);
      expect(eventOf(item)).toEqual(attempt.entry.outgoing);
      expect(sizeOf(item)).toBeLessThan(400_000);
    }
  });

  test('no event before the last attempt, because the event is in the outbox', () => {
    expect(eventOf(attemptItem(followed(attemptOfEvent(written('Hi'), '')), 1))).toBeUndefined();
  });

  test('the first kilobyte of a response, without a character that is cut', () => {
    expect(shown(attemptOfEvent(reported(), 'é'.repeat(1_000))).response).toBe('é'.repeat(512));
    expect(shown(attemptOfEvent(reported(), `a${'é'.repeat(1_000)}`)).response).toBe(`a${'é'.repeat(511)}`);
  });

  test('no user, password, query or fragment of the URL', () => {
    const url = 'https://user:password@example.com/hook?token=secret#part';
    expect(shown(attemptOfEvent(reported(), '', url)).url).toBe('https://example.com/hook');
    const { packed } = attemptItem(attemptOfEvent(reported(), '', url), 1);
    expect(JSON.stringify(unpack({ packed }))).not.toMatch(/password|secret/);
  });
});

describe('the public id', () => {
  test('leads to the key, in capitals too', () => {
    const item = attemptItem(attemptOfEvent(reported(), ''), 1);
    const id = attemptIdOf(item);
    expect(attemptWithId(id)).toEqual(attemptOf(item));
    expect(attemptWithId(id.toUpperCase())).toEqual(attemptOf(item));
  });

  test.each(['', 'x', newId(), `${newId()}-2f0193b2a4c5d6`, `${newId()}-0g0193b2a4c5d6`, `${newId()}-0f0193b2a4c5d67`])(
    'that is %j leads to nothing',
    (id) => {
      expect(attemptWithId(id)).toBeUndefined();
    },
  );

  test('of an event sorts by its time', () => {
    const attempt = attemptOfEvent(reported(), '');
    const id = newIdAt('2030-01-01T00:00:00.000000');
    const { sk } = attemptItem({ ...attempt, entry: { ...attempt.entry, id } }, 1);
    expect([STARTED - 1, STARTED, STARTED + 1].map((time) => sk >= attemptsFrom(time))).toEqual([true, true, false]);
  });
});
