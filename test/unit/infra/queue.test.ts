/**
 * The emulator's queues: order, visibility timeouts, deduplication and dead letters. Only the tests advance the clock.
 */
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import type { FaultInjection } from '../../../infra/local/aws/fault-injection.ts';
import { type Message, Queue, type Received } from '../../../infra/local/aws/queues/queue.ts';
import type { QueueDefinition } from '../../../infra/local/aws/template/definitions.ts';

const MEMORY = 300_000;

const fifo: QueueDefinition = {
  id: 'Queue',
  arn: 'arn:queue',
  url: 'http://queue',
  fifo: true,
  deduplication: 'messageGroup',
  visibility: 1_000,
  deadLetters: undefined,
};

const standard: QueueDefinition = { ...fifo, fifo: false };

let time = 0;
/** Milliseconds by which the emulator's clock is ahead. */
let ahead = 0;
let deadLetters: Message[] = [];

beforeEach(() => {
  time = 1_000_000;
  ahead = 0;
  deadLetters = [];
});

const open = (definition: QueueDefinition, faults: FaultInjection = {}, delay = () => 0): Queue =>
  new Queue({
    delay,
    definition,
    memory: MEMORY,
    faultInjection: faults,
    now: () => time,
    clock: () => time + ahead,
    bury: (message) => void deadLetters.push(message),
  });

const send = (queue: Queue, body: string, group = 'one', deduplicationId = body) =>
  queue.send({ body, group, deduplicationId });

const sendPlain = (queue: Queue, body: string) => queue.send({ body, group: undefined, deduplicationId: undefined });

const bodies = (received: Received[]): string[] => received.map(({ message }) => message.body);

/** Receives the only visible message. */
const receiveOne = (queue: Queue): Received => {
  const [received, ...more] = queue.receive(1);
  if (received === undefined || more.length > 0) throw new Error('There is not exactly one message.');
  return received;
};

describe('in a FIFO queue', () => {
  test('a delayed message holds up those of its group that follow, and no other group', () => {
    const delays = [100, 10, 50];
    const queue = open(fifo, {}, () => delays.shift() ?? 0);
    send(queue, 'first');
    send(queue, 'second');
    send(queue, 'other', 'two');
    time += 50;
    expect(bodies(queue.receive(10))).toEqual(['other']);
    time += 50;
    expect(bodies(queue.receive(10))).toEqual(['first', 'second']);
  });

  test('receives alternate between groups', () => {
    const queue = open(fifo);
    for (const body of ['a1', 'a2', 'b1', 'b2']) send(queue, body, body.slice(0, 1));
    const order = Array.from({ length: 4 }, () => {
      const received = receiveOne(queue);
      queue.delete(received.handle);
      return received.message.body;
    });
    expect(order).toEqual(['a1', 'b1', 'a2', 'b2']);
  });

  test('a repeated deduplication id is discarded in its group for the deduplication time, even after the message was deleted', () => {
    const queue = open(fifo);
    const first = send(queue, 'text', 'a', 'once');
    expect(send(queue, 'other', 'a', 'once')).toEqual(first);
    expect(send(queue, 'text', 'b', 'once').id).not.toBe(first.id);
    const received = queue.receive(10);
    expect(bodies(received)).toEqual(['text', 'text']);
    for (const { handle } of received) queue.delete(handle);
    time += MEMORY - 1;
    send(queue, 'text', 'a', 'once');
    expect(queue.receive(10)).toEqual([]);
    time += 1;
    send(queue, 'text', 'a', 'once');
    expect(bodies(queue.receive(10))).toEqual(['text']);
  });

  test('with the scope of the queue, a repeated deduplication id is discarded in all groups', () => {
    const queue = open({ ...fifo, deduplication: 'queue' });
    const first = send(queue, 'text', 'a', 'once');
    expect(send(queue, 'text', 'b', 'once')).toEqual(first);
    expect(queue.counts()).toEqual({ visible: 1, inFlight: 0 });
  });

  test.each([
    ['without a body', { body: '' }, 'MissingParameter'],
    ['of more than 1 MiB', { body: 'x'.repeat(2 ** 20 + 1) }, 'InvalidParameterValue'],
  ])('a message %s is rejected', (_, lacking, code) => {
    const draft = { group: 'one', deduplicationId: 'once', ...lacking };
    expect(() => open(fifo).send(draft)).toThrow(expect.objectContaining({ code }));
  });

  test('sequence numbers increase', () => {
    const queue = open(fifo);
    const sequences = ['1', '2', '3'].map((body) => send(queue, body).sequence);
    expect(sequences).toEqual([...new Set(sequences)].sort());
  });
});

describe('a received message', () => {
  test('becomes visible again after its visibility timeout, and counts its receives', () => {
    const queue = open(fifo);
    send(queue, 'text');
    expect(receiveOne(queue).message).toMatchObject({ receives: 1, firstReceived: time });
    expect(queue.counts()).toEqual({ visible: 0, inFlight: 1 });
    time += 999;
    expect(queue.receive(1)).toEqual([]);
    time += 1;
    expect(queue.counts()).toEqual({ visible: 1, inFlight: 0 });
    expect(receiveOne(queue).message).toMatchObject({ receives: 2, firstReceived: time - 1_000 });
  });

  test('that is taken back is visible again and counts no receive', () => {
    const queue = open(fifo);
    send(queue, 'text');
    queue.takeBack(receiveOne(queue).handle);
    expect(receiveOne(queue).message.receives).toBe(1);
  });
});

test('a message that is deleted at its last receive does not go to the dead-letter queue', () => {
  const queue = open({ ...fifo, deadLetters: { queue: 'Dead', receives: 2 } });
  send(queue, '1');
  receiveOne(queue);
  time += 1_000;
  queue.delete(receiveOne(queue).handle);
  time += 1_000;
  expect(queue.counts()).toEqual({ visible: 0, inFlight: 0 });
  expect(deadLetters).toEqual([]);
});

describe('in a standard queue', () => {
  test('a message in flight blocks no other message', () => {
    const queue = open(standard);
    for (const body of ['1', '2', '3']) sendPlain(queue, body);
    expect(bodies(queue.receive(2))).toEqual(['1', '2']);
    expect(bodies(queue.receive(10))).toEqual(['3']);
    sendPlain(queue, '3');
    expect(bodies(queue.receive(10))).toEqual(['3']);
  });

  test('an expired receipt handle deletes nothing, without an error', () => {
    const queue = open(standard);
    sendPlain(queue, '1');
    const { handle } = receiveOne(queue);
    time += 1_000;
    queue.delete(handle);
    expect(queue.counts()).toEqual({ visible: 1, inFlight: 0 });
  });

  test('a message with a group is rejected', () => {
    expect(() => send(open(standard), 'text')).toThrow(expect.objectContaining({ code: 'InvalidParameterValue' }));
  });
});

test('with any sequence of receives, deletions and timeouts, each message is handled once, in the order of its group', () => {
  const step = fc.record({ do: fc.constantFrom('receive', 'delete', 'leave', 'wait'), which: fc.nat(20) });
  fc.assert(
    fc.property(fc.array(fc.nat(3), { maxLength: 15 }), fc.array(step, { maxLength: 80 }), (groups, steps) => {
      const queue = open(fifo);
      for (const [index, group] of groups.entries()) send(queue, String(index), String(group));
      const handled: Message[] = [];
      let held: Received[] = [];
      const settle = (received: Received): void => {
        queue.delete(received.handle);
        handled.push(received.message);
      };
      for (const { do: action, which } of steps) {
        if (action === 'receive') held.push(...queue.receive(1 + (which % 2)));
        if (action === 'wait') {
          time += 1_000;
          held = [];
        }
        if (action === 'delete' || action === 'leave') {
          // A consumer handles its messages in order.
          const received = held.shift();
          if (received && action === 'delete') settle(received);
          if (received && action === 'leave') {
            const { group } = received.message;
            queue.hide(received.handle, 0);
            for (const other of held) if (other.message.group === group) queue.takeBack(other.handle);
            held = held.filter(({ message }) => message.group !== group);
          }
        }
      }
      time += 1_000;
      for (let left = queue.receive(10); left.length > 0; left = queue.receive(10)) for (const one of left) settle(one);

      const expected = Map.groupBy(groups.keys(), (index) => String(groups[index]));
      const actual = Map.groupBy(handled, ({ group }) => group ?? '');
      expect([...actual.keys()].sort()).toEqual([...expected.keys()].sort());
      for (const [group, places] of expected)
        expect(actual.get(group)?.map(({ body }) => Number(body))).toEqual(places);
    }),
  );
});
