import fc from 'fast-check';
import { expect, test } from 'vitest';
import { idInSeries, idOf, newIdAt, SERIES_DIGITS } from '../../../shared/core/ids.ts';
import {
  LOG_POSITION,
  logPosition,
  stateAt,
  timeAt,
  timePart,
  timePartBefore,
  timePartOf,
} from '../../../shared/outbox/log-positions.ts';
import { type State, states } from '../../../shared/outbox/message.ts';

const timeOf = (microseconds: number): string =>
  `${new Date(Math.floor(microseconds / 1_000)).toISOString().slice(0, 23)}${String(microseconds % 1_000).padStart(3, '0')}`;

interface Entry {
  time: number;
  message: string;
  state: State;
}

/** Few times, ids and states, so that two entries often have the same ones. */
const entry: fc.Arbitrary<Entry> = fc.record({
  time: fc.constantFrom(0, 1_700_000_000_000_000, 1_700_000_000_000_001, 1_900_000_000_123_456),
  message: fc.constantFrom('00000000-0000-7000-8000-000000000000', '00000000-0000-7000-8000-000000000001'),
  state: fc.constantFrom(...states),
});

const positionOf = ({ time, message, state }: Entry): string => logPosition(timeOf(time), message, state);

test('positions sort by time, then by message, then by state, and say time and state', () => {
  fc.assert(
    fc.property(fc.array(entry, { minLength: 2, maxLength: 8 }), (entries) => {
      const words = (one: Entry) => `${timeOf(one.time)}#${one.message}#${one.state}`;
      const sorted = entries.toSorted((a, b) => (positionOf(a) < positionOf(b) ? -1 : 1));
      expect(sorted.map(words)).toEqual(entries.map(words).sort());
      for (const one of entries) {
        const position = positionOf(one);
        expect(position).toMatch(LOG_POSITION);
        expect({ time: timeAt(position), state: stateAt(position) }).toEqual({
          time: timeOf(one.time),
          state: one.state,
        });
      }
    }),
  );
});

test('messages of the same microsecond have different positions, whatever their ids are made of', () => {
  const ids = Array.from({ length: 10_000 }, (_, place) => [
    newIdAt(TIME),
    idOf('account', 'message', String(place)),
    idInSeries(SERIES, place),
    idInSeries(OTHER_SERIES, place),
  ]).flat();
  expect(new Set(ids.map((id) => logPosition(TIME, id, 'sent'))).size).toBe(40_000);
});

const SERIES = '0198c0de00007f00112233445566'.slice(0, SERIES_DIGITS);
const OTHER_SERIES = SERIES.replace(/6$/, '7');
const TIME = '2026-11-28T12:00:00.123456';
const MESSAGE = '0198c0de-0000-7000-8000-000000000000';

test('a position is after the beginning of its time, and before the next microsecond', () => {
  const position = logPosition(TIME, MESSAGE, 'read');
  expect(position > timePartOf(TIME)).toBe(true);
  expect(position < timePartOf('2026-11-28T12:00:00.123457')).toBe(true);
});

test('some time before a position is that time before its entry', () => {
  expect(timePartBefore(logPosition(TIME, MESSAGE, 'sent'), 60_000)).toBe(timePartOf('2026-11-28T11:59:00.123456'));
});

test('a time before 1970, or after the last one, is the first or the last one', () => {
  expect([timePart(-1), timePart(253_402_300_799_000_000)]).toEqual(['0000000000', 'zzzzzzzzzz']);
});

test.each(['', '2026-11-28T12:00:00Z', '2026-11-28T12:00:00.123Z', `${TIME}Z`])(
  'the time "%s" of another form is an error, not a key',
  (time) => {
    expect(() => logPosition(time, MESSAGE, 'sent')).toThrow('A log entry has no time.');
  },
);

test('a message without a UUID is an error, not a key', () => {
  expect(() => logPosition(TIME, 'message-1', 'sent')).toThrow(SyntaxError);
});

test('a text without a state is no position', () => {
  expect(() => stateAt('')).toThrow('none of a log entry');
  expect(() => stateAt(timePartOf(TIME).padEnd(21, 'z'))).toThrow('none of a log entry');
});
