/**
 * Datafree media (spec §4.14, §8): images and files under addresses on our own host, which the app opens without cost to
 * the user. An address works for 30 days, and says so for 30 more.
 */
import { now, timestampOf } from '../core/clock.ts';
import { Problem } from '../core/problems.ts';
import { bridgeUrl } from '../core/settings.ts';
import { get, getConsistent } from '../table/client.ts';
import { type Key, mediaKey } from '../table/keys.ts';

/** Milliseconds that an address works for (spec §8). */
export const LIFETIME = 30 * 86_400_000;

/** What is known of media; the bucket holds their bytes. */
export interface Media {
  account: string;
  /** `image/png` and the like. */
  type: string;
  /** Bytes. */
  size: number;
  /** SHA-256 of the bytes, in hexadecimal. */
  sha256: string;
  /** Name of the bucket. */
  bucket: string;
  created: string;
  /** From when on the address does not work any more. */
  until: string;
}

/** Media in the table. */
export interface MediaItem extends Key, Media {
  expires_at: number;
  gsi2pk: string;
  gsi2sk: string;
}

/** What every datafree address begins with. */
const beginning = (): string => `${bridgeUrl()}/media/`;

/** The datafree address of media. */
export const urlOf = (id: string): string => `${beginning()}${id}`;

/** Whether an address is one of ours, whether or not it works. */
export const isDatafreeUrl = (url: string): boolean => url.startsWith(beginning());

/**
 * What an address leads to. 0.5 read units.
 *
 * @throws media_not_found — nothing, or no longer
 * @throws media_expired — what was there for 30 days
 */
export const getMedia = async (id: string): Promise<Media> =>
  opened(ID.test(id) ? await get<MediaItem>(mediaKey(id)) : undefined);

/** The same as it is at this moment. 1 read unit. */
export const getMediaConsistent = async (id: string): Promise<Media> => opened(await latestMedia(id));

const opened = (found: MediaItem | undefined): Media => {
  if (found === undefined)
    throw new Problem('media_not_found', 'There is no file at this URL. Check that the URL is complete.');
  if (isOver(found)) {
    throw new Problem('media_expired', 'A media URL expires after 30 days. Ask the sender for a new one.');
  }
  return found;
};

/** Why an account cannot send what is at an address; nothing, where it can. 1 read unit. */
export const sendError = async (account: string, type: 'image' | 'file', url: string): Promise<string | undefined> => {
  const found = isDatafreeUrl(url) ? await latestMedia(url.slice(beginning().length)) : undefined;
  if (found?.account !== account) {
    return `must be a datafree URL of yours, which begins with ${beginning()}: upload what you send with POST /v1/upload_${type}`;
  }
  if (isOver(found)) return `has expired, 30 days after its upload: upload it again with POST /v1/upload_${type}`;
  return type === 'image' && !found.type.startsWith('image/')
    ? `must be an image, and is ${found.type}: send it as a file`
    : undefined;
};

/** What has an id at this moment; nothing, where it is none. */
const latestMedia = async (id: string): Promise<MediaItem | undefined> =>
  ID.test(id) ? getConsistent<MediaItem>(mediaKey(id)) : undefined;

/** An id as `newUnguessableId` makes it. */
const ID = /^[0-9a-f]{32}$/;

const isOver = ({ until }: Media): boolean => timestampOf(now()) >= until;
