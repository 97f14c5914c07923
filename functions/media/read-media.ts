/** GET and HEAD /media/{id}: what a datafree address leads to. */
import { getObject } from '../../shared/bucket.ts';
import { endpoint, notModified, ok } from '../../shared/http/endpoint.ts';
import { matches, mediaHeaders } from '../../shared/http/media-headers.ts';
import { openMedia } from '../../shared/media.ts';

export const handler = endpoint('readMedia', async ({ method, path, headers }) => {
  const media = await openMedia(path.id);
  const described = mediaHeaders(media);
  if (matches(headers['if-none-match'], described.etag)) return notModified(described);
  if (method === 'HEAD') return ok(new Uint8Array(), { ...described, 'content-length': String(media.size) });
  return ok(await getObject(path.id), described);
});
