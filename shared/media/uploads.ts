/** Uploads of media by businesses. */

import { fileTypeFromBuffer } from 'file-type';
import { now, secondsFromNow, timestampOf } from '../core/clock.ts';
import { newUnguessableId } from '../core/ids.ts';
import { unkeyedHash } from '../core/keyed-hashes.ts';
import { EXPIRED_MEDIA_DAYS } from '../core/lifetimes.ts';
import { Problem } from '../core/problems.ts';
import { mediaBucket } from '../core/settings.ts';
import { putIfAbsent } from '../table/client.ts';
import { mediaKey, ofMediaOwner } from './entities.ts';
import { ENCRYPTED, LIFETIME, type MediaItem, urlOf } from './media.ts';
import { putObject } from './object-store.ts';

const IMAGES = {
  'image/png': 'PNG',
  'image/jpeg': 'JPEG',
  'image/gif': 'GIF',
  'image/webp': 'WebP',
  'image/bmp': 'BMP',
};

const SOUNDS = {
  'audio/mpeg': 'MP3',
  'audio/ogg': 'Ogg',
  'audio/mp4': 'M4A',
  'audio/aac': 'AAC',
  'audio/amr': 'AMR',
  'audio/wav': 'WAV',
};

const FILMS = { 'video/mp4': 'MP4', 'video/3gpp': '3GP', 'video/webm': 'WebM' };

/** Accepted media types, with their names for people. */
const TAKEN = { image: IMAGES, file: { ...IMAGES, 'application/pdf': 'PDF', ...SOUNDS, ...FILMS } };

/** Most bytes of a file. In base64, a larger one would exceed the 6 MB that Lambda takes and returns. */
const MAX_SIZE = 4 * 1024 * 1024;

/** Seconds for which an expired URL returns 410. */
const AFTERMATH = EXPIRED_MEDIA_DAYS * 86_400;

/** An accepted file. */
export interface Uploaded {
  url: string;
  /** When the URL expires. */
  expires_at: string;
}

/**
 * Stores a file, and gives it a URL. The service detects the type from the content, not from the name or the header.
 * 2 write units and a put to the bucket.
 *
 * @throws file_too_large — over 4 MB
 * @throws file_type_not_supported — neither an image nor, for `file`, a PDF, a sound or a film
 */
export const upload = async (account: string, kind: keyof typeof TAKEN, file: File): Promise<Uploaded> => {
  const { bytes, type } = await checkedFile(file, { types: TAKEN[kind], max: MAX_SIZE, inWords: '4 MB' });
  return store(account, bytes, { type });
};

/**
 * Stores a file that its business has encrypted: the bytes as they are. The app chooses by the extension of the URL, which is
 * that of the name, how it shows the file. Costs as `upload`.
 *
 * @throws file_too_large — over 4 MB
 */
export const uploadEncrypted = async (account: string, file: File): Promise<Uploaded> => {
  const [extension = ''] = /\.[A-Za-z0-9]{1,10}$/.exec(file.name) ?? [];
  return store(account, await bytesOf(file, { max: MAX_SIZE, inWords: '4 MB' }), { type: ENCRYPTED, extension });
};

const store = async (
  account: string,
  bytes: Uint8Array<ArrayBuffer>,
  { type, extension = '' }: { type: string; extension?: string },
): Promise<Uploaded> => {
  const [id, created] = [newUnguessableId(), now()];
  const sha256 = sha256Of(bytes);
  const item: MediaItem = {
    ...newMediaItem(account, { id, type, size: bytes.length, sha256, created: timestampOf(created) }),
    ...(extension !== '' && { extension }),
    until: timestampOf(created + LIFETIME),
    expires_at: secondsFromNow(LIFETIME / 1_000 + AFTERMATH),
  };
  // The object first: without an item, it has no URL, and the bucket's lifecycle rule removes it.
  await putObject(id, bytes, sha256);
  await putIfAbsent(item);
  return { url: urlOf(id, extension), expires_at: item.until };
};

/** The SHA-256 of a file, in hexadecimal. */
export const sha256Of = (bytes: Uint8Array): string => unkeyedHash(bytes);

/** A file that gets a URL. */
type NewMedia = Pick<MediaItem, 'type' | 'size' | 'sha256' | 'created'> & { id: string };

/** The item of a new file, without the time of its end. */
export const newMediaItem = (account: string, { id, ...file }: NewMedia) => ({
  ...mediaKey(id),
  account,
  ...file,
  bucket: mediaBucket(),
  ...ofMediaOwner(account, { id, created: file.created }),
});

/** What a file may be: media types with their names for people, and most bytes, also in words. */
interface Accepted {
  types: Record<string, string>;
  max: number;
  inWords: string;
}

/**
 * The bytes of a file, and its media type by the content.
 *
 * @throws file_too_large, file_type_not_supported
 */
export const checkedFile = async (
  file: File,
  { types, max, inWords }: Accepted,
): Promise<{ bytes: Uint8Array<ArrayBuffer>; type: string }> => {
  const bytes = await bytesOf(file, { max, inWords });
  const type = await typeOf(bytes);
  if (type in types) return { bytes, type };
  const names = Object.values(types).join(', ');
  throw new Problem(
    'file_type_not_supported',
    `The content of the file has none of these types: ${names}. The file's name is ignored.`,
  );
};

/** @throws file_too_large */
const bytesOf = async (
  file: File,
  { max, inWords }: Pick<Accepted, 'max' | 'inWords'>,
): Promise<Uint8Array<ArrayBuffer>> => {
  if (file.size > max) {
    throw new Problem('file_too_large', `The file has ${file.size} bytes. The limit is ${max} (${inWords}).`);
  }
  return new Uint8Array(await file.arrayBuffer());
};

/** Other names of media types, as the content is found to be. */
const SAME: Record<string, string> = {
  // An animated PNG counts as a PNG.
  'image/apng': 'image/png',
  'audio/x-m4a': 'audio/mp4',
  'audio/ogg; codecs=opus': 'audio/ogg',
};

/** The media type of the content. */
const typeOf = async (bytes: Uint8Array): Promise<string> => {
  const { mime = '' } = (await fileTypeFromBuffer(bytes)) ?? {};
  return SAME[mime] ?? mime;
};
