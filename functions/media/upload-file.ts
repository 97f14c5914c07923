/** POST /v1/upload_file: stores an image or a document, and returns its datafree URL. */
import { media as api } from '../../shared/api/areas/media.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';
import { upload } from '../../shared/media/uploads.ts';

export const handler = endpoint(api.uploadFile, async ({ account, body }) =>
  ok(await upload(account, 'file', body.file)),
);
