/** How often the local page announces news to screen readers. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { newAnnouncer } from '../../../infra/local/phone/page/data/announcements.ts';

const START = Date.UTC(2030, 0, 1);

beforeEach(() => void vi.useFakeTimers({ now: START }));

afterEach(() => void vi.useRealTimers());

test('news of several places is announced at most once in three seconds, and of each place the last news', () => {
  const said: [number, string][] = [];
  const newPlace = () => newAnnouncer((news) => said.push([Date.now() - START, news]));
  const [chat, job] = [newPlace(), newPlace()];
  chat.announce('Demo: One');
  vi.advanceTimersByTime(100);
  job.announce('Running');
  chat.announce('Demo: Two');
  vi.advanceTimersByTime(1_000);
  chat.announce('Demo: Three');
  vi.advanceTimersByTime(10_000);
  job.announce('Completed');
  vi.advanceTimersByTime(0);
  expect(said).toEqual([
    [0, 'Demo: One'],
    [3_000, 'Running'],
    [6_000, 'Demo: Three'],
    [11_100, 'Completed'],
  ]);
});

test('a place that has left the page announces nothing', () => {
  const said: string[] = [];
  const place = newAnnouncer((news) => said.push(news));
  vi.advanceTimersByTime(60_000);
  place.announce('Running');
  place.stop();
  vi.advanceTimersByTime(10_000);
  expect(said).toEqual([]);
});
