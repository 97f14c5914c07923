/**
 * The operator's command `account stats`: figures, charts and pending entries.
 *
 * @module-tag long
 */
import { randomInt, randomUUID } from 'node:crypto';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { sortableTime } from '../../../../shared/core/clock.ts';
import { type State, states } from '../../../../shared/outbox/message.ts';
import { jobCounterKey } from '../../../../shared/stats/entities.ts';
import { call } from '../../support/client.ts';
import { putAll } from '../../support/many-items.ts';
import {
  addPendingEntries,
  inJson,
  newAccount,
  newOutgoing,
  openCircuit,
  shown,
  time,
  withColours,
} from '../../support/operator.ts';
import { newCaller, newPhone } from '../../support/world.ts';

const day = (ago: number): string => sortableTime(Date.now() - ago * 86_400_000).slice(0, 10);

interface Counter {
  state: State;
  count: number;
  ago?: number;
  job_id?: string;
  payload_type?: string;
}

/** Writes counters, as the worker of the stream does. */
const counted = (account: string, counters: Counter[]): Promise<void> =>
  putAll(
    counters.map(({ ago = 0, job_id = randomUUID(), payload_type = 'text', state, count }) => ({
      ...jobCounterKey(account, { day: day(ago), job_id, payload_type, state }),
      count,
      expires_at: Math.floor(Date.now() / 1_000) + 86_400,
    })),
  );

/** A new account with the given counters. */
const accountWith = async (...counters: Counter[]): Promise<string> => {
  const account = await newAccount();
  await counted(account, counters);
  return account;
};

const none = Object.fromEntries(states.map((state) => [state, 0]));

/** The text output of `account stats`. */
const statsOf = (...args: string[]) => shown('account', 'stats', ...args);

describe('the figures', () => {
  test('account stats prints the sums of GET /v1/stats/jobs, in total and for each day', async () => {
    const { account, token } = await newCaller('stats');
    const jobs = [randomUUID(), randomUUID(), randomUUID()];
    await counted(
      account,
      states.flatMap((state) =>
        [0, 1, 3, 6].flatMap((ago) =>
          jobs.flatMap((job_id) =>
            ['text', 'image', ''].map((payload_type) => {
              return { state, ago, job_id, payload_type, count: randomInt(1, 1_000) };
            }),
          ),
        ),
      ),
    );
    const sums = async (from: number, to: number) => {
      const period = { start_date: day(from), end_date: day(to) };
      const { status, body = [] } = await call('listJobs', { token, query: period });
      const rows: { state: string; count: number }[] = status === 204 ? [] : body;
      const sumOf = (state: State) =>
        rows.filter((row) => row.state === state).reduce((sum, { count }) => sum + count, 0);
      return Object.fromEntries(states.map((state) => [state, sumOf(state)]));
    };

    const statistics = await inJson('account', 'stats', account);
    expect(statistics).toMatchObject({ account, from: day(6), to: day(0), jobs: 3, states: await sums(6, 0) });
    expect(statistics.days).toEqual(
      await Promise.all([6, 5, 4, 3, 2, 1, 0].map(async (ago) => ({ day: day(ago), ...(await sums(ago, ago)) }))),
    );
    const words = await statsOf(account);
    for (const state of states) {
      const number = statistics.states[state].toLocaleString('en');
      expect(words).toMatch(new RegExp(`^${state} +[█▏▎▍▌▋▊▉]+ +${number}\\b`, 'm'));
    }
  });

  test('account stats covers the given period, including its first and last day', async () => {
    const account = await accountWith(
      ...[0, 1, 2, 6, 7, 365].map((ago) => ({ state: 'sent' as const, ago, count: 1 })),
    );
    const sent = async (...options: string[]) => (await inJson('account', 'stats', account, ...options)).states.sent;
    expect(await sent()).toBe(4);
    expect(await sent('--days', '1')).toBe(1);
    expect(await sent('--days', '8')).toBe(5);
    expect(await sent('--days', '366')).toBe(6);
    expect(await sent('--days', '2', '--to', day(1))).toBe(2);
    expect(await sent('--from', day(2), '--to', day(1))).toBe(2);
    expect(await sent('--from', day(365))).toBe(6);
    expect(await statsOf(account, '--days', '1')).toMatch(new RegExp(`^Period +${day(0)} \\(UTC\\)$`, 'm'));
  });

  test('account stats contains no counts of another account, and with --job only those of that job', async () => {
    const job_id = randomUUID();
    const account = await accountWith({ state: 'sent', count: 2, job_id }, { state: 'sent', count: 40 });
    await accountWith({ state: 'sent', count: 300, job_id });
    expect((await inJson('account', 'stats', account)).states).toEqual({ ...none, sent: 42 });
    const statistics = await inJson('account', 'stats', account, '--job', job_id.toUpperCase());
    expect(statistics).toMatchObject({ job_id, states: { ...none, sent: 2 } });
    expect(await statsOf(account, '--job', job_id)).toMatch(new RegExp(`^Job +${job_id}\n[^]*^sent +█+ +2$`, 'm'));
  });
});

/** The length of each bar in a chart, in eighths of a character, by the first word of its line. */
const barsIn = (words: string): Record<string, number> =>
  Object.fromEntries(
    [...words.matchAll(/^([a-z\d]\S+) +(█*)([▏▎▍▌▋▊▉]?) +\d/gm)].map(([, name = '', whole = '', rest = '']) => [
      name,
      whole.length * 8 + ' ▏▎▍▌▋▊▉'.indexOf(rest || ' '),
    ]),
  );

describe('the chart', () => {
  const WHOLE = 24 * 8;

  test('the bars are proportional, and a count of 1 has a bar; 100 % is only for all', async () => {
    const account = await accountWith(
      { state: 'sent', count: 100_000 },
      { state: 'delivered_to_server', count: 100_000 },
      { state: 'delivered_to_user', count: 99_999 },
      { state: 'read', count: 33_333 },
      { state: 'delivery_failed', count: 1 },
      { state: 'received', count: 25_000 },
      { state: 'reception_failed_http', count: 12_500 },
    );
    const words = await statsOf(account, '--days', '1');
    const bars = { sent: WHOLE, delivered_to_server: WHOLE, read: WHOLE / 3, delivery_failed: 1, sending_failed: 0 };
    expect(barsIn(words)).toMatchObject({ ...bars, received: WHOLE / 4, reception_failed_http: WHOLE / 8 });
    for (const line of [
      'delivered_to_server .* 100,000  100 % of sent',
      'delivered_to_user .* 99,999   99 % of sent',
      'read .* 33,333   33 % of sent',
      'delivery_failed .* 1   <1 % of sent',
      'sending_failed +0    0 % of sent',
      'reception_failed_http .* 12,500   50 % of received',
    ]) {
      expect(words).toMatch(new RegExp(`^${line}$`, 'm'));
    }
  });

  test('the chart prints no percentage if no message was sent in the period', async () => {
    const account = await accountWith({ state: 'read', count: 3 });
    expect(await statsOf(account)).toMatch(/^read +█{24} +3$/m);
  });

  test('the chart has a line for each day, including days without messages', async () => {
    const account = await accountWith(
      { state: 'sent', ago: 2, count: 30 },
      { state: 'received', ago: 2, count: 10 },
      { state: 'sent', count: 20 },
      { state: 'delivery_failed', count: 2 },
      { state: 'sending_failed', count: 3 },
    );
    const words = await statsOf(account, '--days', '3');
    expect(words).toMatch(/^DAY +TRAFFIC +SENT +DELIVERED +READ +FAILED +RECEIVED$/m);
    const days = Object.entries(barsIn(words)).filter(([name]) => name.startsWith('2'));
    expect(days).toEqual([
      [day(2), 13 * 8],
      [day(1), 0],
      [day(0), 13 * 4],
    ]);
    expect(words).toMatch(new RegExp(`^${day(2)} +█{13} +30 +0 +0 +0 +10$`, 'm'));
    expect(words).toMatch(new RegExp(`^${day(0)} .* 20 +0 +0 +5 +0$`, 'm'));
  });

  test('the chart fits 80 columns with millions of messages a day', async () => {
    const account = await accountWith(...states.map((state) => ({ state, count: 1_234_567 })));
    const app = { direction: 'app', account, phone: newPhone() } as const;
    await addPendingEntries(app, [newOutgoing(app)]);
    await openCircuit(`platform#${account}`);
    const lines = (await statsOf(account, '--days', '3')).split('\n');
    expect(Math.max(...lines.map((line) => [...line].length))).toBeLessThanOrEqual(80);
  });

  test('the chart has colours only on a terminal', async () => {
    const account = await accountWith({ state: 'sent', count: 2 }, { state: 'delivery_failed', count: 1 });
    const plain = await statsOf(account);
    const { stdout } = await withColours('account', 'stats', account);
    const [cyan, red] = ['\u001b[36m', '\u001b[31m'];
    expect(plain).not.toContain('\u001b');
    expect(stdout).toContain(`${cyan}${'█'.repeat(24)}\u001b[39m`);
    expect(stdout).toContain(`${red}${'█'.repeat(12)}\u001b[39m`);
    // Without its colours, the output is the same.
    expect(stripVTControlCharacters(stdout)).toBe(plain);
    expect((await withColours('account', 'stats', account, '--json')).stdout).not.toContain('\u001b');
    expect((await withColours('account', 'stats', 'nobody')).stderr).toContain(`${red}error:`);
  });
});

describe('pending entries', () => {
  test('account stats prints the pending entries of each direction, and an open circuit', async () => {
    const account = await newAccount();
    const [one, other] = [newPhone(), newPhone()].map((phone) => ({ direction: 'platform' as const, account, phone }));
    for (const conversation of [one, other])
      if (conversation) await addPendingEntries(conversation, [newOutgoing(conversation)]);
    if (one) await addPendingEntries(one, [newOutgoing(one), newOutgoing(one)]);
    await openCircuit(`platform#${account}`);
    const { waiting } = await inJson('account', 'stats', account);
    expect(waiting).toEqual([
      expect.objectContaining({ direction: 'app', conversations: 0, waiting: 0, more_waiting: false }),
      {
        direction: 'platform',
        conversations: 2,
        waiting: 4,
        more_waiting: false,
        since: time,
        circuit_open_until: expect.any(String),
      },
    ]);
    const minute = `\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d UTC`;
    expect(await statsOf(account)).toMatch(new RegExp(`^to the platform +2 +4 +${minute} +(${minute}|now)$`, 'm'));
  });

  test('account stats prints 0 in each direction without pending entries', async () => {
    expect(await statsOf(await newAccount())).toMatch(
      /^to users \(app\) +0 +0 +in use\nto the platform +0 +0 +no platform$/m,
    );
  });
});

test('account stats of an account without messages suggests a longer period', async () => {
  const account = await newAccount();
  const words = await statsOf(account);
  expect(words).toContain('No messages were counted in this period. Extend it with --days or --from');
  expect(words).not.toMatch(/STATE|TRAFFIC/);
  expect(await inJson('account', 'stats', account)).toMatchObject({ jobs: 0, states: none });
});
