/** The history of an account's webhook: each attempt is kept for `HISTORY_DAYS`, and with the last one its event. */
import { secondsFromNow } from '../../core/clock.ts';
import { HISTORY_DAYS } from '../../core/lifetimes.ts';
import { logFields } from '../../outbox/event.ts';
import { put, putWithin } from '../../table/client.ts';
import { describeError, log } from '../../telemetry/log.ts';
import { type Attempt, attemptItem } from './attempt-item.ts';

/** Seconds for which attempts are kept. */
const LIFETIME = HISTORY_DAYS * 86_400;

/**
 * Records attempts: 1 write unit each and 1 on the index of the user's attempts; for the last attempt, 1 for each KB of
 * its event. If the event is delivered or still
 * pending, a failure is only logged: it neither fails nor repeats a delivery, and delays it at most as long as one call of the
 * table may take.
 */
export const recordAttempts = async (attempts: Attempt[]): Promise<void> => {
  await Promise.all(attempts.map(recordOrLog));
};

/**
 * Records the attempts of an event that has failed permanently, before it leaves the outbox: customers replay it from here.
 * As many write units as `recordAttempts`.
 *
 * @throws Error — the table does not accept them
 */
export const keepAttempts = async (attempts: Attempt[]): Promise<void> => {
  // One after the other: of two within a millisecond, the last one has the event.
  for (const attempt of attempts) await put(attemptItem(attempt, secondsFromNow(LIFETIME)));
};

const recordOrLog = async (attempt: Attempt): Promise<void> => {
  try {
    await putWithin(attemptItem(attempt, secondsFromNow(LIFETIME)));
  } catch (error) {
    log('warn', 'attempt not recorded', { ...logFields(attempt.entry.outgoing), ...describeError(error) });
  }
};
