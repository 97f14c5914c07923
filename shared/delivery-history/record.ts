/** The history of an account's webhook: each attempt is kept for seven days. */
import { secondsFromNow } from '../core/clock.ts';
import { namesOf } from '../messaging/events.ts';
import { putWithin } from '../table/client.ts';
import { describeError, log } from '../telemetry/log.ts';
import { type Attempt, attemptItem } from './attempt-item.ts';

/** Seconds for which attempts are kept. */
const LIFETIME = 7 * 86_400;

/**
 * Records attempts: 1 write unit each, and 1 on the index of the user's attempts. The history is not essential, so a failure is only logged: it neither fails nor
 * repeats a delivery, and delays it at most as long as one call of the table may take.
 */
export const recordAttempts = async (attempts: Attempt[]): Promise<void> => {
  await Promise.all(attempts.map(recordOrLog));
};

const recordOrLog = async (attempt: Attempt): Promise<void> => {
  try {
    await putWithin(attemptItem(attempt, secondsFromNow(LIFETIME)));
  } catch (error) {
    log('warn', 'attempt not recorded', { ...namesOf(attempt.entry.outgoing), ...describeError(error) });
  }
};
