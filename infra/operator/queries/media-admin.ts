/** An account's media, for the operator: what there is, and its end. */

import { timestamp } from '../../../shared/core/clock.ts';
import type { MediaItem } from '../../../shared/media/media.ts';
import { getConsistent, pages, remove, update } from '../../../shared/table/client.ts';
import { type Key, mediaIdOf, mediaKey, mediaOfAccount } from '../../../shared/table/keys.ts';

/** Media with the id in their address, which nobody else may learn. */
export type KeptMedia = { id: string } & Pick<MediaItem, 'type' | 'size' | 'bucket' | 'created' | 'until'>;

/** All of an account's, oldest first, those included whose address works no more. Reads every item of them. */
export const listMedia = async (account: string): Promise<KeptMedia[]> => {
  const found: KeptMedia[] = [];
  for await (const keys of pages<Key>({
    IndexName: 'gsi2',
    KeyConditionExpression: 'gsi2pk = :owner',
    ExpressionAttributeValues: { ':owner': mediaOfAccount(account) },
    ProjectionExpression: 'pk, sk',
    Limit: TOGETHER,
  })) {
    const items = await Promise.all(keys.map(({ pk, sk }) => getConsistent<MediaItem>({ pk, sk })));
    found.push(...items.flatMap((item) => (item === undefined ? [] : [toKept(item)])));
  }
  return found;
};

/** Items that are read at a time. */
const TOGETHER = 25;

/** Expires a media URL and deletes its bytes. A repeat completes an interrupted deletion. */
export const deleteMedia = async (id: string, deleteBytes: () => Promise<void>): Promise<void> => {
  await update({
    Key: mediaKey(id),
    UpdateExpression: 'SET #until = :now',
    ConditionExpression: 'attribute_exists(pk)',
    ExpressionAttributeNames: { '#until': 'until' },
    ExpressionAttributeValues: { ':now': timestamp() },
  });
  await deleteBytes();
  await remove(mediaKey(id));
};

const toKept = (item: MediaItem): KeptMedia => {
  const { type, size, bucket, created, until } = item;
  return { id: mediaIdOf(item), type, size, bucket, created, until };
};
