/** How the documentation is served: with the hosts of the stack, for people and programs, and with only its own code. */
import { expect, inject, test } from 'vitest';
import type { ProblemDocument } from '../../support/client.ts';

const { base_url, bridge_url } = inject('stack');

/** Without Accept-Encoding, which `fetch` would add. */
const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(new URL(path, base_url), { headers: { 'accept-encoding': 'identity', ...headers } });

test('the documentation is served without a token, and allows only code of its own host', async () => {
  const { status, headers } = await get('/docs');
  expect(status).toBe(200);
  expect(Object.fromEntries(headers)).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'public, max-age=300',
    'access-control-allow-origin': '*',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'content-security-policy': expect.stringContaining("script-src 'self'; "),
  });
});

test.each(['index.html', 'reference-send-message.html', 'openapi.json', 'llms-full.txt', 'messages.md'])(
  '%s names the hosts of the stack, and no example hosts',
  async (file) => {
    const text = await (await get(`/docs/${file}`)).text();
    expect(text).not.toMatch(/https:\/\/(?:api|bridge)\.example\.com/);
    if (file === 'openapi.json') {
      const { paths, servers } = JSON.parse(text);
      expect(servers[0].url).toBe(base_url);
      expect(paths['/v1/message'].post['x-codeSamples']).toHaveLength(4);
    }
    if (file === 'reference-send-message.html') {
      expect(text).toContain(base_url);
      expect(text).toContain(bridge_url);
    }
  },
);

test('every file that a page names exists, with its type', { tags: 'long' }, async () => {
  const types: Record<string, string> = {
    css: 'text/css; charset=utf-8',
    html: 'text/html; charset=utf-8',
    js: 'text/javascript; charset=utf-8',
    md: 'text/markdown; charset=utf-8',
  };
  for (const page of ['/docs', '/docs/reference-send-message.html']) {
    const text = await (await get(page)).text();
    const named = [...text.matchAll(/(?:href|src)="((?:\/docs\/)?[\w-]+\.(\w+))/g)];
    expect(named.length).toBeGreaterThan(20);
    for (const [path = '', type = ''] of new Map(named.map(([, path, type]) => [path, type]))) {
      const { status, headers } = await get(`/docs/${path.replace('/docs/', '')}`);
      expect([status, headers.get('content-type')], path).toEqual([200, types[type]]);
    }
  }
});

test('a page is compressed for who accepts it', async () => {
  const compressed = await get('/docs/errors.html', { 'accept-encoding': 'gzip' });
  expect([compressed.headers.get('content-encoding'), compressed.headers.get('vary')]).toEqual([
    'gzip',
    'Accept-Encoding',
  ]);
  expect(await compressed.text()).toBe(await (await get('/docs/errors.html')).text());
});

test.each(['nowhere.html', '..%2findex.mjs', '%00', 'constructor'])(
  'a page that does not exist is a page for browsers, and a problem for programs: %s',
  async (file) => {
    const page = await get(`/docs/${file}`, { accept: 'text/html' });
    expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(await page.text()).toContain('<h1>Page not found</h1>');
    const problem = await get(`/docs/${file}`);
    const { code, detail } = (await problem.json()) as ProblemDocument;
    expect([problem.status, code, detail]).toEqual([
      404,
      'address_not_found',
      'The documentation has no such page: start at /docs.',
    ]);
  },
);
