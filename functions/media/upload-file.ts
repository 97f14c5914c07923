/** POST /v1/upload_file: stores a file, which may be encrypted, and returns its datafree URL. */
import { media as api } from '../../shared/api/areas/media.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';
import { upload, uploadEncrypted } from '../../shared/media/uploads.ts';

export const handler = endpoint(api.uploadFile, async ({ account, body }) =>
  ok(await (body.encrypted ? uploadEncrypted(account, body.file) : upload(account, 'file', body.file))),
);
