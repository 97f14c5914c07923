/** The documentation next to the local API: pages, their links, and the proxy to the bridge. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, type RequestListener, request, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pages } from '../../infra/docs/shell.ts';
import { buildSite } from '../../infra/docs/site.ts';
import { closeServer, listenOnLoopback } from '../../infra/local/aws/loopback.ts';
import { documentation } from '../../infra/local/documentation.ts';

const servers: Server[] = [];

const serve = (listener: RequestListener): Promise<string> => {
  const server = createServer(listener);
  servers.push(server);
  return listenOnLoopback(server, 0);
};

let url: string;

beforeAll(async () => {
  const bridgeUrl = await serve(async (incoming, response) => {
    const body = await buffer(incoming);
    response.writeHead(207, { 'content-type': 'text/plain', 'x-own': 'yes' });
    response.end(`${incoming.method} ${incoming.url} ${incoming.headers.authorization} ${body}`);
  });
  const demo = { token: 'demo', bot_phone_number: '447700900000', panelist: '447700900001' };
  const show = await documentation({ baseUrl: 'http://127.0.0.1:1', bridgeUrl, demo });
  url = await serve((incoming, response) => {
    if (!show(incoming, response)) response.writeHead(404).end('not of the documentation');
  });
});

afterAll(() => Promise.all(servers.map(closeServer)));

const site = await buildSite({ base_url: 'https://api.example.com', bridge_url: 'https://bridge.example.com' }, {});

const textOf = (path: string): string => String(site.get(path)?.body);

/** All pages except the reference. */
const guides = pages.slice(1).map(({ path }) => path);

describe('pages', () => {
  test.each(['', 'index.html', ...guides])('/docs/%s is a page', async (path) => {
    const answer = await fetch(`${url}/docs/${path}`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(await answer.text()).toContain('<nav aria-label="Documentation">');
  });

  test('/docs redirects to /docs/', async () => {
    const answer = await fetch(`${url}/docs`, { redirect: 'manual' });
    expect([answer.status, answer.headers.get('location')]).toEqual([308, '/docs/']);
  });

  test.each(['/docs/../package.json', '/docs/missing', '/docs/%2e%2e/README.md'])('%s returns 404', async (path) => {
    expect((await fetch(`${url}${path}`)).status).toBe(404);
  });

  test.each(['/docsify', '/v1/openapi.json', '/'])('%s is passed to the API', async (path) => {
    expect(await (await fetch(`${url}${path}`)).text()).toBe('not of the documentation');
  });

  test.each(guides)('%s has no broken links', (guide) => {
    const links = [...textOf(guide).matchAll(/href="([^"]+)"/g)].map(([, href = '']) => href);
    for (const href of links.filter((one) => !one.startsWith('http') && one !== 'data:,')) {
      const [path = '', anchor] = href.split('#');
      expect(site.has(path || guide), href).toBe(true);
      if (anchor !== undefined) expect(textOf(path || guide), href).toContain(`id="${anchor}"`);
    }
  });

  test.each(['index.html', ...guides])('%s loads only its own files', (page) => {
    const loaded = [...textOf(page).matchAll(/<(?:script|link|img)[^>]*?(?:src|href)="([^"]+)"/g)];
    expect(loaded.length).toBeGreaterThan(0);
    for (const [, address = ''] of loaded) expect(address).toMatch(/^(data:,|[\w.-]+)$/);
    expect(textOf(page)).toContain("default-src 'none'; script-src 'self'");
  });

  test('npm run docs writes all pages, with the given hosts', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'docs-'));
    const env = { ...process.env, BASE_URL: 'https://api.acme.example', BRIDGE_URL: 'https://bridge.acme.example' };
    await promisify(execFile)(process.execPath, ['infra/docs/write.ts', folder], { env });
    expect((await readdir(folder)).sort()).toEqual([...site.keys()].sort());
    const description = await readFile(join(folder, 'openapi.json'), 'utf8');
    expect(description).toContain('"url":"https://api.acme.example"');
    expect(description).not.toContain('bridge.example.com');
    await rm(folder, { recursive: true });
  });

  test('a hosted site contains no token and sends no requests', () => {
    expect(JSON.parse(textOf('service.json'))).toEqual({
      base_url: 'https://api.example.com',
      bridge_url: 'https://bridge.example.com',
    });
  });
});

test.each([
  ['security', 40],
  ['failure-modes', 30],
])('every test that the page %s quotes exists', async (name, least) => {
  const page = (await readFile(`infra/docs/${name}.md`, 'utf8')).replaceAll(/\s+/g, ' ');
  const named = [...page.matchAll(/_"(.+?)"_ \(`(.+?)`\)/g)];
  expect(named.length).toBeGreaterThan(least);
  for (const [, title = '', file = ''] of named) {
    expect(await readFile(file, 'utf8'), `${title} in ${file}`).toContain(title);
  }
});

describe('the proxy to the bridge', () => {
  test('passes on method, path, query, token and body, and returns the response', async () => {
    const answer = await fetch(`${url}/docs/bridge/webhook/27820000001?a=1`, {
      method: 'POST',
      headers: { authorization: 'Bearer demo' },
      body: 'hi',
    });
    expect([answer.status, answer.headers.get('x-own')]).toEqual([207, 'yes']);
    expect(await answer.text()).toBe('POST /webhook/27820000001?a=1 Bearer demo hi');
  });
});

test('examples contain the phone numbers of the demo, so that they work', async () => {
  const { paths } = (await (
    await fetch(`${url}/docs/openapi.json`)
  ).json()) as typeof import('../../shared/api/openapi/openapi.json');
  const send = paths['/v1/message'].post.requestBody.content['application/json'].examples['a-text-with-quick-replies'];
  const test = paths['/webhook/{bot_phone_number}'].post;
  expect([send.value.to, test.parameters[0]?.example]).toEqual(['447700900001', '447700900000']);
});

const PATHS = ['/docs/service.json', '/docs/bridge/media/1', '/docs/'];

test.each(PATHS)("%s returns 403 for a host name other than this machine's", async (path) => {
  const { hostname, port } = new URL(url);
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  const headers = { host: 'rebound.example.com' };
  request({ hostname, port, path, headers }, (answer) => resolve(answer.resume().statusCode))
    .once('error', reject)
    .end();
  expect(await promise).toBe(403);
});

test.each(PATHS)('%s returns 403 for a page of another origin', async (path) => {
  const { status } = await fetch(`${url}${path}`, { headers: { origin: 'https://elsewhere.example.com' } });
  expect(status).toBe(403);
});
