/** What the site contains besides its guides: commands, changelog, missing pages, the site for programs, and the search. */
import { describe, expect, test } from 'vitest';
import { groups, pages } from '../../../infra/docs/site/navigation.ts';
import { notes } from '../../../infra/docs/site/notes.ts';
import { indexOf, searchIn } from '../../../infra/docs/site/search.ts';
import { type Entry, entriesOf, SYNONYMS } from '../../../infra/docs/site/search-entries.ts';
import { buildSite } from '../../../infra/docs/site/site.ts';
import { createProgram } from '../../../infra/operator/program.ts';
import { apiDescription } from '../../../shared/api/openapi/description.ts';

const hosts = { base: 'https://api.example.com', bridge: 'https://bridge.example.com' };
const site = await buildSite({ base_url: hosts.base, bridge_url: hosts.bridge }, apiDescription(hosts));

const decoder = new TextDecoder();

const textOf = (path: string): string => {
  const { body = '' } = site.get(path) ?? {};
  return typeof body === 'string' ? body : decoder.decode(body);
};

test('the page of the command line lists each command of the operator with what it does', async () => {
  const rows = [...textOf('command-line.html').matchAll(/<td[^>]*><code>([^<]*?)<\/code><\/td><td[^>]*>(.+?)<\/td>/g)];
  const listed = rows.map(([, command = '']) => command.split(/ (?=&lt;|\[)/)[0]);
  const { commands } = await createProgram();
  expect(commands.length).toBeGreaterThan(20);
  for (const { name, commands: below } of commands.map((one) => ({ name: one.name(), commands: one.commands }))) {
    if (below.length === 0) expect(listed).toContain(name);
    for (const one of below) expect(listed).toContain(`${name} ${one.name()}`);
  }
});

test('the changelog is a page', () => {
  expect(textOf('changelog.html')).toContain('<h2 id="unreleased">Unreleased</h2>');
});

describe('the page for missing addresses', () => {
  test('has links to pages that exist', () => {
    for (const [, path = ''] of textOf('404.html').matchAll(/<a href="\/docs\/([\w-]+\.html)/g))
      expect(site.has(path)).toBe(true);
    expect(textOf('404.html')).toContain('<h1>Page not found</h1>');
  });

  test.each(['index.html', '404.html'])(
    '%s has absolute links, because it is also shown at other addresses',
    (path) => {
      const links = [...textOf(path).matchAll(/(?:href|src)="([^"]+)"/g)].map(([, link]) => link);
      expect(links).toContain('/docs/style.css');
      expect(links.filter((link) => !/^(\/|#|https:|data:,$)/.test(link ?? ''))).toEqual([]);
    },
  );
});

describe('for programs', () => {
  const markdown = [...site.keys()].filter((path) => path.endsWith('.md'));

  test.each(markdown)('%s is Markdown, and its links lead to Markdown that exists', (path) => {
    const file = site.get(path);
    expect(file?.type).toBe('text/markdown; charset=utf-8');
    expect(textOf(path)).toMatch(/^# .+\n/);
    const text = textOf(path).replaceAll(/^ *```[\s\S]*?^ *```|(`+)(?!`)[\s\S]*?[^`]\1(?!`)/gm, '');
    expect(text).not.toContain('<!--');
    for (const [, picture, target = ''] of text.matchAll(/(!?)\[[^\]]*\]\(([^)\s]+)\)/g)) {
      expect(picture).toBe('');
      const [page = '', anchor] = target.split('#');
      if (/^https?:/.test(target)) continue;
      expect(page.endsWith('.md') && site.has(page), target).toBe(true);
      if (anchor) expect(textOf(page.replace('.md', '.html')), target).toContain(`id="${anchor}"`);
    }
  });

  test('each page names its Markdown', () => {
    for (const { path } of pages) {
      const [, link] = /<link rel="alternate" type="text\/markdown" href="(.+?)">/.exec(textOf(path)) ?? [];
      expect(link?.replace('/docs/', '')).toBe(path.replace('.html', '.md'));
    }
    expect(textOf('404.html')).not.toContain('rel="alternate"');
  });

  test('each page has a note, and the description of its HTML is the note', () => {
    for (const { path } of pages) {
      expect(notes[path], path).toMatch(/^[A-Z].*\.$/);
      expect(textOf(path)).toContain('<meta name="description" content="');
    }
  });

  test('llms.txt has the form of llmstxt.org, and lists each page once with a note', () => {
    const text = textOf('llms.txt');
    expect(text).toMatch(/^# Business API\n\n> .+\n\n/);
    const linked = [...text.matchAll(/^- \[[^\]]+\]\(([^)]+)\): \S.*\.$/gm)].map(([, target = '']) => target);
    expect(linked.toSorted()).toEqual(
      [...site.keys()].filter((path) => /\.md$|^llms-full|^openapi/.test(path)).toSorted(),
    );
    for (const path of linked) expect(site.has(path), path).toBe(true);
    // Every line of a list has this form, and "Optional" is the last section.
    expect(text.match(/^- /gm)).toHaveLength(linked.length);
    expect(text.match(/^## .+$/gm)?.at(-1)).toBe('## Optional');
  });

  test('llms-full.txt contains all pages for users, and no other', () => {
    const text = textOf('llms-full.txt');
    for (const { audience, pages: own } of groups) {
      for (const { path } of own) {
        expect(text.includes(textOf(path.replace('.html', '.md'))), path).toBe(audience === 'users');
      }
    }
  });
});

describe('the search', () => {
  const entries: Entry[] = JSON.parse(String(site.get('search.json')?.body));
  const index = indexOf(entries);

  test.each([
    ['pagination', 'messages.html#logs-and-jobs'],
    ['timezone', 'messages.html#sending-hours'],
    ['time zone', 'messages.html#sending-hours'],
    ['sandbox', 'quick-start.html#run-the-local-stack'],
    ['webhook signature', 'webhook.html'],
    ['SDK', 'generate.html'],
    ['MCP', 'mcp.html'],
    ['user_data.ended', 'reference-receive-user-data-ended.html'],
    ['rate limit', 'errors.html#request-limit'],
    ['retry', 'how-it-works.html#retry-schedule'],
    ['deploy', 'quick-start.html#deploy-to-aws'],
    ['token', 'business.html#token'],
    ['when consent ends', 'user-data.html#when-consent-ends'],
    ['idempotency_key_reused', 'errors.html#idempotency_key_reused'],
    ['https://example.com/v1/openapi.json#/components/responses/job_cancelled', 'errors.html#job_cancelled'],
    ['glossary', 'glossary.html'],
    ['/v1/upload_image', 'reference-upload-image.html'],
    ['rapidpro max length', 'rapidpro.html#messages-to-users'],
  ])('the first hit for "%s" is %s', (words, url) => {
    expect(searchIn(index, words)[0]?.url).toBe(url);
  });

  test('guides for users are above those for operators, and these above those for contributors', () => {
    const page = (path: string) => ({ path, title: 'Page', html: '<h2 id="parts">Parts</h2><p>about parts</p>' });
    const paths = ['decisions.html', 'restore.html', 'messages.html'];
    const found = searchIn(indexOf(entriesOf(paths.map(page), [])), 'parts');
    expect(found.map(({ url }) => url)).toEqual(paths.toReversed().map((path) => `${path}#parts`));
  });

  test('a section about MCP is the first hit for its other names', () => {
    const html = '<h2 id="mcp">Use MCP</h2><p>how</p><h2 id="agents">Others</h2><p>agent, model, context, protocol</p>';
    const own = indexOf(entriesOf([{ path: 'messages.html', title: 'Messages', html }], []));
    for (const words of ['MCP', 'model context protocol', 'agent']) {
      expect(searchIn(own, words)[0]?.url, words).toBe('messages.html#mcp');
    }
  });

  test.each(Object.keys(SYNONYMS))('one section with synonyms is headed "%s"', (heading) => {
    expect(entries.filter(({ title, weight }) => title === heading && weight === 1)).toHaveLength(1);
  });
});
