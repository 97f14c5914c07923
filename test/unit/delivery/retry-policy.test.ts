/** When a failed delivery is retried: the schedule. Other tests and the local page derive from it. */
import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { expiryOf, nextAttempt, pendingSince, RETRY_STEPS_MS } from '../../../shared/delivery/retry-policy.ts';
import type { Entry } from '../../../shared/outbox/event.ts';

const MINUTE = 60_000;
const NOW = Date.UTC(2030, 0, 1);

beforeEach(() => void vi.useFakeTimers({ now: NOW, toFake: ['Date'] }));

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** The minutes to the next attempt. `random` is between 0 and 1, for the jitter. */
const minutesAfter = (failures: number, random: number, asked?: number): number => {
  vi.spyOn(Math, 'random').mockReturnValue(random);
  return (nextAttempt(failures, asked === undefined ? undefined : asked * MINUTE) - NOW) / MINUTE;
};

test.each([1, 2, 10, 30, 60, 120, 240, 360, 360, 360].map((minutes, index) => [index + 1, minutes]))(
  'after %i failures in a row, the next attempt follows after %i minutes, or a fifth less or more',
  (failures, minutes) => {
    expect(minutesAfter(failures, 0.5)).toBeCloseTo(minutes);
    expect(minutesAfter(failures, 0)).toBeCloseTo(minutes * 0.8);
    expect(minutesAfter(failures, 1)).toBeCloseTo(minutes * 1.2);
  },
);

test('the page with the retry schedule has the pauses of the service, in its pictures and in their texts', async () => {
  const page = await readFile('infra/docs/start/how-it-works.md', 'utf8');
  const pictures = ['retries', 'later-retries'].map((name) => readFile(`infra/docs/pictures/${name}.svg`, 'utf8'));
  const units = { min: MINUTE, h: 60 * MINUTE };
  const drawn = [...(await Promise.all(pictures)).join('').matchAll(/>(\d+) (min|h)</g)].map(
    ([, count, unit]) => Number(count) * units[unit === 'h' ? 'h' : 'min'],
  );
  expect(drawn).toEqual(RETRY_STEPS_MS);
  const minutes = RETRY_STEPS_MS.map((step) => step / MINUTE);
  const last = `${(minutes.at(-1) ?? 0) / 60} hours each`;
  const hours = minutes.slice(5, -1).map((step) => `${step / 60} hours`);
  expect(page).toContain(`${minutes.slice(0, -2).join(', ')} and ${minutes.at(-2)} minutes, then ${last}`);
  expect(page).toContain(`After the sixth attempt: pauses of ${hours.join(', ')}, then ${last}`);
});

test.each([
  ['half of the step, which counts', 0.5, 0.8],
  ['more than the step', 1.5, 1.5],
  ['more than twice the step, which counts', 60, 2],
])('Retry-After may ask for %s', (_, share, counted) => {
  const step = minutesAfter(3, 0.5);
  expect(minutesAfter(3, 0, share * step)).toBeCloseTo(counted * step);
});

describe('the three days of an entry', () => {
  const entry = (created: string, between?: [string, string]): Entry =>
    ({
      created,
      outgoing: {
        type: 'message.send',
        message: { phone: '27820000001', ...(between && { hours: { between, time_zone: 'Europe/Berlin' } }) },
      },
    }) as unknown as Entry;

  test.each<[string, string, [string, string] | undefined, string]>([
    ['its acceptance', '2030-01-01T20:00:00.123456', undefined, '2030-01-01T20:00:00.123456'],
    ['its acceptance within its hours', '2030-01-01T18:59:59.123456', ['08:00', '20:00'], '2030-01-01T18:59:59.123456'],
    ['its hours after that', '2030-01-01T19:00:00.123456', ['08:00', '20:00'], '2030-01-02T07:00:00.000000'],
    ['its hours in summer time', '2030-03-30T19:00:00.000000', ['08:00', '20:00'], '2030-03-31T06:00:00.000000'],
  ])('begin with %s', (_, created, between, begin) => {
    expect(pendingSince(entry(created, between))).toBe(begin);
    expect(expiryOf(entry(created, between))).toBe(Date.parse(`${begin}Z`) + 3 * 86_400_000);
  });
});
