import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  LOG_POSITION,
  logPosition,
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

/** Few times and ids, so that two entries often have the same ones. */
const entry: fc.Arbitrary<Entry> = fc.record({
  time: fc.constantFrom(0, 1_700_000_000_000_000, 1_700_000_000_000_001, 1_900_000_000_123_456),
  message: fc.oneof(fc.uuid(), fc.constant('00000000-0000-7000-8000-000000000000')),
  state: fc.constantFrom(...states),
});

test('positions have the order of time, message and state', () => {
  const both = ({ time, message, state }: Entry) => ({
    position: logPosition(timeOf(time), message, state),
    words: `${timeOf(time)}#${message}#${state}`,
  });
  fc.assert(
    fc.property(fc.array(entry, { minLength: 2, maxLength: 8 }), (entries) => {
      const all = entries.map(both);
      const by = (name: 'position' | 'words') => all.toSorted((a, b) => (a[name] < b[name] ? -1 : 1));
      expect(by('position').map(({ words }) => words)).toEqual(by('words').map(({ words }) => words));
      for (const { position } of all) expect(position).toMatch(LOG_POSITION);
    }),
  );
});

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
