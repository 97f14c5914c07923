/** GET /portal, and below it the files of the page. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { portal as api } from '../../shared/api/areas/portal.ts';
import { Problem } from '../../shared/core/problems.ts';
import { bridgeUrl, functionFolder } from '../../shared/core/settings.ts';
import { notModified, unlimitedEndpoint } from '../../shared/http/endpoint.ts';
import { fileResponse } from '../../shared/http/static-files.ts';
import { matches } from '../../shared/media/media-headers.ts';

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
  const shown = { ...described, 'content-security-policy': contentSecurityPolicy() };
  return fileResponse({ name: file, compressed }, shown, headers['accept-encoding']);
});
