/** Default jobs: messages without a job of their own belong to one job for each account, source and day (UTC). */
import { now, timestampOf } from '../../core/clock.ts';
import { idOf } from '../../core/ids.ts';
import { messageRetention } from '../../core/settings.ts';

/** Who sends messages: the account's programs, users of the app, or the account's chat platform. */
const SOURCES = ['api', 'app', 'platform'] as const;

type Source = (typeof SOURCES)[number];

/** The default job of a message, by the time at which it was accepted. */
export const jobOf = (account: string, source: Source, created: string): string =>
  idOf(account, 'job', `${source} ${created.slice(0, 10)}`);

const DAY_MS = 86_400_000;

/**
 * Whether a job is one of the account's default jobs whose messages are still stored, or of tomorrow, because clocks
 * differ. Their ids are hashes, so all of them are made: about 300, which takes some milliseconds.
 */
export const isDefaultJob = (account: string, job: string): boolean => {
  for (let days = -1; days <= messageRetention() + 1; days += 1) {
    const day = timestampOf(now() - days * DAY_MS);
    if (SOURCES.some((source) => jobOf(account, source, day) === job)) return true;
  }
  return false;
};
