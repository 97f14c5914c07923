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

/** The day of a default job, `YYYY-MM-DD`, by the time of a message of it; undefined for other jobs. */
export const dayOfDefaultJob = (account: string, job: string, created: string): string | undefined =>
  SOURCES.some((source) => jobOf(account, source, created) === job) ? created.slice(0, 10) : undefined;

const DAY_MS = 86_400_000;

/**
 * An account's default jobs whose messages are still stored, and those of tomorrow, because clocks differ. Their ids are
 * hashes, so all of them are made: about 300, which takes some milliseconds.
 */
export const defaultJobsOf = (account: string): Set<string> => {
  const found = new Set<string>();
  for (let days = -1; days <= messageRetention() + 1; days += 1) {
    const day = timestampOf(now() - days * DAY_MS);
    for (const source of SOURCES) found.add(jobOf(account, source, day));
  }
  return found;
};
