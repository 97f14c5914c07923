/** Files that a function serves from a folder of its bundle, where they are compressed. */
import { extname } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { type Ok, ok } from './response.ts';

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
};

/**
 * The response with a file.
 *
 * @param file - its name, and its bytes as gzip
 * @param accepted - the request's header `Accept-Encoding`
 */
export const fileResponse = (
  { name, compressed }: { name: string; compressed: Uint8Array },
  headers: Record<string, string>,
  accepted = '',
): Ok<Uint8Array<ArrayBuffer>> => {
  const acceptsGzip = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(accepted);
  return ok(new Uint8Array(acceptsGzip ? compressed : gunzipSync(compressed)), {
    ...headers,
    vary: 'Accept-Encoding',
    'content-type': types[extname(name)] ?? 'application/octet-stream',
    ...(acceptsGzip && { 'content-encoding': 'gzip' }),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    // A page that has opened this one gets no handle of it, with which it could change the part after #.
    'cross-origin-opener-policy': 'same-origin',
  });
};
