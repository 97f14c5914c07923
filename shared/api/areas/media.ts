/** Uploads, and the URLs that serve them. */
import * as v from 'valibot';

import { define } from '../endpoint.ts';

/** A form with one file; other fields are ignored. */
export const uploaded = v.object({
  file: v.pipe(
    v.unknown(),
    v.metadata({ type: 'string', format: 'binary' }),
    v.check((given) => !Array.isArray(given), 'must be there once: upload one file at a time'),
    v.check((given) => typeof given !== 'string', 'must be a file, with a file name: curl -F file=@picture.png'),
    v.file(),
    v.check((file) => file.size > 0, 'must not be empty'),
  ),
});

/** A field of a form: a text. */
const trueOrFalse = v.pipe(
  v.picklist(['true', 'false'], 'must be true or false'),
  v.transform((text) => text === 'true'),
);

const upload = {
  area: 'media',
  token: 'header',
  permission: 'messages',
  responses: { 200: v.object({ url: v.string(), expires_at: v.string() }) },
  problems: ['file_too_large', 'file_type_not_supported'],
  table: ['putMedia'],
  bucket: 'PutObject',
} as const;

export const media = {
  uploadImage: define({
    ...upload,
    summary: 'Upload an image.',
    body: { type: 'multipart', schema: uploaded },
    routes: [{ host: 'base', method: 'POST', path: '/v1/upload_image' }],
  }),

  uploadFile: define({
    ...upload,
    summary: 'Upload a file.',
    body: { type: 'multipart', schema: v.object({ ...uploaded.entries, encrypted: v.optional(trueOrFalse) }) },
    routes: [{ host: 'base', method: 'POST', path: '/v1/upload_file' }],
  }),

  readMedia: define({
    area: 'media',
    summary: 'Return an uploaded file.',
    routes: [
      { host: 'bridge', method: 'GET', path: '/media/{id}' },
      { host: 'bridge', method: 'HEAD', path: '/media/{id}' },
    ],
    // The `$default` route of the host requires a token, but a mistyped media URL must return 404 without one.
    catchAll: [
      { host: 'bridge', method: 'ANY', path: '/media' },
      { host: 'bridge', method: 'ANY', path: '/media/{proxy+}' },
    ],
    token: 'none',
    permission: 'none',
    path: v.object({ id: v.string() }),
    headers: v.object({ 'if-none-match': v.optional(v.string()) }),
    responses: { 200: v.instance(Uint8Array), 304: null },
    problems: ['media_not_found', 'media_expired'],
    table: ['findMedia'],
    bucket: 'GetObject',
  }),
} as const;
