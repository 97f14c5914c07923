/** GET and HEAD /media/{id}: returns the image or file of a datafree URL. */

import { media as api } from '../../shared/api/areas/media.ts';
import { notModified, ok, unlimitedEndpoint } from '../../shared/http/endpoint.ts';
import { getMedia, getMediaConsistent } from '../../shared/media/media.ts';
import { matches, mediaHeaders } from '../../shared/media/media-headers.ts';
import { getObject } from '../../shared/media/object-store.ts';

export const handler = unlimitedEndpoint(api.readMedia, async ({ method, path, headers }) => {
  const media = await getMedia(path.id);
  const described = mediaHeaders(media);
  if (matches(headers['if-none-match'], described.etag)) return notModified(described);
  if (method === 'HEAD') return ok(new Uint8Array(), { ...described, 'content-length': String(media.size) });
  const bytes = await getObject(media.object ?? media.id);
  if (bytes !== undefined) return ok(bytes, described);
  // A stale read may still find the item of media whose bytes were just deleted: 404 or 410 then.
  await getMediaConsistent(path.id);
  throw new Error('The bucket lacks the bytes of media.');
});
