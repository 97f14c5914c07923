/** Wake-ups, as the queue gets them. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { readWakeUp, returnAfterPause, returnSoon, type WakeUp, wake } from '../../../shared/delivery/wake-ups.ts';
import type { Conversation } from '../../../shared/messaging/events.ts';
import { conversationName, headKey } from '../../../shared/table/keys.ts';
import { traced } from '../../../shared/telemetry/trace.ts';
import { useFakeQueue } from '../support/fake-queue.ts';

const queue = useFakeQueue();

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const conversations: fc.Arbitrary<Conversation> = fc.record({
  direction: fc.constantFrom('app', 'platform'),
  account: fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$/),
  phone: fc.stringMatching(/^[0-9]{7,15}$/),
});

/** Wake-ups of these conversations, each to be told from the others. */
const wakeUpsOf = (...given: Conversation[]): WakeUp[] =>
  given.map((conversation, place) => ({ conversation, once: `once-${place}` }));

const phones = (count: number): string[] => Array.from({ length: count }, (_, place) => `2782${1_000_000 + place}`);

const ofPhones = (count: number, direction: Conversation['direction'] = 'platform') =>
  wakeUpsOf(...phones(count).map((phone) => ({ direction, account: 'acme', phone })));

const groups = () => new Set(queue.taken.map(({ MessageGroupId }) => MessageGroupId));

describe('wake-ups are sent', () => {
  test('ten a call, all of them, each once', async () => {
    const wakeUps = ofPhones(123);
    await wake(wakeUps);
    expect(queue.calls.map(({ length }) => length).sort()).toEqual([...Array(12).fill(10), 3].sort());
    expect(queue.taken.map(({ MessageDeduplicationId }) => MessageDeduplicationId).sort()).toEqual(
      wakeUps.map(({ once }) => once).sort(),
    );
  });

  test('with the trace of what they are for, else the current one', async () => {
    const [own, other] = [ofPhones(1), ofPhones(1, 'app')];
    await traced('trace-2', () => wake([...own.map((one) => ({ ...one, trace_id: 'trace-1' })), ...other]));
    expect(queue.taken.map(({ MessageBody }) => readWakeUp(MessageBody).trace_id)).toEqual(['trace-1', 'trace-2']);
  });

  test('not at all where there are none', async () => {
    await wake([]);
    expect(queue.calls).toEqual([]);
  });

  test('and read back as what they were, whatever the conversation', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(conversations, { minLength: 1, maxLength: 12 }), async (given) => {
        queue.taken.length = 0;
        await wake(wakeUpsOf(...given));
        const read = queue.taken.map(({ MessageDeduplicationId, MessageBody }) => [
          MessageDeduplicationId,
          readWakeUp(MessageBody).conversation,
        ]);
        expect(Object.fromEntries(read)).toEqual(
          Object.fromEntries(given.map((conversation, place) => [`once-${place}`, conversation])),
        );
      }),
      { numRuns: 50 },
    );
  });
});

describe('a group', () => {
  test("is of one account and direction, and a conversation's always, whatever is sent beside it", async () => {
    const groupOf = new Map<string, string>();
    const ownerOf = new Map<string, string>();
    await fc.assert(
      fc.asyncProperty(fc.array(conversations, { minLength: 1, maxLength: 12 }), async (given) => {
        queue.taken.length = 0;
        // Twice, in another order and with other texts.
        await wake(wakeUpsOf(...given, ...given.toReversed()));
        for (const { MessageBody, MessageGroupId } of queue.taken) {
          const { conversation } = readWakeUp(MessageBody);
          const { direction, account } = conversation;
          const before = groupOf.get(conversationName(conversation)) ?? MessageGroupId;
          expect(MessageGroupId).toBe(before);
          groupOf.set(conversationName(conversation), before);
          const owner = ownerOf.get(MessageGroupId) ?? `${direction} ${account}`;
          expect(`${direction} ${account}`).toBe(owner);
          ownerOf.set(MessageGroupId, owner);
        }
      }),
      { numRuns: 50 },
    );
  });

  test.each([
    ['platform', 500, 16],
    ['app', 4_000, 256],
  ] as const)('is one of few for an account: to the %s, %i conversations have %i', async (direction, count, most) => {
    await wake(ofPhones(count, direction));
    expect(queue.taken).toHaveLength(count);
    expect(groups().size).toBe(most);
  });
});

test("names are within SQS's limits for the longest account and number, also as sweep gives them", async () => {
  const longest = { account: 'a'.repeat(40), phone: '9'.repeat(15) };
  for (const direction of ['app', 'platform'] as const) {
    const conversation = { direction, ...longest };
    const { pk } = headKey(conversationName(conversation));
    await wake([{ conversation, once: `${pk}#${new Date(Date.UTC(9999, 0)).toISOString()}` }]);
  }
  // The queue refuses what is too long, and ids with characters that it does not take.
  expect(queue.taken).toHaveLength(2);
});

test('the queue of these tests refuses a name that SQS would refuse', async () => {
  const [wakeUp] = ofPhones(1);
  if (wakeUp === undefined) throw new Error('There is no wake-up.');
  await expect(wake([{ ...wakeUp, once: 'x'.repeat(129) }])).rejects.toThrow();
  await expect(wake([{ ...wakeUp, once: 'a space' }])).rejects.toThrow();
});

describe('what the queue does not take', () => {
  test('is sent again, and nothing else', async () => {
    const refused = new Set(['once-3', 'once-7', 'once-12']);
    queue.takes = ({ MessageDeduplicationId }) => !refused.delete(MessageDeduplicationId);
    await wake(ofPhones(15));
    const sent = queue.calls.map((entries) => entries.map(({ MessageDeduplicationId }) => MessageDeduplicationId));
    expect(sent.slice(2).sort()).toEqual([['once-12'], ['once-3', 'once-7']]);
    expect(queue.taken).toHaveLength(15);
  });

  test('keeps text, group and name when it is sent again', async () => {
    let refusals = 2;
    queue.takes = () => {
      refusals -= 1;
      return refusals < 0;
    };
    await wake(ofPhones(1));
    const [first] = queue.calls;
    expect(queue.calls).toEqual([first, first, first]);
  });

  test('fails permanently with an error after four times, though the rest was taken', async () => {
    queue.takes = ({ MessageDeduplicationId }) => MessageDeduplicationId !== 'once-1';
    await expect(wake(ofPhones(3))).rejects.toThrow('did not take all');
    expect(queue.calls.map(({ length }) => length)).toEqual([3, 1, 1, 1]);
    expect(queue.taken).toHaveLength(2);
  });

  test('is an error at once where the queue refuses the call', async () => {
    queue.down = true;
    await expect(wake(ofPhones(3))).rejects.toThrow();
    expect(queue.calls).toEqual([]);
  });
});

test('a wake-up that failed comes again in 5 s', async () => {
  await returnSoon('handle-1');
  expect(queue.returned).toEqual([{ ReceiptHandle: 'handle-1', VisibilityTimeout: 5 }]);
});

describe('a wake-up that meets a pause of its receiver', () => {
  const NOW = Date.UTC(2030, 0, 1);

  /** Received so often, this many seconds after it was sent. */
  const received = (times: number, age: number) => ({
    receiptHandle: 'handle-1',
    attributes: {
      ApproximateReceiveCount: String(times),
      SentTimestamp: String(NOW - age * 1_000),
      SenderId: '',
      ApproximateFirstReceiveTimestamp: '',
    },
  });

  beforeEach(() => void vi.useFakeTimers({ now: NOW, toFake: ['Date'] }));

  afterEach(() => void vi.useRealTimers());

  test.each([
    [60_000, 61],
    [1_500, 2],
    [999, 1],
    [0, 1],
    [-5, 1],
  ])('comes again within a second after it: in %i ms, after %i s', async (wait, seconds) => {
    expect(await returnAfterPause(received(1, 0), NOW + wait)).toBe(true);
    expect(queue.returned).toEqual([{ ReceiptHandle: 'handle-1', VisibilityTimeout: seconds }]);
  });

  test.each([
    ['was received three times', 3, 0, 60, true],
    ['was received four times: the fifth leads to the dead letters', 4, 0, 60, false],
    ['will be three minutes old', 1, 120, 60, true],
    ['will be older, as the alarm on the age of the queue counts', 1, 121, 60, false],
    ['would wait for ten minutes', 1, 0, 600, false],
  ])('stays on the queue or not, where it %s', async (_, times, age, wait, stays) => {
    expect(await returnAfterPause(received(times, age), NOW + wait * 1_000)).toBe(stays);
    expect(queue.returned).toHaveLength(stays ? 1 : 0);
  });

  test('is left to sweep where the queue fails', async () => {
    queue.down = true;
    expect(await returnAfterPause(received(1, 0), NOW + 1_000)).toBe(false);
  });
});

test.each([
  ['', 'nothing'],
  ['{', 'half of JSON'],
  ['null', 'null'],
  ['"app#acme#27821234567"', 'a text'],
  ['{"account":"acme","phone":"27821234567"}', 'no direction'],
  ['{"direction":"up","account":"acme","phone":"27821234567"}', 'another direction'],
  ['{"direction":"app","phone":"27821234567"}', 'no account'],
  ['{"direction":"app","account":"acme","phone":27821234567}', 'a number that is no text'],
])('a wake-up is an error that says %s (%s)', (body) => {
  expect(() => readWakeUp(body)).toThrow();
});
