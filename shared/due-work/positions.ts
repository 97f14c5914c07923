/** Where `sweep` continues with conversations, if its time was over before it had woken all that were due. */
import { secondsFromNow } from '../core/clock.ts';
import { getConsistent, update } from '../table/client.ts';
import type { Key } from '../table/keys.ts';
import { sweepPositionsKey } from './entities.ts';
import type { Position } from './scheduled-work.ts';

interface PositionsItem extends Key {
  positions: Position[];
  expires_at: number;
}

/** Positions that an item can hold: each has about 150 bytes. Others are read from their beginning again. */
const MOST = 2_000;
/** Seconds after which the position of a run is of no use: its conversations are due again. */
const TTL_S = 600;

/** The positions at which the last run stopped. 1 read unit for 4 KB. */
export const readPositions = async (): Promise<Position[]> =>
  (await getConsistent<PositionsItem>(sweepPositionsKey))?.positions ?? [];

/** Stores the positions at which this run has stopped. 1 write unit for 1 KB, if there are any, or were. */
export const writePositions = async (positions: Position[], before: Position[]): Promise<void> => {
  if (positions.length === 0 && before.length === 0) return;
  await update({
    Key: sweepPositionsKey,
    UpdateExpression: 'SET positions = :positions, expires_at = :end',
    ExpressionAttributeValues: { ':positions': positions.slice(0, MOST), ':end': secondsFromNow(TTL_S) },
  });
};
