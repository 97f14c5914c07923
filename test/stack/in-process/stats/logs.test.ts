/**
 * Delivery logs: order, filters, limits, cursors.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { timestampOf as at } from '../../../../shared/core/clock.ts';
import { contactOf } from '../../../../shared/messaging/jids.ts';
import { type LogItem, logItem, reasonCodes, type State, states } from '../../../../shared/outbox/message.ts';
import { type LogEntry, type LogFilter, listLogs } from '../../../../shared/stats/delivery-log.ts';
import { lifetime } from '../../../support/lifetime.ts';
import { putAll } from '../../support/many-items.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { newAccountId } from '../../support/world.ts';

useOwnTable('logs');

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;

interface Wanted {
  phone?: string;
  job_id?: string;
  state?: State;
  created?: string;
  id?: string;
}

const JOB = randomUUID();
const PHONE = '27820000001';

const entry = (account: string, { phone = PHONE, job_id = JOB, state = 'sent', created, id }: Wanted): LogItem =>
  logItem(
    { id: id ?? randomUUID(), account, phone, job_id, payload_type: 'text', ...lifetime },
    state,
    created ?? at(Date.now() - MINUTE),
  );

/** The entry of an item, as a list shows it. */
const toEntry = ({ pk, created, phone, state, job_id, payload_type, reason_code: reason }: LogItem): LogEntry => ({
  id: pk.replace('MESSAGE#', ''),
  created,
  contact: contactOf(phone),
  state,
  job_id,
  payload_type,
  ...(reason && { reason }),
});

/** All entries of a list, read page by page. */
const walk = async (account: string, filter: LogFilter, limit: number): Promise<LogEntry[]> => {
  const seen: LogEntry[] = [];
  for (let after: string | undefined; ; ) {
    const { entries, next } = await listLogs(account, filter, limit, after);
    expect(entries.length).toBeLessThanOrEqual(limit);
    seen.push(...entries);
    if (next === undefined) return seen;
    after = next;
  }
};

describe('a list of log entries', () => {
  const account = newAccountId();
  const [one, two] = ['27820000001', '27820000002'];
  const [jobA, jobB] = [randomUUID(), randomUUID()];
  const items = Array.from({ length: 60 }, (_, index): LogItem => {
    const state = states[index % states.length] ?? 'sent';
    const item = entry(account, {
      phone: index % 2 === 0 ? one : two,
      job_id: index % 3 === 0 ? jobA : jobB,
      state,
      // Groups of four entries have the same time.
      created: at(Date.now() - (index - (index % 4)) * MINUTE - MINUTE),
    });
    const reason_code = reasonCodes[index % reasonCodes.length];
    return state.includes('failed') && reason_code ? { ...item, reason_code } : item;
  });
  const foreign = Array.from({ length: 5 }, () => entry(newAccountId(), { phone: one, job_id: jobA }));

  beforeAll(() => putAll([...items, ...foreign]));

  /** Newest first: by time, then message, then state. */
  const expected = (keep: (item: LogItem) => boolean): LogEntry[] =>
    items
      .filter(keep)
      .sort((a, b) => (`${a.gsi2sk}` > `${b.gsi2sk}` ? -1 : 1))
      .map(toEntry);

  test.each<[string, LogFilter, (item: LogItem) => boolean]>([
    ['nothing', {}, () => true],
    ['state', { state: 'read' }, ({ state }) => state === 'read'],
    ['contact', { phone: one }, ({ phone }) => phone === one],
    ['job', { job_id: jobA }, ({ job_id }) => job_id === jobA],
    ['job and state', { job_id: jobA, state: 'sent' }, (item) => item.job_id === jobA && item.state === 'sent'],
    ['contact and state', { phone: one, state: 'sent' }, (item) => item.phone === one && item.state === 'sent'],
    ['contact and job', { phone: two, job_id: jobB }, (item) => item.phone === two && item.job_id === jobB],
    [
      'contact, job and state',
      { phone: two, job_id: jobB, state: 'received' },
      (item) => item.phone === two && item.job_id === jobB && item.state === 'received',
    ],
  ])('a list filtered by %s contains the matching entries of the account, newest first', async (_, filter, keep) => {
    const all = expected(keep);
    expect(all.length).toBeGreaterThan(0);
    expect((await listLogs(account, filter, 1_000)).entries).toEqual(all);
    for (const limit of [1, 2, 7, all.length]) expect(await walk(account, filter, limit)).toEqual(all);
  });

  test('a list filtered by a period includes its first second, and excludes its end', async () => {
    const times = [...new Set(items.map(({ created }) => created))].sort();
    const start = Math.floor(Date.parse(`${times[3]}Z`) / 1000);
    const end = Math.floor(Date.parse(`${times[8]}Z`) / 1000);
    const within = ({ created }: LogItem) => {
      const second = Math.floor(Date.parse(`${created}Z`) / 1000);
      return second >= start && second < end;
    };
    expect((await listLogs(account, { start, end }, 1_000)).entries).toEqual(expected(within));
    expect((await listLogs(account, { start: end, end: start }, 1_000)).entries).toEqual([]);
  });

  test('a full last page has no next page', async () => {
    expect((await listLogs(account, {}, items.length)).next).toBeUndefined();
    expect((await listLogs(account, {}, items.length - 1)).next).toBeDefined();
  });
});

test('a period with fractions of a second is exact to the microsecond', async () => {
  const account = newAccountId();
  const second = Math.floor(Date.now() / SECOND) - 60;
  const created = (microseconds: string) => `${at(second * SECOND).slice(0, 19)}.${microseconds}`;
  const times = ['000000', '123455', '123456', '500000', '999999'].map(created);
  await putAll(times.map((time) => entry(account, { created: time })));
  const listed = async (start: string, end: string) => {
    const { entries } = await listLogs(
      account,
      { start: Number(`${second}${start}`), end: Number(`${second}${end}`) },
      10,
    );
    return entries.map((item) => item.created).reverse();
  };
  expect(await listed('.123456', '.5')).toEqual(times.slice(2, 3));
  expect(await listed('.0', '.999999')).toEqual(times.slice(0, 4));
  expect(await listed('.123455', '.9999999')).toEqual(times.slice(1));
});

test.each<[string, Partial<Wanted>, LogFilter]>([
  ['state', { state: 'read' }, { phone: PHONE, state: 'read' }],
  [
    'job',
    { job_id: '0190f3a0-7b1c-7d3e-8f00-00112233aabb' },
    { phone: PHONE, job_id: '0190f3a0-7b1c-7d3e-8f00-00112233aabb' },
  ],
])(
  "a page of a contact's entries is full even if the matching entries are far apart: %s",
  async (_, wanted, filter) => {
    const account = newAccountId();
    const present = Date.now() - MINUTE;
    const many = Array.from({ length: 60 }, (_, index) =>
      entry(account, { ...(index > 20 && index % 3 === 0 && wanted), created: at(present - index * SECOND) }),
    );
    await putAll(many);
    const { entries, next } = await listLogs(account, filter, 10);
    expect(entries).toHaveLength(10);
    expect(next).toBeDefined();
    expect((await listLogs(account, filter, 10, next)).entries).toHaveLength(3);
  },
);

test("a page of a selective filter reads 1,000 of a contact's entries, and the next page continues", async () => {
  const account = newAccountId();
  const present = Date.now() - MINUTE;
  const many = Array.from({ length: 1_100 }, (_, index) =>
    entry(account, { state: index === 1_050 || index === 10 ? 'read' : 'sent', created: at(present - index * SECOND) }),
  );
  await putAll(many);
  const filter: LogFilter = { phone: PHONE, state: 'read' };
  const [newer, older] = [many[10], many[1_050]].map((one) => one?.created);

  const first = await listLogs(account, filter, 5);
  expect(first.entries.map(({ created }) => created)).toEqual([newer]);
  const second = await listLogs(account, filter, 5, first.next);
  expect(second.entries.map(({ created }) => created)).toEqual([older]);
  expect(second.next).toBeUndefined();
  expect(await walk(account, filter, 1)).toHaveLength(2);
});

test('a list without a start covers the last 30 days, or the 30 days before its end', async () => {
  const account = newAccountId();
  const days = [1, 29, 31, 59, 61];
  await putAll(days.map((day) => entry(account, { created: at(Date.now() - day * DAY), job_id: JOB })));
  const ages = async (filter: LogFilter) =>
    (await listLogs(account, filter, 10)).entries.map(({ created }) =>
      Math.round((Date.now() - Date.parse(`${created}Z`)) / DAY),
    );
  expect(await ages({})).toEqual([1, 29]);
  expect(await ages({ end: Math.floor((Date.now() - 30 * DAY) / 1000) })).toEqual([31, 59]);
  expect(await ages({ start: Math.floor((Date.now() - 60 * DAY) / 1000) })).toEqual([1, 29, 31, 59]);
});

test('an expired entry is not listed, even if the table still contains it', async () => {
  const account = newAccountId();
  await putAll([{ ...entry(account, {}), expires_at: Math.floor(Date.now() / 1000) - 1 }, entry(account, {})]);
  expect((await listLogs(account, {}, 10)).entries).toHaveLength(1);
});

test('a cursor lists every entry once while new entries arrive', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ age: fc.nat(30), state: fc.constantFrom(...states) }), { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 1, max: 8 }),
      fc.constantFrom<LogFilter>({}, { phone: PHONE }, { job_id: JOB }, { phone: PHONE, state: 'sent' }),
      async (drafts, limit, filter) => {
        const account = newAccountId();
        const start = Date.now() - MINUTE;
        const old = drafts.map(({ age, state }) => entry(account, { state, created: at(start - age * SECOND) }));
        await putAll(old);
        const seen: LogEntry[] = [];
        for (let after: string | undefined, pages = 0; pages < 200; pages += 1) {
          const { entries, next } = await listLogs(account, filter, limit, after);
          seen.push(...entries);
          if (next === undefined) break;
          after = next;
          await putAll([entry(account, { created: at(start + 1 + pages) })]);
        }
        const wanted = old
          .filter(({ state }) => filter.state === undefined || state === filter.state)
          .sort((a, b) => (`${a.gsi2sk}` > `${b.gsi2sk}` ? -1 : 1));
        expect(seen.map(({ created, state }) => [created, state])).toEqual(
          wanted.map(({ created, state }) => [created, state]),
        );
      },
    ),
    { numRuns: 25 },
  );
});
