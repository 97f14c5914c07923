/** Receipts of the app network's events: an event that is repeated within `EVENT_MEMORY_DAYS` changes nothing. */
import { secondsFromNow } from '../core/clock.ts';
import { EVENT_MEMORY_DAYS } from '../core/lifetimes.ts';
import { getConsistent, putIfAbsent } from '../table/client.ts';
import { putIfAbsentWrite, type Write } from '../table/transactions.ts';
import { answeredEventKey, eventKey } from './entities.ts';

/** When a receipt that is written now expires, in seconds since 1970. */
const endOfEventMemory = (): number => secondsFromNow(EVENT_MEMORY_DAYS * 86_400);

/** Records that an event was applied, in the transaction that applies it; fails on a repeat. 2 write units. */
export const eventReceiptWrite = (event: string): Write =>
  putIfAbsentWrite({ ...eventKey(event), expires_at: endOfEventMemory() });

/** Whether an event was applied that has a receipt. 1 read unit. */
export const wasApplied = async (event: string): Promise<boolean> =>
  (await getConsistent(eventKey(event))) !== undefined;

/** Records that a user's answer to a data request was recorded, now or before. 1 write unit. */
export const recordAnswered = async (event: string): Promise<void> => {
  await putIfAbsent({ ...answeredEventKey(event), expires_at: endOfEventMemory() });
};

/** Whether a user's answer to a data request was recorded, by the event of the answer. 1 read unit. */
export const wasAnswered = async (event: string): Promise<boolean> =>
  (await getConsistent(answeredEventKey(event))) !== undefined;
