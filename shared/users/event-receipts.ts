/** Receipts of the app network's events: an event that comes again within seven days changes nothing newer. */
import { secondsFromNow } from '../core/clock.ts';
import { getConsistent, putIfAbsent } from '../table/client.ts';
import { answeredEventKey, eventKey } from '../table/keys.ts';
import { putIfAbsentWrite, transact, type Write } from '../table/transactions.ts';

/** Seconds that an event is remembered for. */
const EVENT_MEMORY = 7 * 86_400;

/** When what is remembered of an event from now on expires, in seconds since 1970. */
export const endOfEventMemory = (): number => secondsFromNow(EVENT_MEMORY);

/** Records that an event was applied, within the transaction that applies it; fails if it was before. 2 write units. */
export const eventReceiptWrite = (event: string): Write =>
  putIfAbsentWrite({ ...eventKey(event), expires_at: endOfEventMemory() });

/** Applies an event, unless it was applied before. */
export const applyOnce = async (event: string, writes: Write[]): Promise<void> => {
  await transact([eventReceiptWrite(event), ...writes]);
};

/** Records that an answer to a user data request was recorded, or had been. 1 write unit. */
export const recordAnswered = async (event: string): Promise<void> => {
  await putIfAbsent({ ...answeredEventKey(event), expires_at: endOfEventMemory() });
};

/** Whether that is recorded. 1 read unit. */
export const wasAnswered = async (event: string): Promise<boolean> =>
  (await getConsistent(answeredEventKey(event))) !== undefined;
