/** Wake-ups: how they are sent to the queue, grouped, repeated and returned. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { conversationName, hasReports, headKey, named } from '../../../shared/outbox/entities.ts';
import type { Conversation } from '../../../shared/outbox/event.ts';
import { readWakeUp, returnAfterPause, type WakeUp, wake } from '../../../shared/outbox/wake-ups/conversations.ts';
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
  phone: fc.stringMatching(/^[1-9][0-9]{6,14}$/),
});

/** Wake-ups of these conversations, each with its own deduplication id. */
const wakeUpsOf = (...given: Conversation[]): WakeUp[] =>
  given.map((conversation, index) => ({ conversation, once: `once-${index}` }));

const phones = (count: number): string[] => Array.from({ length: count }, (_, index) => `2782${1_000_000 + index}`);

const ofPhones = (count: number, direction: Conversation['direction'] = 'platform') =>
  wakeUpsOf(...phones(count).map((phone) => ({ direction, account: 'acme', phone })));

const groups = () => new Set(queue.taken.map(({ MessageGroupId }) => MessageGroupId));

describe('sending wake-ups', () => {
  test('123 wake-ups are sent once each, in calls of at most ten', async () => {
    const wakeUps = ofPhones(123);
    await wake(wakeUps);
    expect(queue.calls.map(({ length }) => length).sort()).toEqual([...Array(12).fill(10), 3].sort());
    expect(queue.taken.map(({ MessageDeduplicationId }) => MessageDeduplicationId).sort()).toEqual(
      wakeUps.map(({ once }) => once).sort(),
    );
  });

  test('a wake-up carries its own trace id, or the current one by default', async () => {
    const [own, other] = [ofPhones(1), ofPhones(1, 'app')];
    await traced('trace-2', () => wake([...own.map((one) => ({ ...one, trace_id: 'trace-1' })), ...other]));
    expect(queue.taken.map(({ MessageBody }) => readWakeUp(MessageBody).trace_id)).toEqual(['trace-1', 'trace-2']);
  });

  test('an empty list of wake-ups makes no call', async () => {
    await wake([]);
    expect(queue.calls).toEqual([]);
  });

  test('each wake-up reads back as the same conversation, without the number of its user', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(conversations, { minLength: 1, maxLength: 12 }), async (given) => {
        queue.taken.length = 0;
        await wake(wakeUpsOf(...given));
        const read = queue.taken.map(({ MessageDeduplicationId, MessageBody }) => [
          MessageDeduplicationId,
          readWakeUp(MessageBody).conversation,
        ]);
        expect(Object.fromEntries(read)).toEqual(
          Object.fromEntries(given.map((conversation, index) => [`once-${index}`, named(conversation)])),
        );
        expect(JSON.stringify(queue.taken)).not.toMatch(new RegExp(given.map(({ phone }) => phone).join('|')));
      }),
      { numRuns: 50 },
    );
  });
});

describe('the groups of wake-ups', () => {
  test('a conversation always has the same group, and a group has one account and direction', async () => {
    const groupOf = new Map<string, string>();
    const ownerOf = new Map<string, string>();
    await fc.assert(
      fc.asyncProperty(fc.array(conversations, { minLength: 1, maxLength: 12 }), async (given) => {
        queue.taken.length = 0;
        // Each conversation twice: the other wake-ups in the batch must not change its group.
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
  ] as const)(
    'wake-ups to the %s for %i conversations of an account use %i groups',
    { tags: 'long' },
    async (direction, count, max) => {
      await wake(ofPhones(count, direction));
      expect(queue.taken).toHaveLength(count);
      expect(groups().size).toBe(max);
    },
  );

  test('reports that are sent with pauses share no group with messages of users', async () => {
    const texts = ofPhones(500);
    await wake([
      ...texts,
      ...texts.map((one) => ({ ...one, conversation: { ...one.conversation, reports: true as const } })),
    ]);
    const shared = Map.groupBy(queue.taken, ({ MessageGroupId }) => MessageGroupId)
      .values()
      .map((group) => new Set(group.map(({ MessageBody }) => hasReports(readWakeUp(MessageBody).conversation))).size);
    expect([...shared]).toEqual(Array(32).fill(1));
  });
});

test('group and deduplication ids stay within SQS limits for the longest account and phone number', async () => {
  const longest = { account: 'a'.repeat(40), phone: '9'.repeat(15) };
  for (const direction of ['app', 'platform'] as const) {
    const conversation = { direction, ...longest };
    const { pk } = headKey(conversationName(conversation));
    await wake([{ conversation, once: `${pk}#${new Date(Date.UTC(9999, 0)).toISOString()}` }]);
  }
  // The fake queue rejects ids that are too long or contain invalid characters.
  expect(queue.taken).toHaveLength(2);
});

test('the fake queue rejects deduplication ids that SQS would reject', async () => {
  const [wakeUp] = ofPhones(1);
  if (wakeUp === undefined) throw new Error('There is no wake-up.');
  await expect(wake([{ ...wakeUp, once: 'x'.repeat(129) }])).rejects.toThrow();
  await expect(wake([{ ...wakeUp, once: 'a space' }])).rejects.toThrow();
});

describe('entries that the queue rejects', () => {
  test('only the rejected entries are sent again', async () => {
    const rejected = new Set(['once-3', 'once-7', 'once-12']);
    queue.takes = ({ MessageDeduplicationId }) => !rejected.delete(MessageDeduplicationId);
    await wake(ofPhones(15));
    const sent = queue.calls.map((entries) => entries.map(({ MessageDeduplicationId }) => MessageDeduplicationId));
    expect(sent.slice(2).sort()).toEqual([['once-12'], ['once-3', 'once-7']]);
    expect(queue.taken).toHaveLength(15);
  });

  test('a rejected entry is sent again with the same body, group and deduplication id', async () => {
    let rejections = 2;
    queue.takes = () => {
      rejections -= 1;
      return rejections < 0;
    };
    await wake(ofPhones(1));
    const [first] = queue.calls;
    expect(queue.calls).toEqual([first, first, first]);
  });

  test('an entry that the queue rejects four times causes an error, and the other entries are sent once', async () => {
    queue.takes = ({ MessageDeduplicationId }) => MessageDeduplicationId !== 'once-1';
    await expect(wake(ofPhones(3))).rejects.toThrow('did not take all');
    expect(queue.calls.map(({ length }) => length)).toEqual([3, 1, 1, 1]);
    expect(queue.taken).toHaveLength(2);
  });

  test('a rejected call causes an error, and no entry is queued', async () => {
    queue.down = true;
    await expect(wake(ofPhones(3))).rejects.toThrow();
    expect(queue.calls).toEqual([]);
  });
});

describe('a wake-up during a pause of its destination', () => {
  const NOW = Date.UTC(2030, 0, 1);

  /** A queue message that was received this many times and is this many seconds old. */
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
  ])('a pause that ends in %i ms hides the wake-up for %i s', async (wait, seconds) => {
    expect(await returnAfterPause(received(1, 0), NOW + wait, 'platform')).toBe(true);
    expect(queue.returned).toEqual([{ ReceiptHandle: 'handle-1', VisibilityTimeout: seconds }]);
  });

  test.each([
    ['a wake-up received three times stays on the queue', 3, 0, 60, true],
    [
      'a wake-up received four times leaves the queue, because the fifth failure would make it a dead letter',
      4,
      0,
      60,
      false,
    ],
    ['a wake-up that will be three minutes old stays on the queue', 1, 120, 60, true],
    [
      'a wake-up that will be older than three minutes leaves the queue, because an alarm watches the age',
      1,
      121,
      60,
      false,
    ],
    ['a wake-up during a pause of ten minutes leaves the queue', 1, 0, 600, false],
    ['a wake-up towards the app network stays on the queue for 45 s', 1, 5, 40, true, 'app' as const],
    [
      'a wake-up towards the app network leaves the queue earlier, because messages of its group must end in time',
      1,
      6,
      40,
      false,
      'app' as const,
    ],
  ])('%s', async (_, times, age, wait, stays, direction: Conversation['direction'] = 'platform') => {
    expect(await returnAfterPause(received(times, age), NOW + wait * 1_000, direction)).toBe(stays);
    expect(queue.returned).toHaveLength(stays ? 1 : 0);
  });

  test('if the queue fails, returnAfterPause returns false', async () => {
    queue.down = true;
    expect(await returnAfterPause(received(1, 0), NOW + 1_000, 'platform')).toBe(false);
  });
});

test.each([
  ['', 'nothing'],
  ['{', 'incomplete JSON'],
  ['null', 'null'],
  ['"app#acme#27821234567"', 'a JSON string'],
  ['{"account":"acme","user":"hash"}', 'no direction'],
  ['{"direction":"up","account":"acme","user":"hash"}', 'an unknown direction'],
  ['{"direction":"app","user":"hash"}', 'no account'],
  ['{"direction":"app","account":"acme","phone":"27821234567"}', 'a number in place of the hash'],
])('reading a wake-up throws for %s (%s)', (body) => {
  expect(() => readWakeUp(body)).toThrow();
});
