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
import { LIFETIME, type MediaItem, urlOf } from './media.ts';
import { putObject } from './object-store.ts';

const IMAGES = { 'image/png': 'PNG', 'image/jpeg': 'JPEG', 'image/gif': 'GIF', 'image/webp': 'WebP' };

/** Accepted media types, with their names for people. */
const TAKEN = { image: IMAGES, file: { ...IMAGES, 'application/pdf': 'PDF' } };

/** Most bytes of a file. In base64, a larger one would exceed the limits of API Gateway and Lambda. */
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
 * @throws file_type_not_supported — neither an image nor, for `file`, a PDF
 */
export const upload = async (account: string, kind: keyof typeof TAKEN, file: File): Promise<Uploaded> => {
  const { bytes, type } = await checkedFile(file, { types: TAKEN[kind], max: MAX_SIZE, inWords: '4 MB' });
  const [id, created] = [newUnguessableId(), now()];
  const sha256 = sha256Of(bytes);
  const item: MediaItem = {
    ...newMediaItem(account, { id, type, size: bytes.length, sha256, created: timestampOf(created) }),
    until: timestampOf(created + LIFETIME),
    expires_at: secondsFromNow(LIFETIME / 1_000 + AFTERMATH),
  };
  // The object first: without an item, it has no URL, and the bucket's lifecycle rule removes it.
  await putObject(id, bytes, sha256);
  await putIfAbsent(item);
  return { url: urlOf(id), expires_at: item.until };
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
  if (file.size > max) {
    throw new Problem('file_too_large', `The file has ${file.size} bytes. The limit is ${max} (${inWords}).`);
  }
  const bytes = new Uint8Array(await file.arrayBuffer());
  const type = await typeOf(bytes);
  if (type in types) return { bytes, type };
  const names = Object.values(types).join(', ');
  throw new Problem(
    'file_type_not_supported',
    `The content of the file has none of these types: ${names}. The file's name is ignored.`,
  );
};

/** The media type of the content. An animated PNG counts as a PNG. */
const typeOf = async (bytes: Uint8Array): Promise<string> => {
  const { mime = '' } = (await fileTypeFromBuffer(bytes)) ?? {};
  return mime === 'image/apng' ? 'image/png' : mime;
};
