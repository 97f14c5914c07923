/** Lists and deletes an account's media, for operators. */

import { changeProfile } from '../../../shared/accounts/profile.ts';
import { timestamp } from '../../../shared/core/clock.ts';
import { mediaIdOf, mediaKey, mediaOfAccount } from '../../../shared/media/entities.ts';
import type { MediaItem } from '../../../shared/media/media.ts';
import { getConsistent, pages, remove } from '../../../shared/table/client.ts';
import { deletionWrite } from '../../../shared/table/deletion-markers.ts';
import type { Key } from '../../../shared/table/keys.ts';
import { transact, updateWrite } from '../../../shared/table/transactions.ts';

/** A stored image or file. The id is part of its URL, and secret. */
export type StoredMedia = { id: string } & Pick<MediaItem, 'type' | 'size' | 'bucket' | 'object' | 'created' | 'until'>;

/** An account's media, oldest first, including media whose URL has expired. Reads each item. */
export const listMedia = async (account: string): Promise<StoredMedia[]> => {
  const found: StoredMedia[] = [];
  for await (const keys of pages<Key>({
    IndexName: 'gsi2',
    KeyConditionExpression: 'gsi2pk = :owner',
    ExpressionAttributeValues: { ':owner': mediaOfAccount(account) },
    ProjectionExpression: 'pk, sk',
    Limit: TOGETHER,
  })) {
    const items = await Promise.all(keys.map(({ pk, sk }) => getConsistent<MediaItem>({ pk, sk })));
    found.push(...items.flatMap((item) => (item === undefined ? [] : [toStored(item)])));
  }
  return found;
};

/** Items that are read at a time. */
const TOGETHER = 25;

/** Takes an avatar from its account before its media are deleted: users see none, and the same image can be set again. */
export const forgetAvatar = async (account: string, id: string): Promise<void> => {
  await changeProfile(
    account,
    ({ avatar }) => (avatar?.id === id ? { avatar: null } : undefined),
    () => [],
  );
};

/** Expires a media URL and deletes its bytes. A repeat completes an interrupted deletion. */
export const deleteMedia = async (id: string, deleteBytes: () => Promise<void>): Promise<void> => {
  await transact([
    updateWrite({
      Key: mediaKey(id),
      UpdateExpression: 'SET #until = :now',
      ConditionExpression: 'attribute_exists(pk)',
      ExpressionAttributeNames: { '#until': 'until' },
      ExpressionAttributeValues: { ':now': timestamp() },
    }),
    deletionWrite('media', id),
  ]);
  await deleteBytes();
  await remove(mediaKey(id));
};

const toStored = (item: MediaItem): StoredMedia => {
  const { type, size, bucket, object, created, until } = item;
  return { id: mediaIdOf(item), type, size, bucket, ...(object !== undefined && { object }), created, until };
};
