/** Which requests with a known id and content are repeats, equal parts of one message, or a Resend. */
import { expect, test } from 'vitest';
import { type CopyState, decide, type Repeats } from '../../../shared/messaging/repeats.ts';

/**
 * Bytes of a text long enough to be a part of a longer text, of a text too short for that, and the limit between them.
 */
const LONG = 2_048;
const SHORT = 20;
const LEAST_PART = 54;

/** An event, with its time in seconds from the start. */
type Step =
  /** A request arrives, with the expected decision, and the place and generation of its copy. */
  | [seconds: number, request: string, expected: 'sent' | 'repeat', place: number, generation: number]
  /** The copy of the given send, counted from 0, fails or is delivered. */
  | [seconds: number, state: 'fails' | 'is delivered', send: number];

/** Plays the events of one message of a platform, and checks the decision for each request. */
const play = async (steps: Step[], bytes: number): Promise<void> => {
  const sends: ({ key: string; generation: number; failedAt?: number } & CopyState)[] = [];
  let repeats: Repeats = { generation: 0, last: 0, replaced: [], contents: {} };
  for (const [seconds, what, ...rest] of steps) {
    const at = 1_000_000 + seconds * 1_000;
    if (what === 'fails' || what === 'is delivered') {
      const send = sends[Number(rest[0])];
      if (send === undefined) throw new Error('It was not sent.');
      send.hasFailed = what === 'fails';
      if (what === 'fails') send.failedAt = at;
      continue;
    }
    const keyOf = ({ place, generation }: { place: number; generation: number }) => `${what} ${place} ${generation}`;
    const first = { action: 'send' as const, copy: { place: 0, generation: 0 }, repeats };
    const isKnown = sends.some(({ key }) => key === keyOf(first.copy));
    // A failure is reported half a second later.
    const failedAt = sends.find(
      ({ generation, failedAt: time }) => generation === repeats.generation && time,
    )?.failedAt;
    const failureReported = failedAt !== undefined && failedAt + 500 <= at ? failedAt + 500 : undefined;
    const request = { content: what, arrived: at, bytes, leastPart: LEAST_PART, failureReported };
    const look = async (copy: { place: number; generation: number }): Promise<CopyState> => {
      const found = sends.findLast(({ key }) => key === keyOf(copy));
      if (found === undefined) throw new Error(`${keyOf(copy)} was never sent.`);
      return found;
    };
    const { action, copy, repeats: next } = isKnown ? await decide(repeats, request, look) : first;
    repeats = next;
    // A message is accepted 30 ms after its request arrives.
    if (action === 'send') sends.push({ key: keyOf(copy), generation: copy.generation, accepted: at + 30 });
    const [expected, place, generation] = rest;
    expect([seconds, what, action === 'send' ? 'sent' : 'repeat', copy.place, copy.generation]).toEqual([
      seconds,
      what,
      expected,
      place,
      generation,
    ]);
  }
};

const x = 'x';
const y = 'y';
const MINUTE = 60;

test.each<[string, Step[]]>([
  [
    'two equal parts are both sent',
    [
      [0, x, 'sent', 0, 0],
      [0.3, x, 'sent', 1, 0],
    ],
  ],
  [
    'equal parts that are not next to each other are all sent',
    [
      [0, x, 'sent', 0, 0],
      [0.3, y, 'sent', 0, 0],
      [0.6, x, 'sent', 1, 0],
      [0.9, y, 'sent', 1, 0],
      [1.2, x, 'sent', 2, 0],
    ],
  ],
  [
    'if the response to one part is lost, all parts are repeated after 5, 10 and 15 minutes, and none is sent again',
    [
      [0, x, 'sent', 0, 0],
      [5 * MINUTE, x, 'repeat', 0, 0],
      [15 * MINUTE, x, 'repeat', 0, 0],
      [30 * MINUTE, x, 'repeat', 0, 0],
    ],
  ],
  [
    'if the response to the second of two equal parts is lost, neither is sent again',
    [
      [0, x, 'sent', 0, 0],
      [0.3, x, 'sent', 1, 0],
      [5 * MINUTE, x, 'repeat', 0, 0],
      [5 * MINUTE + 0.3, x, 'repeat', 1, 0],
    ],
  ],
  [
    'if the response to the first of two equal parts is lost, the second is sent when all parts are repeated',
    [
      [0, x, 'sent', 0, 0],
      [5 * MINUTE, x, 'repeat', 0, 0],
      [5 * MINUTE + 0.3, x, 'sent', 1, 0],
      [15 * MINUTE, x, 'repeat', 0, 0],
      [15 * MINUTE + 0.3, x, 'repeat', 1, 0],
    ],
  ],
  [
    'if the second of two equal parts did not arrive, it is sent when all parts are repeated',
    [
      [0, x, 'sent', 0, 0],
      [30 + 5 * MINUTE, x, 'repeat', 0, 0],
      [30.3 + 5 * MINUTE, x, 'sent', 1, 0],
    ],
  ],
  [
    'a request that arrived before the first was accepted is a repeat, even of a long text',
    [
      [0, x, 'sent', 0, 0],
      [0.01, x, 'repeat', 0, 0],
      [0.02, x, 'repeat', 0, 0],
      [0.3, x, 'sent', 1, 0],
    ],
  ],
  [
    'limit: an immediate repeat of a long text counts as an equal part, so that no part is lost',
    [
      [0, x, 'sent', 0, 0],
      [0.1, x, 'sent', 1, 0],
    ],
  ],
  [
    'limit: if courier 8.2.1 repeats only the second of two equal parts, and it did not arrive before, it is not sent',
    [
      [0, x, 'sent', 0, 0],
      [5 * MINUTE, x, 'repeat', 0, 0],
    ],
  ],
  [
    'Resend of a pending message sends nothing',
    [
      [0, x, 'sent', 0, 0],
      [2 * MINUTE, x, 'repeat', 0, 0],
    ],
  ],
  [
    'Resend of a delivered message sends nothing, even if a failure was reported before',
    [
      [0, x, 'sent', 0, 0],
      [1, 'fails', 0],
      [2, 'is delivered', 0],
      [2 * MINUTE, x, 'repeat', 0, 0],
    ],
  ],
  [
    'Resend of a failed message sends a new message after each failure',
    [
      [0, x, 'sent', 0, 0],
      [1, 'fails', 0],
      [2 * MINUTE, x, 'sent', 0, 1],
      [2 * MINUTE + 1, 'fails', 1],
      [4 * MINUTE, x, 'sent', 0, 2],
      [6 * MINUTE, x, 'repeat', 0, 2],
    ],
  ],
  [
    'Resend within a minute is not an equal part',
    [
      [0, x, 'sent', 0, 0],
      [1, 'fails', 0],
      [20, x, 'sent', 0, 1],
      [21, 'fails', 1],
      [40, x, 'sent', 0, 2],
    ],
  ],
  [
    'Resend of two equal parts sends both, in one generation',
    [
      [0, x, 'sent', 0, 0],
      [0.3, x, 'sent', 1, 0],
      [1, 'fails', 0],
      [1, 'fails', 1],
      [20, x, 'sent', 0, 1],
      [20.3, x, 'sent', 1, 1],
    ],
  ],
  [
    'Resend of two equal parts, one of them delivered, sends the failed part',
    [
      [0, x, 'sent', 0, 0],
      [0.3, x, 'sent', 1, 0],
      [1, 'is delivered', 0],
      [1, 'fails', 1],
      [5 * MINUTE, x, 'repeat', 0, 0],
      [5 * MINUTE + 0.3, x, 'sent', 1, 1],
    ],
  ],
  [
    'Resend of different parts sends the failed parts, in one generation',
    [
      [0, x, 'sent', 0, 0],
      [0.3, y, 'sent', 0, 0],
      [1, 'fails', 0],
      [1, 'fails', 1],
      [2 * MINUTE, x, 'sent', 0, 1],
      [2 * MINUTE + 0.3, y, 'sent', 0, 1],
      [2 * MINUTE + 1, 'fails', 2],
      [4 * MINUTE, x, 'sent', 0, 2],
      [4 * MINUTE + 0.3, y, 'repeat', 0, 1],
    ],
  ],
  [
    'Resend at once of two equal parts, the first of which failed, sends that one only',
    [
      [0, x, 'sent', 0, 0],
      [0.3, x, 'sent', 1, 0],
      [1, 'fails', 0],
      [1.6, x, 'sent', 0, 1],
      [1.9, x, 'repeat', 1, 0],
    ],
  ],
  [
    'an equal part directly after a failed part is a part, not a Resend',
    [
      [0, x, 'sent', 0, 0],
      [0.2, 'fails', 0],
      [0.3, x, 'sent', 1, 0],
    ],
  ],
  [
    'if the response to a Resend is lost, its repeat is not sent again',
    [
      [0, x, 'sent', 0, 0],
      [1, 'fails', 0],
      [2 * MINUTE, x, 'sent', 0, 1],
      [7 * MINUTE, x, 'repeat', 0, 1],
    ],
  ],
])('long text: %s', async (_, steps) => {
  await play(steps, LONG);
});

test.each<[string, Step[]]>([
  [
    'a request within seconds is a repeat, never an equal part',
    [
      [0, x, 'sent', 0, 0],
      [0.3, x, 'repeat', 0, 0],
      [0.6, x, 'repeat', 0, 0],
      [5 * MINUTE, x, 'repeat', 0, 0],
      [5 * MINUTE + 0.3, x, 'repeat', 0, 0],
    ],
  ],
  [
    'a Resend at once after the report of the failure sends a new message, and so does a request before the report',
    [
      [0, x, 'sent', 0, 0],
      [1, 'fails', 0],
      [1.5, x, 'sent', 0, 1],
      [1.7, x, 'repeat', 0, 1],
      [2, 'fails', 1],
      [2.1, x, 'sent', 0, 2],
      [3, 'fails', 2],
      [2 * MINUTE, x, 'sent', 0, 3],
    ],
  ],
])('short text: %s', async (_, steps) => {
  await play(steps, SHORT);
});

test('equal parts add up to at most 64 KB, so that endless repeats are not sent endlessly', async () => {
  const requests = (from: number, count: number, action: 'sent' | 'repeat'): Step[] =>
    Array.from({ length: count }, (_, place) => [from + place, x, action, action === 'sent' ? place : 31, 0]);
  await play([...requests(0, 32, 'sent'), ...requests(32, 10, 'repeat')], LONG);
});
