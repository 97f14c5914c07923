/**
 * Wake-ups that an endpoint sends before its response, for messages that somebody waits for. Otherwise, delivery begins when
 * Lambda has polled the table's stream. `relay` still sends the wake-ups of all entries, also of these: the queue
 * drops those that it has.
 */
import { tableTimeoutMs } from '#runtime';
import type { Key } from '../../table/keys.ts';
import { describeError, log } from '../../telemetry/log.ts';
import { conversationOf } from '../entities.ts';
import { collectingEntries } from './awaited.ts';
import { wake } from './conversations.ts';

/**
 * Milliseconds that a response waits for the queue: a tenth of the table's, because it does not need the queue. RapidPro gets the
 * first status a second after the acceptance, but needs half a second after the response.
 */
const TIMEOUT_MS = tableTimeoutMs / 10;

/**
 * Lets a handler send wake-ups of what it accepts, also if it fails later on. If the queue fails, or takes long, the response
 * is the same. The endpoint's description has `wakes`.
 */
export const withWakeUps =
  <Arguments extends unknown[], Result>(
    handle: (...given: Arguments) => Promise<Result>,
  ): ((...given: Arguments) => Promise<Result>) =>
  (...given) =>
    collectingEntries(() => handle(...given), send);

const send = async (entries: Key[]): Promise<void> => {
  try {
    const wakeUps = entries.map(({ pk, sk }) => ({ conversation: conversationOf({ pk }), once: sk }));
    await wake(wakeUps, AbortSignal.timeout(TIMEOUT_MS));
  } catch (error) {
    log('warn', 'wake-ups not sent at once', describeError(error));
  }
};
