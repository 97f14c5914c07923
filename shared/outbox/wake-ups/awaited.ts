/**
 * New messages that somebody waits for, in a request whose handler has `withWakeUps`. Without the queue's client, which most
 * functions do not need.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Key } from '../../table/keys.ts';

const awaited = new AsyncLocalStorage<Key[]>();

/** Has the delivery of entries that were just written begin at once, if the handler has `withWakeUps`. */
export const deliverAtOnce = (entries: Key[]): void => void awaited.getStore()?.push(...entries);

/** Does work, and then passes the keys of the entries whose delivery is to begin, also if the work fails. */
export const collectingEntries = async <Result>(
  work: () => Promise<Result>,
  send: (entries: Key[]) => Promise<void>,
): Promise<Result> => {
  const entries: Key[] = [];
  try {
    return await awaited.run(entries, work);
  } finally {
    if (entries.length > 0) await send(entries);
  }
};
