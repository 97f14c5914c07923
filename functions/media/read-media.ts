/** GET and HEAD /media/{id}: what a datafree address leads to. */

import { endpoint, notModified, ok } from '../../shared/http/endpoint.ts';
import { getMedia, getMediaConsistent } from '../../shared/media/media.ts';
import { matches, mediaHeaders } from '../../shared/media/media-headers.ts';
import { getObject } from '../../shared/media/object-store.ts';

export const handler = endpoint('readMedia', async ({ method, path, headers }) => {
  const media = await getMedia(path.id);
  const described = mediaHeaders(media);
  if (matches(headers['if-none-match'], described.etag)) return notModified(described);
  if (method === 'HEAD') return ok(new Uint8Array(), { ...described, 'content-length': String(media.size) });
  const bytes = await getObject(path.id);
  if (bytes !== undefined) return ok(bytes, described);
  // Media that were deleted a moment ago: their bytes are gone, and a stale read still finds their row.
  await getMediaConsistent(path.id);
  throw new Error('The bucket lacks the bytes of media.');
});
