/** Takes media that businesses upload (spec §4.14). */
import { createHash } from 'node:crypto';
import { fileTypeFromBuffer } from 'file-type';
import { now, secondsFromNow, timestampOf } from '../core/clock.ts';
import { newUnguessableId } from '../core/ids.ts';
import { Problem } from '../core/problems.ts';
import { mediaBucket } from '../core/settings.ts';
import { putIfAbsent } from '../table/client.ts';
import { mediaKey, ofMediaOwner } from '../table/keys.ts';
import { LIFETIME, type MediaItem, urlOf } from './media.ts';
import { putObject } from './object-store.ts';

const IMAGES = { 'image/png': 'PNG', 'image/jpeg': 'JPEG', 'image/gif': 'GIF', 'image/webp': 'WebP' };

/** Media types that are taken, with their names for people. */
const TAKEN = { image: IMAGES, file: { ...IMAGES, 'application/pdf': 'PDF' } };

/** Bytes of a file: more does not fit through the gateway and the function, in base64. */
const MAX_SIZE = 4 * 1024 * 1024;

/** Seconds that an address says for that it has expired. */
const AFTERMATH = 30 * 86_400;

/** A file that was taken (spec §4.14). */
export interface Uploaded {
  url: string;
  /** When the address stops working: 30 days from now. */
  expires_at: string;
}

/**
 * Stores a file, and gives it a URL. The service detects the type from the content, not from the name or the header.
 * 2 write units and a put to the bucket.
 *
 * @throws file_too_large — over 4 MB
 * @throws file_type_not_supported — something else than an image, or, for a file, a PDF
 */
export const upload = async (account: string, kind: keyof typeof TAKEN, file: File): Promise<Uploaded> => {
  if (file.size > MAX_SIZE) {
    throw new Problem('file_too_large', `The file has ${file.size} bytes. The limit is ${MAX_SIZE} (4 MB).`);
  }
  const bytes = new Uint8Array(await file.arrayBuffer());
  const type = await typeOf(bytes);
  if (!(type in TAKEN[kind])) {
    const names = Object.values(TAKEN[kind]).join(', ');
    throw new Problem(
      'file_type_not_supported',
      `The content of the file has none of these types: ${names}. The file's name is ignored.`,
    );
  }
  const [id, created] = [newUnguessableId(), now()];
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const item: MediaItem = {
    ...mediaKey(id),
    account,
    type,
    size: bytes.length,
    sha256,
    bucket: mediaBucket(),
    created: timestampOf(created),
    until: timestampOf(created + LIFETIME),
    expires_at: secondsFromNow(LIFETIME / 1_000 + AFTERMATH),
    ...ofMediaOwner(account, { id, created: timestampOf(created) }),
  };
  // What has no item has no address, and the bucket forgets it by itself.
  await putObject(id, bytes, sha256);
  await putIfAbsent(item);
  return { url: urlOf(id), expires_at: item.until };
};

/** An animated PNG is a PNG. */
const typeOf = async (bytes: Uint8Array): Promise<string> => {
  // Stryker disable next-line StringLiteral: The replacement matches nothing either, or is rejected too.
  const { mime = '' } = (await fileTypeFromBuffer(bytes)) ?? {};
  return mime === 'image/apng' ? 'image/png' : mime;
};
