/** Avatars of businesses: images with a datafree URL that does not expire until another one replaces it. */

import { timestamp } from '../core/clock.ts';
import { newUnguessableId } from '../core/ids.ts';
import { mediaKey } from '../media/entities.ts';
import { avatarObject, type MediaItem, NEVER } from '../media/media.ts';
import { putObject, removeObject } from '../media/object-store.ts';
import { checkedFile, newMediaItem, sha256Of } from '../media/uploads.ts';
import { deletionWrite } from '../table/deletion-markers.ts';
import { deleteWrite, putWrite, type Write } from '../table/transactions.ts';
import { describeError, log } from '../telemetry/log.ts';
import { type Account, findAccount } from './accounts.ts';
import { type Author, historyWrite } from './history.ts';
import { changeProfile } from './profile.ts';

/** Accepted media types, with their names for people. */
const TYPES = { 'image/png': 'PNG', 'image/jpeg': 'JPEG', 'image/webp': 'WebP' };

/** Most bytes of an avatar. */
const MAX_SIZE = 1024 * 1024;

/**
 * Sets the avatar of an account. The URL of the previous one stops working. The same image changes nothing. 2 read
 * units, 10 write units in one transaction, or 14 if it replaces another one; a put to the bucket, and a deletion.
 *
 * @throws file_too_large — over 1 MB
 * @throws file_type_not_supported — neither PNG nor JPEG nor WebP
 */
export const setAvatar = async (by: Author, file: File): Promise<void> => {
  const { account } = by;
  const { bytes, type } = await checkedFile(file, { types: TYPES, max: MAX_SIZE, inWords: '1 MB' });
  const sha256 = sha256Of(bytes);
  if ((await findAccount(account))?.avatar?.sha256 === sha256) return;
  const id = newUnguessableId();
  const item: MediaItem = {
    ...newMediaItem(account, { id, type, size: bytes.length, sha256, created: timestamp() }),
    object: avatarObject(id),
    until: NEVER,
  };
  // The object first: without an item, it has no URL.
  await putObject(avatarObject(id), bytes, sha256);
  const { avatar: former } = await changeProfile(
    account,
    () => ({ avatar: { id, type, sha256 } }),
    (present) => [putWrite(item), ...removalWrites(present), historyWrite(by, { type: 'avatar.updated' })],
  );
  if (former === undefined) return;
  await removeObject(avatarObject(former.id)).catch((error: unknown) =>
    log('warn', 'avatar not removed', { account, ...describeError(error) }),
  );
};

/** The writes that end the URL of the previous avatar. */
const removalWrites = ({ avatar }: Pick<Account, 'avatar'>): Write[] =>
  avatar === undefined ? [] : [deleteWrite(mediaKey(avatar.id)), deletionWrite('media', avatar.id)];
