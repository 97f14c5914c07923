/** The report of a soak: text for people, and `.local/soak.json` for programs. */
import { mkdir, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { localFolder } from '../../infra/operator/local-stack/stack-file.ts';
import { type Book, isFor, type Message, phases } from './book.ts';
import { growthOf, type Sample, type Spread, spreadOf, tenthsOf } from './figures.ts';
import { settings } from './settings.ts';

export const say = (line: string): void => {
  process.stdout.write(`${new Date().toISOString().slice(11, 19)}  ${line}\n`);
};

/**
 * The limits for memory growth in the second half of a run: bytes per message for the main thread's heap, and a factor
 * for the largest heap of a function's thread.
 */
const MOST_GROWTH = { main: 200, thread: 1.5 };
const HALF = 5;
/** The number of messages from which memory is judged. Before, the heap has not reached its final size. */
const MIN_MESSAGES = 10_000;

interface Measured {
  book: Book;
  samples: Sample[];
  /** The number of repeated requests, by status of the response. */
  failures: Map<number, number>;
  /** The number of late responses of the database. */
  late: number;
}

/** The groups of messages for the latencies by phase. */
const groupsOf = ({ dying }: Book): [string, (message: Message) => boolean][] => [
  ['to users', ({ direction, conversation }) => direction === 'app' && conversation.account !== dying],
  ['to platforms', ({ direction, conversation }) => direction === 'platform' && conversation.account !== dying],
  ['to users, of the one', ({ direction, conversation }) => direction === 'app' && conversation.account === dying],
  ['to its platform', (message) => isFor(dying, message)],
];

export const figuresOf = ({ book, samples, failures, late }: Measured) => {
  const { messages, repeats } = book;
  const [first, last] = [messages.at(0), messages.at(-1)];
  const seconds = ((last?.begun ?? 0) - (first?.begun ?? 0)) / 1_000;
  const tenths = tenthsOf(book, samples, (message) => !isFor(book.dying, message));
  const perMessage = growthOf(samples, ({ heap }) => heap);
  const threadGrowth = (tenths.at(-1)?.threadHeap ?? 0) / (tenths.at(HALF)?.threadHeap ?? 0);
  const isFlat = perMessage < MOST_GROWTH.main && threadGrowth < MOST_GROWTH.thread;
  return {
    date: new Date().toISOString(),
    cores: availableParallelism(),
    node: process.version,
    settings,
    accepted: messages.filter(({ accepted }) => accepted !== undefined).length,
    delivered: book.takenCount,
    states_told: book.states.size,
    repeated: { ...repeats, requests: Object.fromEntries(failures) },
    late,
    seconds: Math.round(seconds),
    rate: messages.length / seconds,
    latency: Object.fromEntries(
      groupsOf(book).map(([name, isOf]) => [
        name,
        Object.fromEntries(
          phases.map((phase) => [phase, spreadOf(messages.filter((one) => one.phase === phase && isOf(one)))]),
        ),
      ]),
    ),
    tenths,
    memory: {
      heap_bytes_per_message: perMessage,
      thread_growth: threadGrowth,
      flat: messages.length < MIN_MESSAGES || isFlat,
    },
  };
};

type Figures = ReturnType<typeof figuresOf>;

const whole = (value: number | undefined): string =>
  value === undefined || Number.isNaN(value) ? '–' : value.toFixed(0);
const megabytes = (bytes: number | undefined): string => whole(bytes === undefined ? undefined : bytes / 1024 / 1024);

/** Formats a table with aligned columns. The first row contains the headings. */
const table = (rows: string[][]): string => {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: string[]): string =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ');
  return rows.map(line).join('\n');
};

const latencyRow = (name: string, phase: string, found: Spread, before: Spread | undefined): string[] => {
  const ratio = (of: 'p50' | 'p90' | 'p99'): string => (before ? (found[of] / before[of]).toFixed(2) : '');
  const spread = [found.count, found.p50, found.p90, found.p99].map(whole);
  return [`${name}, ${phase}`, ...spread, ratio('p50'), ratio('p90'), ratio('p99')];
};

const latencyTable = ({ latency }: Figures): string =>
  table([
    ['ms from accepted to taken', 'messages', 'p50', 'p90', 'p99', 'p50 ratio', 'p90 ratio', 'p99 ratio'],
    ...Object.entries(latency).flatMap(([name, byPhase]) =>
      Object.entries(byPhase).map(([phase, found]) => latencyRow(name, phase, found, byPhase.before)),
    ),
  ]);

const tenthsTable = ({ tenths }: Figures): string =>
  table([
    ['tenth', 'a second', 'p50 ms', 'p90 ms', 'p99 ms', 'heap MB', 'threads', 'MB in one', 'RSS MB', 'database MB'],
    ...tenths.map(({ rate, latency, heap, threads, threadHeap, rss, database }, place) => [
      String(place + 1),
      rate.toFixed(1),
      ...[latency.p50, latency.p90, latency.p99].map(whole),
      (heap / 1024 / 1024).toFixed(1),
      whole(threads),
      (threadHeap / 1024 / 1024).toFixed(1),
      megabytes(rss),
      megabytes(database),
    ]),
  ]);

/** The maximum number of errors that are printed. */
const MAX_PRINTED = 40;

/** Prints the report and writes it to `.local/soak.json`. */
export const show = async (figures: Figures, wrong: string[]): Promise<void> => {
  const { accepted, delivered, states_told, repeated, late, seconds, rate, memory } = figures;
  const print = (text: string): void => void process.stdout.write(`${text}\n`);
  print(`\n${latencyTable(figures)}\n\n${tenthsTable(figures)}\n`);
  print(
    `${accepted} accepted in ${seconds} s (${rate.toFixed(1)} a second), ${delivered} delivered, ${states_told} states told`,
  );
  print(`given again before a destination took it: ${repeated.untaken}; after that: ${repeated.taken}`);
  print(
    `late answers of the database: ${late}; requests that were repeated, by status: ${JSON.stringify(repeated.requests)}`,
  );
  const growth = `${memory.heap_bytes_per_message.toFixed(0)} bytes a message in the second half`;
  print(
    `heap of the local stack's main thread: ${growth}; largest of a function: ${memory.thread_growth.toFixed(2)} times`,
  );
  if (figures.accepted >= MIN_MESSAGES) print(memory.flat ? 'Memory is flat.' : 'Memory grows.');
  for (const one of wrong.slice(0, MAX_PRINTED)) print(one);
  print(wrong.length === 0 ? 'Nothing is lost, doubled, or out of order.' : `${wrong.length} things are wrong.`);
  await mkdir(localFolder, { recursive: true });
  await writeFile(join(localFolder, 'soak.json'), `${JSON.stringify({ ...figures, wrong }, null, 2)}\n`);
};
