/** GET /portal, and below it the files of the page. */
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { portal as api } from '../../shared/api/areas/portal.ts';
import { Problem } from '../../shared/core/problems.ts';
import { bridgeUrl, functionFolder } from '../../shared/core/settings.ts';
import { notModified, ok, unlimitedEndpoint } from '../../shared/http/endpoint.ts';
import { matches } from '../../shared/media/media-headers.ts';

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const folder = join(functionFolder(), 'portal');

/** Compressed, by their names, which contain a hash of their content. `infra/bundle/portal.ts` writes them there. */
const files = new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]));

const page = [...files.keys()].find((name) => name.endsWith('.html')) ?? '';

/** Scripts, styles and requests only of this host; media also of the bridge host, which serves uploads. */
const contentSecurityPolicy = (): string => {
  const media = new URL(bridgeUrl()).origin;
  return `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob: ${media}; media-src ${media}; \
connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
};

export const handler = unlimitedEndpoint(api.readPortal, async ({ path: { file = page }, headers }) => {
  const compressed = files.get(file);
  if (compressed === undefined) {
    throw new Problem('address_not_found', 'The portal has no such file. Load the page again: it may be out of date.');
  }
  const described = {
    // The address of the page stays the same when its content changes.
    'cache-control': file === page ? 'no-cache' : 'public, max-age=31536000, immutable',
    // Weak: one for the compressed and the other bytes.
    etag: `W/"${file}"`,
    vary: 'Accept-Encoding',
  };
  if (matches(headers['if-none-match'], described.etag)) return notModified(described);
  const acceptsGzip = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(headers['accept-encoding'] ?? '');
  return ok(new Uint8Array(acceptsGzip ? compressed : gunzipSync(compressed)), {
    ...described,
    'content-type': types[extname(file)] ?? 'application/octet-stream',
    ...(acceptsGzip && { 'content-encoding': 'gzip' }),
    'content-security-policy': contentSecurityPolicy(),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    // A page that has opened this one gets no handle of it, with which it could change the part after #.
    'cross-origin-opener-policy': 'same-origin',
  });
});
