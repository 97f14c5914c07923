/** GET /docs, and below it the pages of the documentation. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { description as api } from '../../shared/api/areas/description.ts';
import { exampleHosts } from '../../shared/api/openapi/example-hosts.ts';
import { Problem } from '../../shared/core/problems.ts';
import { baseUrl, bridgeUrl, functionFolder } from '../../shared/core/settings.ts';
import { unlimitedEndpoint } from '../../shared/http/endpoint.ts';
import { fileResponse } from '../../shared/http/static-files.ts';

const folder = join(functionFolder(), 'docs');

/** `infra/bundle/documentation.ts` writes them there, compressed, with example hosts. */
const names = new Set(readdirSync(folder));

const made = new Map<string, Uint8Array>();

/** A file with the hosts of this stack, compressed. */
const withHosts = (name: string): Uint8Array => {
  const known = made.get(name);
  if (known !== undefined) return known;
  const text = gunzipSync(readFileSync(join(folder, name)))
    .toString()
    .replaceAll(exampleHosts.base, baseUrl())
    .replaceAll(exampleHosts.bridge, bridgeUrl());
  const compressed = gzipSync(text);
  made.set(name, compressed);
  return compressed;
};

/** The page for missing addresses. */
const MISSING = '404.html';

const HEADERS = {
  'cache-control': 'public, max-age=300',
  // Pages of all origins may read the documentation, and none may show it as its own.
  'access-control-allow-origin': '*',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self'; \
base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};

export const handler = unlimitedEndpoint(
  api.readDocumentation,
  async ({ path: { file = 'index.html' }, headers: { accept = '', 'accept-encoding': encodings } }) => {
    const exists = names.has(file);
    if (!(exists || /\btext\/html\b/.test(accept))) {
      throw new Problem('address_not_found', 'The documentation has no such page: start at /docs.');
    }
    const name = exists ? file : MISSING;
    const response = fileResponse({ name, compressed: withHosts(name) }, HEADERS, encodings);
    return exists ? response : { ...response, status: 404 };
  },
);
