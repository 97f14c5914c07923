/** POST /v1/upload_image: stores an image, and returns its datafree URL. */
import { media as api } from '../../shared/api/areas/media.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';
import { upload } from '../../shared/media/uploads.ts';

export const handler = endpoint(api.uploadImage, async ({ account, body }) =>
  ok(await upload(account, 'image', body.file)),
);
