/**
 * Datafree media: images, files, sounds and films with URLs on our own host, which the app opens without data costs.
 * A URL works for `MEDIA_DAYS`, and returns 410 for `EXPIRED_MEDIA_DAYS` more.
 */
import { now, timestampOf } from '../core/clock.ts';
import { inDays, MEDIA_DAYS } from '../core/lifetimes.ts';
import { type MediaType, mediaTypes } from '../core/media-types.ts';
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
  /** The media type: `image/png`, for example. That of encrypted files is `ENCRYPTED`. */
  type: string;
  /** The end of the URL of an encrypted file, as `.jpg`: the app shows the file by it. */
  extension?: string;
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

/** The media type of files that were encrypted before their upload. */
export const ENCRYPTED = 'application/octet-stream';

/** The datafree URL of media. */
export const urlOf = (id: string, extension = ''): string => `${beginning()}${id}${extension}`;

/** Whether a URL is a datafree URL, also of an encrypted file. It may have expired, or never have existed. */
export const isDatafreeUrl = (url: string): boolean => withoutKey(url).startsWith(beginning());

/** The scheme of URLs whose fragment contains the key of an encrypted file. */
const AESGCM = 'aesgcm://';

/** The fragment of such a URL: an IV of 12 or 16 bytes, and a key of 32 bytes, in hexadecimal. */
const KEY = /#(?:[0-9a-f]{88}|[0-9a-f]{96})$/i;

/** Whether a URL names an encrypted file, with its key. */
const isEncryptedUrl = (url: string): boolean => url.startsWith(AESGCM) && KEY.test(url);

/** Extensions of encrypted files that are not sent as a file. */
const EXTENSIONS: Partial<Record<MediaType, RegExp>> = {
  image: /\.(?:jpe?g|png|gif|webp|bmp)$/i,
  audio: /\.(?:mp3|ogg|oga|opus|m4a|aac|amr|wav)$/i,
  video: /\.(?:mp4|3gp|webm)$/i,
};

/** The type of message as which the media at a URL are sent if nobody says so: a picture, or what the extension says. */
export const typeByUrl = (url: string): MediaType => {
  if (!isEncryptedUrl(url)) return 'image';
  return mediaTypes.find((type) => EXTENSIONS[type]?.test(withoutKey(url))) ?? 'file';
};

/** A URL of an encrypted file as the address from which the file is read, without its key. Other URLs stay. */
const withoutKey = (url: string): string =>
  isEncryptedUrl(url) ? url.replace(AESGCM, `${bridgeUrl().split(':', 1)[0]}://`).replace(KEY, '') : url;

/**
 * Media by the last part of their URL: the id, and the extension of an encrypted file. 0.5 read units.
 *
 * @throws media_not_found — never uploaded, or removed
 * @throws media_expired — uploaded more than `MEDIA_DAYS` ago
 */
export const getMedia = async (name: string): Promise<Media & { id: string }> => mediaNamed(name, get<MediaItem>);

/** As `getMedia`, by a consistent read. 1 read unit. */
export const getMediaConsistent = async (name: string): Promise<Media & { id: string }> =>
  mediaNamed(name, getConsistent<MediaItem>);

const mediaNamed = async (
  name: string,
  read: (key: Key) => Promise<MediaItem | undefined>,
): Promise<Media & { id: string }> => {
  const found = await findNamed(name, read);
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
export type OwnMedia = { sendAs: MediaType } | { error: string };

/**
 * Checks whether an account can send the media at a URL. Everything can be sent as a file; else as what it is, and
 * other types as a file, because existing clients send documents as images (infra/docs/wire-facts.md, "Existing clients").
 * 1 read unit.
 *
 * @param validUntil - until when the URL must work, in milliseconds since 1970; default: now
 */
export const checkOwnMedia = async (
  account: string,
  type: MediaType,
  url: string,
  validUntil = now(),
): Promise<OwnMedia> => {
  const address = withoutKey(url);
  const isOurs = address.startsWith(beginning());
  const found = isOurs ? await findNamed(address.slice(beginning().length), getConsistent<MediaItem>) : undefined;
  const upload = `POST /v1/upload_${type === 'image' ? 'image' : 'file'}`;
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
  if (isEncryptedUrl(url) && found.type !== ENCRYPTED) {
    return { error: 'has a key, but the file is not encrypted: upload it with encrypted=true, or send its https URL' };
  }
  // Of an encrypted file, only the sender knows what it is.
  if (found.type === ENCRYPTED || type === 'file') return { sendAs: type };
  return { sendAs: mediaTypes.find((one) => found.type.startsWith(`${one}/`)) ?? 'file' };
};

/** The media with this id, and the extension that they have; undefined if there are none. */
const findNamed = async (
  name: string,
  read: (key: Key) => Promise<MediaItem | undefined>,
): Promise<(MediaItem & { id: string }) | undefined> => {
  const [, id, extension] = NAME.exec(name) ?? [];
  const found = id === undefined ? undefined : await read(mediaKey(id));
  return id !== undefined && found !== undefined && (found.extension ?? '') === extension
    ? { ...found, id }
    : undefined;
};

/** The form of an id from `newUnguessableId`, and an extension. */
const NAME = /^([0-9a-f]{32})((?:\.[A-Za-z0-9]{1,10})?)$/;

const isOver = ({ until }: Media): boolean => timestampOf(now()) >= until;
