/** The pure parts of the local page's Jobs view. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { newJob, requestOf } from '../../../infra/local/phone/jobs/new-job.ts';
import { PaceMeter } from '../../../infra/local/phone/jobs/pace.ts';
import { partsOf, sentOf } from '../../../infra/local/phone/jobs/parts.ts';
import { numbersIn, percent, timeLeft } from '../../../infra/local/phone/page/jobs/words.ts';
import { Inbox } from '../../../infra/local/simulators/app-network/inbox.ts';
import { isMadeUp, madeUpNumbers } from '../../../infra/local/simulators/app-network/simulated-users.ts';
import type { Rule } from '../../../infra/local/simulators/fault-rules.ts';
import { check } from '../../../infra/local/simulators/schemas.ts';
import { messageIdAt } from '../../../shared/campaigns/ids.ts';

describe('the parts of a job', () => {
  const none = { read: 0, delivered_to_user: 0, delivered_to_server: 0, pending: 0, failed: 0, stopped: 0 };

  test.each([
    [
      'a running job',
      { sent: 6480, delivered_to_server: 6214, delivered_to_user: 5447, read: 2310, sending_failed: 88 },
      0,
      { read: 2310, delivered_to_user: 3137, delivered_to_server: 767, pending: 178, failed: 88, not_sent: 3520 },
    ],
    ['a scheduled job', {}, 0, { not_sent: 10_000 }],
    [
      'a stopped job, whose other messages are logged as failed',
      { sent: 10_000, delivered_to_server: 1200, sending_failed: 8800 },
      8796,
      { delivered_to_server: 1200, failed: 4, stopped: 8796, not_sent: 0 },
    ],
    [
      'messages that the app network accepted and could not deliver',
      { sent: 10_000, delivered_to_server: 10_000, delivered_to_user: 9_990, delivery_failed: 10 },
      0,
      { delivered_to_user: 9_990, failed: 10, not_sent: 0 },
    ],
  ])('%s: each message is in one part', (_, counts, cancelled, expected) => {
    const parts = partsOf(counts, 10_000, cancelled);
    expect(parts).toEqual({ ...none, ...expected });
    expect(sentOf(parts) + parts.stopped + parts.not_sent).toBe(10_000);
  });

  test('no part is negative if reports arrive before the counts of what they follow', () => {
    const parts = partsOf({ sent: 1, delivered_to_server: 2, read: 3 }, 3, 5);
    expect(Math.min(...Object.values(parts))).toBe(0);
  });
});

describe('the words of the Jobs view', () => {
  test.each([
    [0, 0, '0%'],
    [1, 10_000, '<1%'],
    [65, 100, '65%'],
    [9_999, 10_000, '99%'],
    [10_000, 10_000, '100%'],
  ])('%d of %d is %s: only all is 100%, and only none is 0%', (count, of, text) => {
    expect(percent(count, of)).toBe(text);
  });

  test.each([
    [17_000, '17 s left'],
    [300_000, '5 min left'],
    [36_000_000, '10 h left'],
    [-1, ''],
  ])('an end in %d ms is "%s"', (ms, text) => {
    expect(timeLeft(new Date(1_000_000 + ms).toISOString(), 1_000_000)).toBe(text);
  });

  test('pasted numbers may have +, spaces and hyphens; repeats are counted, and other texts are listed', () => {
    expect(numbersIn('+27 82 123-4567\n27821234567; (0)27 82 123 4568\n\nThandi,12')).toEqual({
      numbers: ['27821234567'],
      repeats: 1,
      invalid: ['(0)27 82 123 4568', 'Thandi', '12'],
    });
    expect(numbersIn(' \n')).toEqual({ numbers: [], repeats: 0, invalid: [] });
  });
});

describe('a new job', () => {
  const text = 'Hello';

  test('goes to numbers or to made-up users, whose numbers belong to nobody', () => {
    expect(requestOf(check(newJob, { text, to: ['27821234567'], priority: 'low' }))).toEqual({
      to: ['27821234567'],
      type: 'text',
      text: { body: 'Hello' },
      priority: 'low',
    });
    const { to } = requestOf(check(newJob, { text, made_up: 10_000 }));
    expect([to.length, new Set(to).size, to.every(isMadeUp)]).toEqual([10_000, 10_000, true]);
    expect(madeUpNumbers(2)).toEqual(['99900000001', '99900000002']);
    expect(isMadeUp('447700900001')).toBe(false);
  });

  test.each([
    ['no recipients', { text }],
    ['both kinds of recipients', { text, to: ['27821234567'], made_up: 1 }],
    ['too many made-up users', { text, made_up: 10_001 }],
    ['an unknown priority', { text, made_up: 1, priority: 'urgent' }],
    ['an unknown field', { text, made_up: 1, token: 'x' }],
    ['no text', { text: '', made_up: 1 }],
  ])('with %s is rejected', (_, body) => {
    expect(() => check(newJob, body)).toThrow();
  });
});

describe('the pace of a job', () => {
  const BATCH = '0'.repeat(27);
  let inbox: Inbox;
  let rules: Rule[];
  let pace: PaceMeter;

  beforeEach(() => {
    vi.useFakeTimers({ now: 1_700_000_000_000, toFake: ['Date'] });
    inbox = new Inbox();
    rules = [];
    pace = new PaceMeter({
      inbox,
      faultRules: {
        get rules() {
          return rules;
        },
      },
    });
    pace.add({ message: 'batch accepted', account: 'demo', batch_id: BATCH, job_id: 'job' });
  });

  afterEach(() => void vi.useRealTimers());

  /** The app network accepts messages of the batch in this second. */
  const accept = (second: number, positions: number[]) => {
    vi.setSystemTime(1_700_000_000_000 + second * 1_000);
    for (const position of positions) {
      const id = messageIdAt(BATCH, position);
      const data = { id, to: `999000000${position}`, type: 'text' as const, text: { body: 'Hello' } };
      inbox.addAttempt(id, { type: 'message.send', timestamp: '', data })();
    }
  };

  test('is the mean of three seconds, for each of the last 30, without the present one', async () => {
    accept(-40, [1]);
    accept(-2, [2, 3, 4]);
    accept(-1, [5, 6, 7, 8, 9, 10]);
    accept(0, [11]);
    const { values } = await pace.curveOf('job');
    expect([values.length, ...values.slice(-4)]).toEqual([30, 0, 0, 1, 3]);
    expect((await pace.curveOf('another')).values.every((value) => value === 0)).toBe(true);
  });

  test('counts a message once, although it is delivered again', async () => {
    accept(-1, [1]);
    accept(-1, [1]);
    accept(0, []);
    expect((await pace.curveOf('job')).values.at(-1)).toBeCloseTo(0.3);
  });

  test('has notes about what disturbs all calls, which pass with their seconds', async () => {
    rules = [{ status: 404, phone: '99900000001' }];
    expect((await pace.curveOf('job')).notes).toEqual({});
    rules = [{ delay_ms: 2_000 }];
    expect((await pace.curveOf('job')).notes).toEqual({ 29: 'App network slow, 2 s a call' });
    rules = [];
    vi.advanceTimersByTime(10_000);
    vi.setSystemTime(1_700_000_010_000);
    expect((await pace.curveOf('job')).notes).toEqual({ 19: 'App network slow, 2 s a call' });
    vi.setSystemTime(1_700_000_040_000);
    expect((await pace.curveOf('job')).notes).toEqual({});
  });
});
