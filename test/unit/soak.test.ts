/** The records of the soak test: each kind of error must be reported. */
import { expect, test } from 'vitest';
import { Book, type Conversation, eventOf, type Message, phases } from '../soak/book.ts';
import { missingIn } from '../soak/checks.ts';
import { growthOf, type Sample, spreadOf } from '../soak/figures.ts';

const conversation: Conversation = { place: 0, account: 'a', phone: '447700900001' };

const accepted = (book: Book): Message => {
  const message = book.begin(conversation, 'app');
  book.accept(message, `id ${message.number}`);
  return message;
};

const arrive = (book: Book, { number }: Message, what: { delivery?: string; phone?: string; takes?: boolean } = {}) =>
  book.arrive(`soak ${number}`, {
    delivery: `delivery ${number}`,
    direction: 'app',
    account: conversation.account,
    phone: conversation.phone,
    id: `id ${number}`,
    takes: true,
    ...what,
  });

test('messages in order cause no error, even if a destination receives one repeatedly', () => {
  const book = new Book('dead');
  const [first, second] = [accepted(book), accepted(book)];
  arrive(book, first, { takes: false });
  arrive(book, first);
  arrive(book, first);
  arrive(book, second);
  expect(book.faults).toEqual([]);
  expect(missingIn(book, new Map())).toEqual([]);
  expect([book.takenCount, book.underWay, book.repeats]).toEqual([2, 0, { untaken: 1, taken: 1 }]);
});

test('a message that arrives before an earlier one is reported', () => {
  const book = new Book('dead');
  const [first, second] = [accepted(book), accepted(book)];
  arrive(book, second);
  arrive(book, first);
  expect(book.faults).toEqual([
    expect.stringContaining('came after number 0 of its conversation'),
    expect.stringContaining('came after number 2 of its conversation'),
  ]);
});

test('a message with two delivery ids, to another number, or with another id is reported', () => {
  const book = new Book('dead');
  const [first, second, third] = [accepted(book), accepted(book), accepted(book)];
  arrive(book, first);
  arrive(book, first, { delivery: 'another' });
  arrive(book, second, { phone: '447700900002' });
  arrive(book, third);
  book.accept(third, 'another id');
  expect(book.faults).toEqual([
    expect.stringContaining('came as delivery 0 and as another'),
    expect.stringContaining('came to app a 447700900002'),
    expect.stringContaining('was answered another id'),
  ]);
});

test('an unknown message is reported, and a state reported by two events is reported as two', () => {
  const book = new Book('dead');
  arrive(book, { ...accepted(book), number: 7 });
  book.tell('id', 'read', 'one');
  book.tell('id', 'read', 'one');
  book.tell('id', 'read', 'two');
  expect(book.faults).toEqual([
    'A destination got what nobody sent: soak 7',
    expect.stringContaining('by one and by two'),
  ]);
});

test('an accepted message that never arrives is missing, unless the log contains its failure', () => {
  const book = new Book('dead');
  accepted(book);
  const [missing] = missingIn(book, new Map());
  expect(missing).toContain('was accepted and never came');
  expect(missingIn(book, new Map([['a 447700900001 sending_failed', 1]]))).toEqual([]);
});

test('a message that was never accepted is missing', () => {
  const book = new Book('dead');
  book.begin(conversation, 'platform');
  expect(missingIn(book, new Map())).toEqual([expect.stringContaining('was never accepted')]);
});

test('a message to a dead platform is not under way while the platform is dead', () => {
  const book = new Book('a');
  const message = book.begin(conversation, 'platform');
  expect(eventOf(message)).toBe('soak-0');
  const waitedFor = phases.map((phase) => {
    book.enter(phase);
    return [phase, book.underWay];
  });
  expect(Object.fromEntries(waitedFor)).toEqual({ cold: 1, before: 1, silent: 0, gone: 0, after: 1 });
});

test('a latency is the time from acceptance to delivery', () => {
  const message = { ...accepted(new Book('dead')), accepted: 1_000, taken: 1_250 };
  expect(spreadOf([message])).toEqual({ count: 1, p50: 250, p90: 250, p99: 250 });
});

test('growth is measured in the second half only', () => {
  const heaps = [900, 100, 500, 510, 520, 530];
  const samples = heaps.map((heap, place): Sample => {
    const others = {
      rss: 0,
      external: 0,
      threads: 0,
      threadHeaps: undefined,
      queues: {},
      at: 0,
      taken: 0,
      database: undefined,
    };
    return { ...others, heap, begun: place * 10 };
  });
  expect(growthOf(samples, ({ heap }) => heap)).toBeCloseTo(1);
});
