/**
 * The documentation next to the local API: pages, their links, and the proxy to the bridge.
 *
 * @module-tag long
 */
import { readdir, readFile } from 'node:fs/promises';
import { createServer, type RequestListener, request, type Server } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pages, REFERENCE } from '../../infra/docs/site/navigation.ts';
import type { Description } from '../../infra/docs/site/reference/description.ts';
import { operationsIn, pageOf } from '../../infra/docs/site/reference/operations.ts';
import type { Entry } from '../../infra/docs/site/search-entries.ts';
import { slugOf } from '../../infra/docs/site/sections.ts';
import { buildSite } from '../../infra/docs/site/site.ts';
import { MESSAGES } from '../../infra/local/aws/gateway/gateway.ts';
import { closeServer, listenOnLoopback } from '../../infra/local/aws/loopback.ts';
import { documentation } from '../../infra/local/documentation/documentation.ts';
import { withCodeSamples } from '../../infra/openapi/samples/code-samples.ts';
import { apiDescription } from '../../shared/api/openapi/description.ts';
import { placeholders } from '../../shared/api/placeholders.ts';
import {
  BACKUP_DAYS,
  DAYS_AHEAD,
  DELETION_MEMORY_DAYS,
  ENDED_CONSENT_DAYS,
  EVENT_MEMORY_DAYS,
  EXPIRED_MEDIA_DAYS,
  HISTORY_DAYS,
  inDays,
  LOG_PERIOD_DAYS,
  MEDIA_DAYS,
  OPERATION_DAYS,
  RETRY_DAYS,
  TOMBSTONE_DAYS,
} from '../../shared/core/lifetimes.ts';
import { setups } from '../../shared/destinations/registry.ts';

const servers: Server[] = [];

/** The texts for which the documentation has made what they name. */
const resolved: string[] = [];

const resolve = async (operation: string, texts: string[]): Promise<string[]> => {
  resolved.push(...texts);
  return texts.map((text) => text.replace(placeholders.user, `the user of ${operation}`));
};

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
  const phoneUrl = 'http://127.0.0.1:2';
  const tokens = { token: 'demo', app_token: 'app' };
  const show = documentation({ baseUrl: 'http://127.0.0.1:1', bridgeUrl, phoneUrl, tokens, examples: { resolve } });
  url = await serve((incoming, response) => {
    if (!show(incoming, response)) response.writeHead(404).end('not of the documentation');
  });
});

afterAll(() => Promise.all(servers.map(closeServer)));

const hosts = { base: 'https://api.example.com', bridge: 'https://bridge.example.com' };
const site = await buildSite({ base_url: hosts.base, bridge_url: hosts.bridge }, apiDescription(hosts));

const decoder = new TextDecoder();

const textOf = (path: string): string => {
  const { body = '' } = site.get(path) ?? {};
  return typeof body === 'string' ? body : decoder.decode(body);
};

/** The pages of guides. */
const guides = pages.map(({ path }) => path);
const operations = operationsIn(apiDescription(hosts) as unknown as Description);
const all = [...guides, REFERENCE.path, ...operations.map(({ page }) => page)];

describe('pages', () => {
  test.each(['', ...all])('/docs/%s is a page', async (path) => {
    const answer = await fetch(`${url}/docs/${path}`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(await answer.text()).toContain('<nav class="tabs" aria-label="Documentation">');
  });

  test.each([
    ['business.md', 'text/markdown; charset=utf-8'],
    ['llms.txt', 'text/plain; charset=utf-8'],
  ])('/docs/%s is served as %s', async (path, type) => {
    const answer = await fetch(`${url}/docs/${path}`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type]);
    expect(await answer.text()).toBe(textOf(path));
  });

  test('/docs is the page index.html', async () => {
    const [page, index] = await Promise.all(['', '/index.html'].map((path) => fetch(`${url}/docs${path}`)));
    expect([page?.redirected, await page?.text()]).toEqual([false, await index?.text()]);
  });

  test.each(['/docs/../package.json', '/docs/missing', '/docs/%2e%2e/README.md'])('%s returns 404', async (path) => {
    expect((await fetch(`${url}${path}`)).status).toBe(404);
  });

  test.each(['/docs/missing', '/docs/a/b/missing.html'])('%s shows the page for missing addresses', async (path) => {
    const answer = await fetch(`${url}${path}`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    const html = await answer.text();
    expect(html).toContain('<h1>Page not found</h1>');
    expect(html).toContain('<link rel="stylesheet" href="/docs/style.css">');
  });

  test.each(['/docsify', '/v1/openapi.json', '/'])('%s is passed to the API', async (path) => {
    expect(await (await fetch(`${url}${path}`)).text()).toBe('not of the documentation');
  });

  test.each(all)('%s has no broken links', (page) => {
    const links = [...textOf(page).matchAll(/href="(?:\/docs\/)?([^"]+)"/g)].map(([, href = '']) => href);
    for (const href of links.filter((one) => !one.startsWith('http') && one !== 'data:,')) {
      const [path = '', anchor] = href.split('#');
      expect(site.has(path || page), href).toBe(true);
      if (anchor !== undefined) expect(textOf(path || page), href).toContain(`id="${anchor}"`);
    }
  });

  test.each(all)('%s loads only its own files', (page) => {
    const loaded = [...textOf(page).matchAll(/<(?:script|link|img)[^>]*?(?:src|href)="([^"]+)"/g)];
    expect(loaded.length).toBeGreaterThan(0);
    for (const [, address = ''] of loaded) expect(address).toMatch(/^(data:,|(\/docs\/)?[\w.-]+)$/);
    expect(textOf(page)).toContain("default-src 'none'; script-src 'self'");
  });

  test.each(['business.md', 'operator.md'])('each section of %s is on one page', async (guide) => {
    const markdown = (await readFile(`infra/docs/${guide}`, 'utf8')).replaceAll(/^ *```[\s\S]*?^ *```/gm, '');
    for (const [, title = ''] of markdown.matchAll(/^## (.+)$/gm)) {
      const id = slugOf(title);
      const own = pages.filter((page) => page.guide === guide);
      const shown = own.filter(
        ({ path, sections }) =>
          textOf(path).includes(`<h2 id="${id}">`) || (Array.isArray(sections) && sections[0] === title),
      );
      expect(shown, title).toHaveLength(1);
    }
  });

  test('the search finds sections, operations and error codes, at URLs that exist', () => {
    const entries: Entry[] = JSON.parse(textOf('search.json'));
    for (const { url: target } of entries) {
      const [path = '', anchor] = target.split('#');
      expect(textOf(path), target).toContain(anchor === undefined ? '<main' : `id="${anchor}"`);
    }
    const urls = new Map(entries.map(({ title, url: target }) => [title, target]));
    expect(urls.get('Stop messages')).toBe('messages.html#stop-messages');
    expect(urls.get('POST /v1/message')).toBe('reference-send-message.html');
    expect(urls.get('idempotency_key_reused')).toBe('errors.html#idempotency_key_reused');
  });

  test('offers a form for each operation of the API host, without a token, and none for those of the bridge host', () => {
    expect(textOf(pageOf('sendMessage'))).toMatch(/<input name="token" type="password" required /);
    expect(textOf(pageOf('sendMessage'))).not.toContain('data-examples');
    const ofBridge = textOf(pageOf('receiveTurnMessage'));
    expect(ofBridge).toContain('<main class="guide operation">');
    expect(ofBridge).not.toContain('<form');
  });
});

describe('the reference', () => {
  const description = apiDescription(hosts);

  test('has a page for each operation and each webhook', () => {
    const { webhooks: described } = description as unknown as { webhooks: object };
    expect(new Set(operations.map(({ page }) => page)).size).toBe(operations.length);
    for (const { page } of operations) expect(textOf(page), page).toContain('<main class="guide operation">');
    for (const type of Object.keys(described))
      expect(all.some((page) => textOf(page).includes(`<h1>${type}</h1>`))).toBe(true);
  });

  test('has a rule of its style sheet for each language and example that can be chosen', async () => {
    const shown = await buildSite(
      { base_url: hosts.base, bridge_url: hosts.bridge },
      withCodeSamples(description, hosts),
    );
    const style = textOf('reference.css');
    let most = 0;
    for (const [path, { body }] of shown) {
      const page = path.startsWith('reference-') ? String(body) : '';
      for (const [, language] of page.matchAll(/name="language" value="(\w+)"/g)) {
        expect(style).toContain(`:has([value="${language}"]:checked)`);
      }
      most = Math.max(most, page.split('<option>').length - 1);
    }
    expect(most).toBeGreaterThan(1);
    expect(style).toContain(`:has(option:nth-child(${most}):checked)`);
  });

  test('leads from earlier links to the pages of operations', () => {
    const overview = textOf(REFERENCE.path);
    for (const { anchor, page } of operations) {
      expect(overview).toContain(`id="${anchor}"><a href="${page}"`);
    }
  });

  test('shows the fields of a body, its variants, and the errors of an operation', () => {
    const page = textOf(pageOf('sendMessage'));
    for (const field of ['to', 'send_at', 'quick_replies', 'job_id', 'Idempotency-Key']) {
      expect(page).toContain(`<p><code>${field}</code> <span class="type">`);
    }
    expect(page).toContain('If <code>type</code> is <code>image</code>');
    // What all variants share is there once.
    expect(page.split('<p><code>priority</code> <span class="type">')).toHaveLength(2);
    expect(textOf(pageOf('fetchUserData'))).toContain('<code>results</code> <span class="type">map of objects</span>');
    for (const code of ['job_cancelled', 'invalid_request', 'internal_error']) {
      expect(page, code).toMatch(new RegExp(`<summary><span class="status">\\d{3}</span><code>${code}</code>`));
    }
    expect(page).toContain('Permission: <code>messages</code>.');
  });

  test('shows texts of the description as texts', async () => {
    const hostile = '<img src=x onerror=alert(1)>';
    const text = JSON.stringify(description)
      .replaceAll('A text with quick replies', hostile)
      .replaceAll('"quick_replies"', JSON.stringify(`quick${hostile}`))
      .replaceAll('Good morning!', hostile)
      .replaceAll("The user's phone number.", hostile);
    const service = { token: hostile.replace('<', '"><'), app_token: 'app', bridge: '/docs/bridge', phone: 'phone' };
    const shown = await buildSite({ base_url: hosts.base, bridge_url: hosts.bridge, local: service }, JSON.parse(text));
    const page = String(shown.get(pageOf('sendMessage'))?.body);
    expect(page).toContain('&lt;img src=x onerror=alert(1)&gt;');
    expect(page).not.toContain('<img');
  });
});

test.each([
  ['security', 40],
  ['failure-modes', 30],
])('every test that the page %s quotes exists', async (name, least) => {
  const page = (await readFile(`infra/docs/${name}.md`, 'utf8')).replaceAll(/\s+/g, ' ');
  // One file may have several of the tests.
  const named = [...page.matchAll(/((?:_".+?"_(?:, )?)+) \(`(.+?)`\)/g)].flatMap(([, titles = '', file = '']) =>
    [...titles.matchAll(/_"(.+?)"_/g)].map(([, title = '']) => ({ title, file })),
  );
  expect(named.length).toBeGreaterThan(least);
  // None is quoted without its file.
  expect(named).toHaveLength([...page.matchAll(/_".+?"_/g)].length);
  for (const { title, file } of named) {
    expect(await readFile(file, 'utf8'), `${title} in ${file}`).toContain(title);
  }
});

const read = (path: string): Promise<string> => readFile(`infra/docs/${path}`, 'utf8');

const LIFETIMES: Record<string, string[]> = {
  'start/how-it-works.md': [
    `until ${inDays(RETRY_DAYS)} have passed`,
    `After ${inDays(RETRY_DAYS)} the message has failed.`,
  ],
  'start/overview.md': [`| for ${inDays(RETRY_DAYS)} |`],
  'business.md': [
    `with growing pauses, for ${inDays(RETRY_DAYS)},`,
    `event to your webhook for ${inDays(HISTORY_DAYS)}.`,
    `one minute to ${inDays(DAYS_AHEAD)} ahead`,
    `the time ${inDays(MEDIA_DAYS)} later at which it expires`,
    `after ${EXPIRED_MEDIA_DAYS} more days 404`,
    `default is the last ${inDays(LOG_PERIOD_DAYS)}.`,
    `until ${inDays(ENDED_CONSENT_DAYS)} after the end`,
    `until ${TOMBSTONE_DAYS} days after its deletion`,
  ],
  'operator.md': [`point-in-time recovery for ${inDays(BACKUP_DAYS)}`],
  'security.md': [
    `open that file for ${inDays(MEDIA_DAYS)}`,
    `or a restore register them | ${DELETION_MEMORY_DAYS} days |`,
    `[Deletion markers](#deletion-markers) | ${DELETION_MEMORY_DAYS} days |`,
    `a start ${DELETION_MEMORY_DAYS} days |`,
    `| ids of events of the app network | a row each | ${EVENT_MEMORY_DAYS} days |`,
    `may be ${inDays(DAYS_AHEAD)} ahead`,
    `failed: ${inDays(RETRY_DAYS)} at most; in the history ${HISTORY_DAYS} days more |`,
    `| ${HISTORY_DAYS} days, or until the user is erased |`,
    `| until ${ENDED_CONSENT_DAYS} days after the end and its acknowledgement |`,
    `| the URL ${MEDIA_DAYS} days, the bytes a day longer |`,
    `no secret, text or path of a URL | ${OPERATION_DAYS} days |`,
  ],
};

test.each(Object.entries(LIFETIMES))('%s has the lifetimes of the code', async (guide, texts) => {
  const text = (await read(guide)).replaceAll(/\s+/g, ' ');
  for (const expected of texts) expect(text).toContain(expected);
});

test('every section of wire-facts.md that a comment names exists', async () => {
  const sections = [...(await read('wire-facts.md')).matchAll(/^## (.+)$/gm)].map(([, title]) => title);
  const named: unknown[] = [];
  for (const folder of ['shared', 'functions', 'infra', 'test']) {
    const names = await readdir(folder, { recursive: true });
    for (const name of names.filter((one) => one.endsWith('.ts'))) {
      const text = (await readFile(join(folder, name), 'utf8')).replaceAll(/\s+(?:\*\s+)?/g, ' ');
      named.push(...[...text.matchAll(/wire-facts\.md, "([^"]+)"/g)].map(([, title]) => title));
    }
  }
  expect(named.length).toBeGreaterThan(5);
  expect(sections).toEqual(expect.arrayContaining(named));
});

describe.each(['rapidpro', 'turn'] as const)('the form of %s', (platform) => {
  const values = {
    bridgeUrl: 'BRIDGE_URL',
    token: 'TOKEN',
    encodedToken: 'ENCODED_TOKEN',
    botNumber: 'BOT_NUMBER',
    name: 'the name of your business',
  };
  const fields = setups[platform].fields(values).map(({ field, value }) => [field, value || 'leave empty']);

  test('in the guide has the fields and values of the command connect', async () => {
    const [, table = ''] = /^\| field +\| value +\|\n([\s\S]+?)\n\n/m.exec(await read(`connect/${platform}.md`)) ?? [];
    const rows = [...table.matchAll(/^\| (?!-)(.+?) +\| (.+?) +\|$/gm)].map(([, ...row]) =>
      row.map((cell = '') => cell.replaceAll('`', '')),
    );
    expect(rows).toEqual(fields);
  });

  test('in the picture has them, too', async () => {
    const picture = await read(`connect/${platform}-form.svg`);
    const texts = [...picture.matchAll(/<text [^>]*>(.*?)<\/text>/g)].map(([, text = '']) =>
      text.replaceAll('&amp;', '&'),
    );
    expect(texts.slice(1, 1 + 2 * fields.length)).toEqual(fields.flat());
  });
});

test('all guides use one form of the Authorization header', async () => {
  const names = await readdir('infra/docs', { recursive: true });
  const guidesAndReadme = [
    ...names.filter((name) => name.endsWith('.md')).map((name) => `infra/docs/${name}`),
    'README.md',
  ];
  const forms = new Set<string>();
  for (const path of guidesAndReadme) {
    const text = await readFile(path, 'utf8');
    // RapidPro's own API has another one.
    for (const [, form = ''] of text.matchAll(/Authorization: (?!Token PLATFORM_TOKEN)([^"'`\n]+)/g)) forms.add(form);
  }
  expect([...forms].filter((form) => !/^Bearer (\$?[A-Z_]*TOKEN)$/.test(form))).toEqual([]);
  expect(forms.size).toBeGreaterThan(1);
});

test('the guide for businesses explains each error of API Gateway, with a remedy', async () => {
  const guide = await read('business.md');
  const rows = [...guide.matchAll(/^\| (\d{3}) +\| `([A-Z][\w ]+)` +\| (\S.*?) +\| (\S.*?) +\|$/gm)];
  const described = rows.map(([, status, message]) => [Number(status), message]);
  expect(described).toEqual(Object.entries(MESSAGES).map(([status, text]) => [Number(status), text]));
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

describe('the examples', () => {
  const post = (body: unknown) => fetch(`${url}/docs/examples`, { method: 'POST', body: JSON.stringify(body) });

  test('get values of the stack when a request is tried out', async () => {
    const response = await post({ operation: 'sendMessage', texts: [`{"to":"${placeholders.user}"}`, 'other'] });
    expect(await response.json()).toEqual(['{"to":"the user of sendMessage"}', 'other']);
  });

  test('get none from an open page', async () => {
    const before = resolved.length;
    for (const path of [REFERENCE.path, pageOf('sendMessage'), pageOf('readAvatar'), 'openapi.json', 'examples']) {
      await (await fetch(`${url}/docs/${path}`)).text();
    }
    expect(resolved).toHaveLength(before);
  });

  test.each([{}, { operation: 'sendMessage', texts: 'one' }, null])('%j returns 422', async (body) => {
    expect((await post(body)).status).toBe(422);
  });

  test('fill a form, except for idempotency keys', async () => {
    const page = await (await fetch(`${url}/docs/${pageOf('sendMessage')}`)).text();
    expect(page).toContain('<input name="token" value="demo"');
    expect(page).toContain(`<input name="job_id" data-place="query" value="${placeholders.job}"`);
    expect(page).toContain('<input name="Idempotency-Key" data-place="header" value=""');
    expect(await (await fetch(`${url}/docs/${pageOf('receiveAppEvents')}`)).text()).toContain(
      '<input name="token" value="app"',
    );
  });
});

const PATHS = ['/docs/reference-send-message.html', '/docs/examples', '/docs/bridge/media/1', '/docs/'];

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
