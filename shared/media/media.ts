/**
 * Datafree media: images and files with URLs on our own host, which the app opens without data costs.
 * A URL works for `MEDIA_DAYS`, and returns 410 for `EXPIRED_MEDIA_DAYS` more.
 */
import { now, timestampOf } from '../core/clock.ts';
import { inDays, MEDIA_DAYS } from '../core/lifetimes.ts';
import { Problem } from '../core/problems.ts';
import { bridgeUrl } from '../core/settings.ts';
import { get, getConsistent } from '../table/client.ts';
import type { Key } from '../table/keys.ts';
import { mediaKey } from './entities.ts';

/** Milliseconds that a datafree URL works. */
export const LIFETIME = MEDIA_DAYS * 86_400_000;

/** Attributes of media. The bucket contains the bytes. */
export interface Media {
  account: string;
  /** The media type: `image/png`, for example. */
  type: string;
  /** In bytes. */
  size: number;
  /** SHA-256 of the bytes, in hexadecimal. */
  sha256: string;
  /** Name of the bucket. */
  bucket: string;
  /** The key of the object, if it is not the id. */
  object?: string;
  created: string;
  /** When the URL expires. */
  until: string;
}

/** Media in the table. */
export interface MediaItem extends Key, Media {
  /** Missing for avatars, which do not expire. */
  expires_at?: number;
  gsi2pk: string;
  gsi2sk: string;
}

/** `until` of media that do not expire. */
export const NEVER = '9999-12-31T23:59:59.999999';

/**
 * The key of an avatar's object. The bucket deletes objects after the lifetime of media if their keys begin with a
 * hexadecimal digit, as ids do.
 */
export const avatarObject = (id: string): string => `profile-${id}`;

/** The prefix of every datafree URL. */
const beginning = (): string => `${bridgeUrl()}/media/`;

/** The datafree URL of media. */
export const urlOf = (id: string): string => `${beginning()}${id}`;

/** Whether a URL is a datafree URL. It may have expired, or never have existed. */
export const isDatafreeUrl = (url: string): boolean => url.startsWith(beginning());

/**
 * Media by the id in their URL. 0.5 read units.
 *
 * @throws media_not_found — never uploaded, or removed
 * @throws media_expired — uploaded more than `MEDIA_DAYS` ago
 */
export const getMedia = async (id: string): Promise<Media> =>
  opened(ID.test(id) ? await get<MediaItem>(mediaKey(id)) : undefined);

/** As `getMedia`, by a consistent read. 1 read unit. */
export const getMediaConsistent = async (id: string): Promise<Media> => opened(await latestMedia(id));

const opened = (found: MediaItem | undefined): Media => {
  if (found === undefined)
    throw new Problem('media_not_found', 'There is no file at this URL. Check that the URL is complete.');
  if (isOver(found)) {
    throw new Problem(
      'media_expired',
      `A media URL expires after ${inDays(MEDIA_DAYS)}. Ask the sender for a new one.`,
    );
  }
  return found;
};

/** An account's own media by URL: `sendAs` is the type of message that can contain it. */
export type OwnMedia = { sendAs: 'image' | 'file' } | { error: string };

/**
 * Checks whether an account can send the media at a URL. An image can be sent as a file; other media are always sent as
 * a file, because existing clients send documents as images (infra/docs/wire-facts.md, "Existing clients").
 * 1 read unit.
 *
 * @param validUntil - until when the URL must work, in milliseconds since 1970; default: now
 */
export const checkOwnMedia = async (
  account: string,
  type: 'image' | 'file',
  url: string,
  validUntil = now(),
): Promise<OwnMedia> => {
  const found = isDatafreeUrl(url) ? await latestMedia(url.slice(beginning().length)) : undefined;
  const upload = `POST /v1/upload_${type}`;
  if (found?.account !== account) {
    return {
      error: `must be a datafree URL of yours, which begins with ${beginning()}: upload what you send with ${upload}`,
    };
  }
  if (isOver(found))
    return { error: `has expired, ${inDays(MEDIA_DAYS)} after its upload: upload it again with ${upload}` };
  if (timestampOf(validUntil) > found.until) {
    return {
      error: `expires at ${found.until}, before the message does: upload it again with ${upload}, or shorten valid_for`,
    };
  }
  return { sendAs: found.type.startsWith('image/') ? type : 'file' };
};

/** The media with this id, by a consistent read; undefined if there are none. */
const latestMedia = async (id: string): Promise<MediaItem | undefined> =>
  ID.test(id) ? getConsistent<MediaItem>(mediaKey(id)) : undefined;

/** The form of an id from `newUnguessableId`. */
const ID = /^[0-9a-f]{32}$/;

const isOver = ({ until }: Media): boolean => timestampOf(now()) >= until;
