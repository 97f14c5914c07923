/** What a soak finds: its book is told of what should not be, and must not let it pass. */
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

test('messages that come in order are all well, however often a destination got one', () => {
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

test('one that comes before an earlier one is told', () => {
  const book = new Book('dead');
  const [first, second] = [accepted(book), accepted(book)];
  arrive(book, second);
  arrive(book, first);
  expect(book.faults).toEqual([
    expect.stringContaining('came after number 0 of its conversation'),
    expect.stringContaining('came after number 2 of its conversation'),
  ]);
});

test('one that comes as two deliveries, to another number, or under another id is told', () => {
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

test('one that nobody sent is told, and a state that is told twice as two', () => {
  const book = new Book('dead');
  arrive(book, { ...accepted(book), number: 7 });
  book.tell('id', 'read', 'one');
  book.tell('id', 'read', 'one');
  book.tell('id', 'read', 'two');
  expect(book.faults).toEqual([
    'A receiver got what nobody sent: soak 7',
    expect.stringContaining('by one and by two'),
  ]);
});

test('one that never came is missing, unless the log says that it failed', () => {
  const book = new Book('dead');
  accepted(book);
  const [missing] = missingIn(book, new Map());
  expect(missing).toContain('was accepted and never came');
  expect(missingIn(book, new Map([['a 447700900001 sending_failed', 1]]))).toEqual([]);
});

test('one that was never accepted is missing', () => {
  const book = new Book('dead');
  book.begin(conversation, 'platform');
  expect(missingIn(book, new Map())).toEqual([expect.stringContaining('was never accepted')]);
});

test('nobody waits for what goes to a dead platform while it is dead', () => {
  const book = new Book('a');
  const message = book.begin(conversation, 'platform');
  expect(eventOf(message)).toBe('soak-0');
  const waitedFor = phases.map((phase) => {
    book.enter(phase);
    return [phase, book.underWay];
  });
  expect(Object.fromEntries(waitedFor)).toEqual({ cold: 1, before: 1, silent: 0, gone: 0, after: 1 });
});

test('a latency is from accepted to taken', () => {
  const message = { ...accepted(new Book('dead')), accepted: 1_000, taken: 1_250 };
  expect(spreadOf([message])).toEqual({ count: 1, p50: 250, p90: 250, p99: 250 });
});

test('growth is that of the second half alone', () => {
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
