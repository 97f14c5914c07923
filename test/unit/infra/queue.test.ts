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

const open = (definition: QueueDefinition, faults: FaultInjection = {}): Queue =>
  new Queue({
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
  test('a group with a message in flight returns no other message, and other groups do', () => {
    const queue = open(fifo);
    for (const [body, group] of [
      ['a1', 'a'],
      ['a2', 'a'],
      ['b1', 'b'],
      ['b2', 'b'],
    ]) {
      send(queue, body ?? '', group);
    }
    const first = queue.receive(1).concat(queue.receive(1));
    expect(bodies(first)).toEqual(['a1', 'b1']);
    expect(queue.receive(10)).toEqual([]);
    for (const { handle } of first) queue.delete(handle);
    expect(bodies(queue.receive(10))).toEqual(['a2', 'b2']);
  });

  test('one receive returns several messages of a group in order, and the undeleted ones return in order', () => {
    const queue = open(fifo);
    for (const body of ['1', '2', '3', '4']) send(queue, body);
    const [one, two, three] = queue.receive(3);
    if (!one || !two || !three) throw new Error('There are not three messages.');
    expect(bodies([one, two, three])).toEqual(['1', '2', '3']);
    queue.delete(one.handle);
    queue.delete(three.handle);
    expect(queue.receive(10)).toEqual([]);
    time += 1_000;
    expect(bodies(queue.receive(10))).toEqual(['2', '4']);
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
    ['without a group', { group: undefined }, 'MissingParameter'],
    ['without a deduplication id', { deduplicationId: undefined }, 'InvalidParameterValue'],
    ['without a body', { body: '' }, 'MissingParameter'],
    ['of more than 1 MiB', { body: 'x'.repeat(2 ** 20 + 1) }, 'InvalidParameterValue'],
  ])('a message %s is rejected', (_, lacking, code) => {
    const draft = { body: 'text', group: 'one', deduplicationId: 'once', ...lacking };
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

  test('is hidden for the requested visibility timeout', () => {
    const queue = open(fifo);
    send(queue, 'text');
    const { handle } = receiveOne(queue);
    queue.hide(handle, 5_000);
    time += 4_999;
    expect(queue.hiddenFor(handle)).toBe(1);
    expect(queue.receive(1)).toEqual([]);
    queue.hide(handle, 0);
    expect(receiveOne(queue).message.receives).toBe(2);
  });

  test('is gone after its deletion, and a second deletion changes nothing', () => {
    const queue = open(fifo);
    send(queue, 'text');
    const { handle } = receiveOne(queue);
    queue.delete(handle);
    queue.delete(handle);
    time += 1_000;
    expect(queue.counts()).toEqual({ visible: 0, inFlight: 0 });
  });

  test('that is taken back is visible again and counts no receive', () => {
    const queue = open(fifo);
    send(queue, 'text');
    queue.takeBack(receiveOne(queue).handle);
    expect(receiveOne(queue).message.receives).toBe(1);
  });

  test('cannot be hidden or deleted with an expired receipt handle', () => {
    const queue = open(fifo);
    send(queue, 'text');
    const { handle: stale } = receiveOne(queue);
    time += 1_000;
    const use = [() => queue.hide(stale, 1), () => queue.delete(stale)];
    for (const attempt of use) expect(attempt).toThrow(expect.objectContaining({ code: 'InvalidParameterValue' }));
    const { handle } = receiveOne(queue);
    for (const attempt of use) expect(attempt).toThrow(expect.objectContaining({ code: 'InvalidParameterValue' }));
    queue.takeBack(stale);
    expect(queue.hiddenFor(stale)).toBe(0);
    expect(queue.hiddenFor(handle)).toBe(1_000);
    expect(() => queue.hide('nonsense', 1)).toThrow(expect.objectContaining({ code: 'ReceiptHandleIsInvalid' }));
  });
});

describe('a message received more often than allowed', () => {
  const strict = { ...fifo, deadLetters: { queue: 'Dead', receives: 2 } };

  const fail = (queue: Queue): string => {
    const { message } = receiveOne(queue);
    time += 1_000;
    return message.body;
  };

  test('goes to the dead-letter queue, and its group continues', () => {
    const queue = open(strict);
    for (const body of ['1', '2']) send(queue, body);
    expect([fail(queue), fail(queue)]).toEqual(['1', '1']);
    expect(receiveOne(queue).message.body).toBe('2');
    expect(deadLetters).toMatchObject([{ body: '1', group: 'one', deduplicationId: '1', receives: 2 }]);
  });

  test('that is deleted at the last receive does not go to the dead-letter queue', () => {
    const queue = open(strict);
    send(queue, '1');
    fail(queue);
    queue.delete(receiveOne(queue).handle);
    time += 1_000;
    expect(queue.counts()).toEqual({ visible: 0, inFlight: 0 });
    expect(deadLetters).toEqual([]);
  });

  test('keeps group, order and source queue in the dead-letter queue', () => {
    const queue = open(strict);
    const dead = open({ ...fifo, id: 'Dead' });
    for (const body of ['1', '2']) send(queue, body);
    for (let times = 0; times < 4; times += 1) fail(queue);
    expect(queue.counts()).toEqual({ visible: 0, inFlight: 0 });
    for (const message of deadLetters) dead.inherit(message, 'arn:queue');
    expect(receiveOne(dead).message).toMatchObject({ body: '1', group: 'one', source: 'arn:queue' });
    expect(dead.receive(1)).toEqual([]);
  });
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

describe('fault injection', () => {
  const always = () => true;

  test('makes the queue reject a message, which can be sent again', () => {
    let refusing = true;
    const queue = open(fifo, { refuseMessage: () => refusing });
    expect(() => send(queue, '1')).toThrow(expect.objectContaining({ code: 'ServiceUnavailable' }));
    refusing = false;
    send(queue, '1');
    expect(bodies(queue.receive(1))).toEqual(['1']);
  });

  test('makes the queue lose an accepted message and discard its repeat', () => {
    const messages: unknown[] = [];
    const queue = open(fifo, { loseMessage: (message) => messages.push(message) > 0 });
    expect(send(queue, '1')).toEqual(send(queue, '1'));
    expect(queue.counts()).toEqual({ visible: 0, inFlight: 0 });
    expect(messages).toEqual([{ queue: 'Queue', group: 'one', body: '1' }]);
  });

  test('makes a deleted message return once, after the pending ones', () => {
    const queue = open(fifo, { repeatMessage: always });
    for (const body of ['1', '2']) send(queue, body);
    const order = Array.from({ length: 4 }, () => {
      const { message, handle } = receiveOne(queue);
      queue.delete(handle);
      return [message.body, message.receives];
    });
    expect(order).toEqual([
      ['1', 1],
      ['2', 1],
      ['1', 1],
      ['2', 1],
    ]);
    expect(queue.counts()).toEqual({ visible: 0, inFlight: 0 });
  });
});

test('with any sequence of receives, deletions and timeouts, each message is handled once, in the order of its group', () => {
  const step = fc.record({ do: fc.constantFrom('receive', 'delete', 'leave', 'wait'), which: fc.nat(20) });
  fc.assert(
    fc.property(fc.array(fc.nat(3), { maxLength: 15 }), fc.array(step, { maxLength: 80 }), (groups, steps) => {
      const queue = open(fifo);
      for (const [place, group] of groups.entries()) send(queue, String(place), String(group));
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

      const expected = Map.groupBy(groups.keys(), (place) => String(groups[place]));
      const actual = Map.groupBy(handled, ({ group }) => group ?? '');
      expect([...actual.keys()].sort()).toEqual([...expected.keys()].sort());
      for (const [group, places] of expected)
        expect(actual.get(group)?.map(({ body }) => Number(body))).toEqual(places);
    }),
  );
});
