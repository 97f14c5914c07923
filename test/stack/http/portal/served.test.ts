/** How the portal's files are served: compressed, cached by their names, and with a strict content security policy. */
import { gzipSync } from 'node:zlib';
import { beforeAll, expect, inject, test } from 'vitest';
import type { ProblemDocument } from '../../support/client.ts';

const { base_url, bridge_url } = inject('stack');

const KB = 1_024;

/** Without Accept-Encoding, which `fetch` would add. */
const identity = { headers: { 'accept-encoding': 'identity' } };

const get = (path: string, init?: RequestInit) => fetch(new URL(path, base_url), init);

let page = '';
/** The paths of the files that the page names. */
let named: string[] = [];

beforeAll(async () => {
  page = await (await get('/portal', identity)).text();
  named = [...page.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, path]) => path ?? '');
});

test('the page is served without a token, and allows only code of its own host', async () => {
  const { status, headers } = await get('/portal', identity);
  expect(status).toBe(200);
  expect(Object.fromEntries(headers)).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'content-security-policy': [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      `img-src 'self' data: blob: ${bridge_url}`,
      `media-src ${bridge_url}`,
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
  });
  expect(headers.has('set-cookie')).toBe(false);
});

test('the page contains no inline script or style, and names only files below it', () => {
  expect(named.length).toBeGreaterThan(2);
  expect(named.filter((path) => !path.startsWith('/portal/'))).toEqual([]);
  expect(page).not.toMatch(/<style|style=|<script(?![^>]*\ssrc=)|\son\w+=/);
});

test('files of the page are kept for a year, and are compressed for who accepts it', async () => {
  for (const path of named.filter((one) => !one.endsWith('.svg'))) {
    const [plain, compressed] = await Promise.all([
      get(path, identity),
      get(path, { headers: { 'accept-encoding': 'br, gzip' } }),
    ]);
    expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(plain.headers.has('content-encoding')).toBe(false);
    expect(compressed.headers.get('content-encoding')).toBe('gzip');
    expect(compressed.headers.get('vary')).toBe('Accept-Encoding');
    expect(await compressed.text()).toBe(await plain.text());
  }
});

test('a copy that is still current is not sent again', async () => {
  const etag = (await get('/portal', identity)).headers.get('etag') ?? '';
  const { status, headers } = await get('/portal', { headers: { 'if-none-match': etag } });
  expect([status, headers.get('etag')]).toEqual([304, etag]);
  expect((await get('/portal', { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
});

test('the first view has at most 150 KB on the wire', async () => {
  let size = gzipSync(page).length;
  for (const path of named) size += gzipSync(await (await get(path, identity)).text()).length;
  expect(size).toBeLessThan(150 * KB);
});

test.each(['main.js', 'index.html.gz', '..%2findex.mjs', '..%2f..%2fpackage.json', '%00', 'constructor'])(
  'a file that the portal lacks returns 404, and says what to do: %s',
  async (file) => {
    const response = await get(`/portal/${file}`);
    expect([response.status, response.headers.get('content-type')]).toEqual([404, 'application/problem+json']);
    const { code, detail } = (await response.json()) as ProblemDocument;
    expect([code, detail]).toEqual(['address_not_found', expect.stringContaining('Load the page again')]);
  },
);
