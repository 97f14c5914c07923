/** POST /v1/upload_file: takes an image or a document, and gives it a datafree address. */
import { endpoint, ok } from '../../shared/http/endpoint.ts';
import { upload } from '../../shared/media/uploads.ts';

export const handler = endpoint('uploadFile', async ({ account, body }) =>
  ok(await upload(account, 'file', body.file)),
);
