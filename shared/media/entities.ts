/** The rows about media. */
import type { Entity } from '../table/entity.ts';
import { after, deletionKey, type Key, key } from '../table/keys.ts';

const MEDIA = 'MEDIA#';

/** Media, by the id in their URL. */
export const mediaKey = (media: string): Key => key(`${MEDIA}${media}`, 'MEDIA');

/** The id of media, by their key. */
export const mediaIdOf = (media: Pick<Key, 'pk'>): string => after(MEDIA, media);

/** The index partition of an account's media. */
export const mediaOfAccount = (account: string): string => `MEDIA_OF#${account}`;

/** Index attributes of media: they list an account's media, oldest first. */
export const ofMediaOwner = (account: string, { created, id }: { created: string; id: string }) => ({
  gsi2pk: mediaOfAccount(account),
  gsi2sk: `${created}#${id}`,
});

const media = {
  name: 'media',
  pk: MEDIA,
  sk: 'MEDIA',
  account: (item) => String(item.account),
  restore: 'missing',
  deletion: (item) => deletionKey('media', mediaIdOf(item)),
  expires: 'some',
  person: 'none',
  access: { putMedia: 'PutItem', removeMedia: 'DeleteItem', findMedia: 'GetItem' },
} as const satisfies Entity;

export const mediaEntities = [media] as const;
