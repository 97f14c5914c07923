/** GET /portal, and below it the files of the page. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { portal as api } from '../../shared/api/areas/portal.ts';
import { Problem } from '../../shared/core/problems.ts';
import { bridgeUrl, functionFolder } from '../../shared/core/settings.ts';
import { notModified, ok, unlimitedEndpoint } from '../../shared/http/endpoint.ts';
import { matches } from '../../shared/media/media-headers.ts';

const PAGE = 'index.html';

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const readFiles = (folder: string) =>
  new Map(
    readdirSync(folder).map((name) => {
      const bytes = readFileSync(join(folder, name));
      const etag = `"${createHash('sha256').update(bytes).digest('base64url')}"`;
      return [name, { bytes, etag }] as const;
    }),
  );

/** Compressed. `infra/bundle/portal.ts` writes them into the function's folder. */
const files = readFiles(join(functionFolder(), 'portal'));

/** Scripts, styles and requests only of this host; media also of the bridge host, which serves uploads. */
const contentSecurityPolicy = (): string => {
  const media = new URL(bridgeUrl()).origin;
  return `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob: ${media}; media-src ${media}; \
connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
};

export const handler = unlimitedEndpoint(api.readPortal, async ({ path: { file = PAGE }, headers }) => {
  const found = files.get(file);
  if (found === undefined) {
    throw new Problem('address_not_found', 'The portal has no such file. Load the page again: it may be out of date.');
  }
  const described = {
    // The names of files change with their content; that of the page does not.
    'cache-control': file === PAGE ? 'no-cache' : 'public, max-age=31536000, immutable',
    etag: found.etag,
    vary: 'Accept-Encoding',
  };
  if (matches(headers['if-none-match'], found.etag)) return notModified(described);
  const isCompressed = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(headers['accept-encoding'] ?? '');
  return ok(new Uint8Array(isCompressed ? found.bytes : gunzipSync(found.bytes)), {
    ...described,
    'content-type': types[extname(file)] ?? 'application/octet-stream',
    ...(isCompressed && { 'content-encoding': 'gzip' }),
    'content-security-policy': contentSecurityPolicy(),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  });
});
