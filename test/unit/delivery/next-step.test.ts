/** What `deliver` does next, by what is known of a conversation. */
import { expect, test } from 'vitest';
import { SETTLED_TOGETHER } from '../../../shared/delivery/apply-result.ts';
import { type DeliveryState, nextStep, type Step } from '../../../shared/delivery/deliver.ts';
import type { Entry } from '../../../shared/outbox/event.ts';

const NOW = Date.UTC(2030, 0, 1, 12);
const DAY = 86_400_000;
const HOUR = 3_600_000;

/** An entry that was accepted so many days ago. */
const entry = (id: string, days = 0, reported?: true): Entry =>
  ({
    id,
    created: new Date(NOW - days * DAY).toISOString().slice(0, -1),
    outgoing: { type: 'message.send', message: { id, ...(reported && { reported }) } },
  }) as unknown as Entry;

/** An entry with sending hours, in UTC. */
const timed = (from: string, to: string, days = 0): Entry => {
  const one = entry('6', days);
  Object.assign(Object(one.outgoing).message, {
    phone: '27820000001',
    hours: { between: [from, to], time_zone: 'UTC' },
  });
  return one;
};

const [first, second] = [entry('1'), entry('2')];
const old = [entry('3', 4), entry('4', 4)];
const OPEN = { until: NOW + 60_000, cause: 'circuit_open' } as const;

const usual: DeliveryState = {
  entries: [first, second],
  areAll: true,
  destination: {},
  circuit: 'closed',
  waitMs: 0,
  pausesLeftMs: 8_000,
  now: NOW,
  remainingMs: 60_000,
  turn: undefined,
};

const attempt = { do: 'attempt', entry: first, pending: [second] };
const turn = NOW + 20_000;

test.each<[string, Partial<DeliveryState>, Step | object]>([
  ['entries are read first', { entries: undefined }, { do: 'read' }],
  ['the next entries are read after those that have left the outbox', { entries: [], areAll: false }, { do: 'read' }],
  ['a conversation without entries ends', { entries: [] }, { do: 'end conversation' }],
  ['the circuit is acquired before an attempt', { circuit: undefined }, { do: 'acquire' }],
  ['an entry is attempted within its hours', { entries: [timed('08:00', '12:01')] }, { do: 'attempt' }],
  [
    'an entry waits outside its hours, and its circuit is not acquired',
    { entries: [timed('18:00', '08:00'), first], circuit: undefined },
    { do: 'await hours', until: NOW + 6 * HOUR },
  ],
  [
    'an expired entry waits for its hours, too',
    { entries: [timed('11:00', '12:00', 4)], circuit: OPEN },
    { do: 'await hours', until: NOW + 23 * HOUR },
  ],
  [
    'behind an open circuit, an entry outside its hours does not fail with others',
    { entries: [...old, timed('11:00', '12:00', 5)], circuit: OPEN },
    { do: 'expire', entries: old },
  ],
  [
    'nothing waits for hours in the last twelve seconds of a worker',
    { entries: [timed('18:00', '08:00')], remainingMs: 11_999 },
    { do: 'stop' },
  ],
  ['the oldest entry is attempted', {}, attempt],
  ['nothing begins in the last twelve seconds of a worker', { remainingMs: 11_999 }, { do: 'stop' }],
  ['an attempt begins with twelve seconds left', { remainingMs: 12_000 }, attempt],
  ['entries wait for a destination', { destination: { isMissing: true } }, { ...attempt, do: 'await destination' }],
  [
    'the oldest entry is copied for endpoints, without a circuit or a turn',
    { destination: { endpoints: [] }, circuit: undefined, turn },
    { do: 'copy', entry: first, endpoints: [] },
  ],
  ['listeners are offered the oldest entry', { destination: { isPull: true } }, { ...attempt, do: 'offer' }],
  ['a turn that has not begun postpones the conversation', { turn }, { do: 'postpone', until: turn }],
  ['a probe does not wait for its turn', { turn, circuit: 'half_open' }, attempt],
  ['an open circuit schedules the retry by an attempt without a request', { turn, circuit: OPEN }, attempt],
  ['listeners need no turn', { turn, destination: { isPull: true } }, { ...attempt, do: 'offer' }],
  ['a pause before an equal entry is waited for', { waitMs: 2_000 }, { do: 'wait', ms: 2_000 }],
  ['a pause that is longer than those that are left ends the wake-up', { waitMs: 8_001 }, { do: 'stop' }],
  ['a pause that leaves too little time ends the wake-up', { waitMs: 2_000, remainingMs: 13_999 }, { do: 'stop' }],
  ['an expired entry is attempted once more', { entries: [...old, first] }, { do: 'attempt', entry: old[0] }],
  [
    'behind an open circuit, expired entries fail together',
    { entries: [...old, first], circuit: OPEN },
    { do: 'expire', entries: old },
  ],
  ['while others follow, too', { entries: old, areAll: false, circuit: OPEN }, { do: 'expire', entries: old }],
  [
    'an entry whose state is reported fails alone',
    { entries: [entry('5', 4, true), ...old], circuit: OPEN },
    { do: 'attempt' },
  ],
  [
    'a status that the platform must receive fails alone',
    { entries: old, circuit: OPEN, destination: { receiptFor: () => ({}) as never } },
    { do: 'attempt' },
  ],
  [
    'expired entries wait for a destination like others',
    { entries: old, destination: { isMissing: true } },
    { do: 'await destination' },
  ],
])('%s', (_, state, step) => {
  expect(nextStep({ ...usual, ...state })).toMatchObject(step);
});

test('entries fail together in bounded numbers', () => {
  const many = Array.from({ length: 1_000 }, (_, index) => entry(String(index), 4));
  expect(nextStep({ ...usual, entries: many, circuit: OPEN })).toMatchObject({
    entries: { length: 4 * SETTLED_TOGETHER },
  });
});
