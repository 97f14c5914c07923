/** Work that was left: uploads without a batch, and expansions that continue. */
import { now, scaled, secondsFromNow } from '../core/clock.ts';
import { newId } from '../core/ids.ts';
import { wakeExpansions } from '../outbox/wake-ups/expansions.ts';
import { getConsistent, remove, update } from '../table/client.ts';
import type { Key } from '../table/keys.ts';
import { expansionKey, uploadIdOf } from './entities.ts';
import { removeChunks } from './stored-batch.ts';

/** The expansion of an account's batches, while it continues in another invocation. */
interface ExpansionItem extends Key {
  /** When the last wake-up to continue was sent, in milliseconds since 1970. */
  woken: number;
  expires_at: number;
}

/** Milliseconds after which a wake-up to continue counts as lost. */
const LOST_MS = 60_000;
/** Seconds for which the item is kept. */
const TTL_S = 3_600;

/** Removes an upload that no batch has named within an hour. From now on, no batch can name it. */
export const abandonUpload = async ({ pk, sk }: Key): Promise<void> => {
  const abandoned = await update({
    Key: { pk, sk },
    UpdateExpression: 'SET abandoned = :true',
    ConditionExpression: 'attribute_exists(pk)',
    ExpressionAttributeValues: { ':true': true },
  });
  // The batch was accepted in the meantime.
  if (!abandoned) return;
  await removeChunks(uploadIdOf({ pk }));
  await remove({ pk, sk });
};

/** Wakes the expansion of an account's batches again, after the wake-ups that wait already. 1 write unit. */
export const continueExpansion = async (account: string, rate: number): Promise<void> => {
  const at = now();
  await wakeExpansions([{ account, rate, at, once: newId() }]);
  await update({
    Key: expansionKey(account),
    UpdateExpression: 'SET woken = :at, expires_at = :end',
    ExpressionAttributeValues: { ':at': at, ':end': secondsFromNow(TTL_S) },
  });
};

/**
 * Whether a later wake-up does the work of this one: the account's expansion sent it, in order to continue. Without this
 * check, each wake-up of `sweep` would begin another chain of wake-ups. 1 read unit.
 */
export const isSuperseded = async (account: string, at: number): Promise<boolean> => {
  const { woken = 0 } = (await getConsistent<ExpansionItem>(expansionKey(account))) ?? {};
  return woken > at && woken > now() - scaled(LOST_MS);
};
