/**
 * The checks at the end: every accepted message was delivered or is logged as failed, the counters and logs of the
 * service equal the book, and no entry is pending.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type Direction, directions } from '../../shared/outbox/event.ts';
import type { State } from '../../shared/outbox/message.ts';
import { oldestEntries, readHead } from '../../shared/outbox/outbox.ts';
import { type Book, type Conversation, nameOf } from './book.ts';
import type { Account } from './world.ts';

interface Checked {
  baseUrl: string;
  book: Book;
  conversations: Conversation[];
  accounts: Map<string, Account>;
  /** The ids of messages that were reported as shown on phones. */
  shown: Set<string>;
}

/** The state of a failed message by direction. */
const FAILED: Partial<Record<Direction, State>> = { app: 'sending_failed', platform: 'reception_failed_http' };

/** Milliseconds without a change until counters are final, and between reads. */
const PATIENCE = { still: 20_000, look: 1_000 };

/** Counts by key. */
type Counts = Map<string, number>;

const countBy = <T>(items: Iterable<T>, wordsOf: (item: T) => string): Counts => {
  const counts: Counts = new Map();
  for (const item of items) counts.set(wordsOf(item), (counts.get(wordsOf(item)) ?? 0) + 1);
  return counts;
};

/** Descriptions of the counts that differ. */
const differences = (what: string, expected: Counts, found: Counts): string[] =>
  [...new Set([...expected.keys(), ...found.keys()])]
    .filter((words) => expected.get(words) !== found.get(words))
    .map((words) => `${what} of ${words}: ${found.get(words) ?? 0}, and not ${expected.get(words) ?? 0}`);

/** Runs all checks. Returns a description of each error. */
export const check = async (checked: Checked): Promise<string[]> => {
  const { book, conversations } = checked;
  const logged = await logsOf(checked);
  const wrong = [...missingIn(book, logged), ...untold(checked)];
  wrong.push(...differences('Log entries', expectedLogs(checked, logged), logged));
  wrong.push(...differences('Counted', byAccount(logged), await countersLike(byAccount(logged), checked)));
  for (const direction of directions) {
    for (let start = 0; start < conversations.length; start += TOGETHER) {
      const some = conversations.slice(start, start + TOGETHER).map((one) => leftIn(one, direction));
      wrong.push(...(await Promise.all(some)).filter((left) => left !== undefined));
    }
  }
  return wrong;
};

/** The number of outboxes that are read at the same time. */
const TOGETHER = 20;

const leftIn = async ({ account, phone }: Conversation, direction: Direction): Promise<string | undefined> => {
  const conversation = { account, phone, direction };
  const [head, { entries }] = await Promise.all([readHead(conversation), oldestEntries(conversation)]);
  if (head === undefined && entries.length === 0) return undefined;
  const what = `${entries.length} entries and ${head ? 'a' : 'no'} head`;
  return `The outbox of ${phone} and ${account}, to the ${direction}, has ${what}.`;
};

/** Messages that were not accepted, and accepted messages that were neither delivered nor logged as failed. */
export const missingIn = (book: Book, logged: Counts): string[] => {
  const refused = book.messages.filter(({ accepted }) => accepted === undefined);
  const missing = book.messages.filter(({ accepted, taken }) => accepted !== undefined && taken === undefined);
  const failed = new Map(logged);
  const lost = missing.filter(({ conversation: { account, phone }, direction }) => {
    const words = `${account} ${phone} ${FAILED[direction]}`;
    const left = failed.get(words) ?? 0;
    failed.set(words, left - 1);
    return left <= 0;
  });
  return [
    ...refused.map((message) => `${nameOf(message)} was never accepted.`),
    ...lost.map((message) => `${nameOf(message)} was accepted and never came.`),
  ];
};

/** Statuses that platforms should have received but did not, and statuses that they should not have received. */
const untold = ({ book, shown }: Checked): string[] => {
  const taken = book.messages.filter((one) => one.direction === 'app' && one.taken !== undefined);
  const expected = new Set([
    ...taken.map(({ id }) => `${id} delivered_to_server`),
    ...[...shown].map((id) => `${id} delivered_to_user`),
  ]);
  return [
    ...[...expected].filter((one) => !book.states.has(one)).map((one) => `No platform was told: ${one}`),
    ...[...book.states.keys()].filter((one) => !expected.has(one)).map((one) => `A platform was told: ${one}`),
  ];
};

/** The expected log entries by account, phone and state. Failures are copied from the log. */
const expectedLogs = ({ book, shown }: Checked, logged: Counts): Counts => {
  const entries = book.messages.flatMap(({ conversation: { account, phone }, direction, taken, id = '' }) =>
    [
      direction === 'app' ? 'sent' : 'received',
      ...(direction === 'app' && taken !== undefined ? ['delivered_to_server'] : []),
      ...(shown.has(id) ? ['delivered_to_user'] : []),
    ].map((state) => `${account} ${phone} ${state}`),
  );
  const failures = [...logged].filter(([words]) => words.endsWith('_failed') || words.endsWith('_http'));
  return new Map([...countBy(entries, (words) => words), ...failures]);
};

const byAccount = (logged: Counts): Counts => {
  const sums: Counts = new Map();
  for (const [words, count] of logged) {
    const name = words.replace(/ \d+ /, ' ');
    sums.set(name, (sums.get(name) ?? 0) + count);
  }
  return sums;
};

const ask = async (url: string, token: string): Promise<Response> => {
  for (let left = 10; ; left -= 1) {
    const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
    if (response.ok) return response;
    if (left === 0 || response.status < 500) throw new Error(`${url} answered ${response.status}.`);
    await pause(PATIENCE.look);
  }
};

/** All log entries from the API, counted by account, phone and state. */
const logsOf = async ({ baseUrl, accounts }: Checked): Promise<Counts> => {
  const found: string[] = [];
  for (const [account, { token }] of accounts) {
    for (let path: string | undefined = '/v1/stats/logs?limit=1000'; path !== undefined; ) {
      const response: Response = await ask(new URL(path, baseUrl).href, token);
      const entries = response.status === 204 ? [] : ((await response.json()) as { contact: string; state: string }[]);
      found.push(...entries.map(({ contact, state }) => `${account} ${contact.split('@')[0]} ${state}`));
      path = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
    }
  }
  return countBy(found, (words) => words);
};

/** The job counters by account and state, as soon as they are as expected or no longer change. */
const countersLike = async (expected: Counts, checked: Checked): Promise<Counts> => {
  let last = '';
  let still = Date.now();
  for (;;) {
    const found = await countersOf(checked);
    if (differences('', expected, found).length === 0) return found;
    const state = JSON.stringify([...found]);
    if (state !== last) still = Date.now();
    if (Date.now() - still > PATIENCE.still) return found;
    last = state;
    await pause(PATIENCE.look);
  }
};

const countersOf = async ({ baseUrl, accounts }: Checked): Promise<Counts> => {
  const day = (milliseconds: number): string => new Date(milliseconds).toISOString().slice(0, 10);
  const sums: Counts = new Map();
  for (const [account, { token }] of accounts) {
    const period = `start_date=${day(Date.now() - 2 * 86_400_000)}&end_date=${day(Date.now() + 86_400_000)}`;
    const response = await ask(`${baseUrl}/v1/stats/jobs?${period}`, token);
    const rows = response.status === 204 ? [] : ((await response.json()) as { state: string; count: number }[]);
    for (const { state, count } of rows) {
      sums.set(`${account} ${state}`, (sums.get(`${account} ${state}`) ?? 0) + count);
    }
  }
  return sums;
};
