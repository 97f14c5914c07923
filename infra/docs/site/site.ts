/**
 * The documentation as a site: the guides of `infra/docs`, and the reference, from the API description. Eleventy makes the
 * pages. All files come from this project and its packages.
 */
import { glob, readFile } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import Eleventy from '@11ty/eleventy';
import { build } from 'esbuild';
import { createProgram } from '../../operator/program.ts';
import { commandsSection } from './commands.ts';
import { headingsOf, renderGuide } from './guide.ts';
import { llmsFullText, llmsText, markdownPath, siteMarkdown } from './markdown.ts';
import { CHANGELOG, groups, MISSING, type Page, pages, REFERENCE } from './navigation.ts';
import { notes } from './notes.ts';
import type { Description } from './reference/description.ts';
import { operationList, referenceMarkdown } from './reference/markdown.ts';
import { operationsIn } from './reference/operations.ts';
import { type OperationPage, referenceOf } from './reference/pages.ts';
import type { LocalOrigin } from './reference/try.ts';
import { entriesOf } from './search-entries.ts';
import { type Guides, markdownOf, resolverOf } from './sections.ts';

export interface File {
  type: string;
  body: string | Uint8Array<ArrayBuffer>;
}

/** The properties of a service that the reference uses. */
export interface Service {
  base_url: string;
  bridge_url: string;
  /** What only a local stack has. */
  local?: Local;
}

interface Local extends LocalOrigin {
  /** The page with the phone. */
  phone: string;
}

const here = dirname(fileURLToPath(import.meta.url));
const docs = join(here, '..');
const page = join(here, 'page');
/** The colours of all pages. */
const tokens = join(docs, '../web/tokens.css');

const HTML = 'text/html; charset=utf-8';
const CSS = 'text/css; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';
const JSON_TYPE = 'application/json';
const MARKDOWN = 'text/markdown; charset=utf-8';
const TEXT = 'text/plain; charset=utf-8';

/** Files of the site that are copied: their names, sources and types. */
const COPIED: [name: string, source: string, type: string][] = [
  ['tokens.css', tokens, CSS],
  ...['style.css', 'columns.css', 'elements.css', 'home.css', 'reference.css'].map((name): [string, string, string] => [
    name,
    join(page, name),
    CSS,
  ]),
  ...['theme.js', 'site.js', 'reference.js'].map((name): [string, string, string] => [name, join(page, name), SCRIPT]),
];

/** All files of the site, by their paths relative to its folder. */
export const buildSite = async (service: Service, description: object): Promise<Map<string, File>> => {
  const guides = await readGuides();
  const pictures = await readAll('svg');
  const resolve = resolverOf(guides);
  const rendered = pages.map((one) => ({ ...one, html: renderPage(one, guides, pictures, resolve) }));
  const markdown = new Map(
    pages.map((one) => [one.path, siteMarkdown(markdownOf(guides, one), (href) => resolve(one.guide, href))]),
  );
  const { areas, ...overview } = referenceOf(service, description);
  const described = description as Description;

  const made = await makePages(
    rendered,
    areas.flatMap(({ operations }) => operations),
    { groups, reference: { ...REFERENCE, ...overview }, areas, phone: service.local?.phone },
  );
  const copied = await Promise.all(
    COPIED.map(
      async ([name, source, type]): Promise<[string, File]> => [
        name,
        { type, body: Uint8Array.from(await readFile(source)) },
      ],
    ),
  );
  return new Map<string, File>([
    ...made.map(({ path, html }): [string, File] => [
      path,
      { type: HTML, body: OF_OTHER_ADDRESSES.includes(path) ? withAbsoluteLinks(html) : html },
    ]),
    ...copied,
    ...[...markdown, ...referenceMarkdown(described)].map(([path, body]): [string, File] => [
      markdownPath(path),
      { type: MARKDOWN, body },
    ]),
    ['llms.txt', { type: TEXT, body: llmsText(operationList(described)) }],
    ['llms-full.txt', { type: TEXT, body: llmsFullText((path) => markdown.get(path) ?? '') }],
    ['search.js', { type: SCRIPT, body: await searchScript() }],
    ['search.json', { type: JSON_TYPE, body: JSON.stringify(entriesOf(rendered, operationsIn(described))) }],
    ['openapi.json', { type: JSON_TYPE, body: JSON.stringify(description) }],
  ]);
};

/** Pages that are also shown at other addresses: `/docs`, and addresses that lead to nothing. */
const OF_OTHER_ADDRESSES = ['index.html', MISSING.path];

const withAbsoluteLinks = (html: string): string => html.replaceAll(/(?<=\b(?:href|src)=")(?=[\w-]+\.\w+)/g, '/docs/');

/** The guides, with what is written elsewhere: the operator's commands, and the changelog. */
const readGuides = async (): Promise<Guides> => {
  const guides = new Map(await readAll('md'));
  guides.set('operator.md', `${guides.get('operator.md')}\n${commandsSection(await createProgram())}\n`);
  const changelog = await readFile(join(docs, CHANGELOG), 'utf8');
  guides.set(CHANGELOG, changelog.replaceAll(/^## \[(.+?)\]/gm, '## $1'));
  return guides;
};

/** `search.ts` with its package as one module for browsers. */
const searchScript = async (): Promise<string> => {
  const { outputFiles } = await build({
    entryPoints: [join(here, 'search.ts')],
    bundle: true,
    format: 'esm',
    minify: true,
    write: false,
  });
  return outputFiles[0]?.text ?? '';
};

/** The texts of all files in `infra/docs` with this extension, by their paths in it. */
const readAll = async (extension: string): Promise<Guides> => {
  const found = new Map<string, string>();
  for await (const path of glob(`{*,start/*,connect/*,tools/*,pictures/*}.${extension}`, { cwd: docs })) {
    found.set(path.replaceAll('\\', '/'), await readFile(join(docs, path), 'utf8'));
  }
  return found;
};

const renderPage = (one: Page, guides: Guides, pictures: Guides, resolve: ReturnType<typeof resolverOf>): string =>
  renderGuide(markdownOf(guides, one), {
    linkTo: (href) => resolve(one.guide, href),
    pictureOf: (href) => {
      const picture = pictures.get(posix.join(posix.dirname(one.guide), href));
      if (picture === undefined) throw new Error(`${one.guide} shows ${href}, which does not exist.`);
      return picture;
    },
  });

/** Guides contain the braces of other template languages, which Eleventy must leave alone. */
const OF_PAGES = { templateEngineOverride: 'md' };

/** The pages of guides and of the reference, as Eleventy makes them from the templates in `page/`. */
const makePages = async (
  rendered: (Page & { html: string })[],
  operations: OperationPage[],
  data: Record<string, unknown>,
): Promise<{ path: string; html: string }[]> => {
  const eleventy = new Eleventy(page, join(docs, '.out'), {
    quietMode: true,
    configPath: null,
    config(configuration) {
      // The guides are HTML already.
      configuration.setLibrary('md', { render: (html) => html });
      configuration.setUseGitIgnore(false);
      for (const [name, value] of Object.entries(data)) configuration.addGlobalData(name, value);
      for (const { path, title, html } of rendered) {
        const shown = { path, title, contents: headingsOf(html), note: notes[path], markdown: markdownPath(path) };
        configuration.addTemplate(`${path}.md`, html, { ...OF_PAGES, ...shown, permalink: path, layout: 'guide.njk' });
      }
      const missing = { ...OF_PAGES, ...MISSING, permalink: MISSING.path, layout: 'missing.njk', contents: [] };
      configuration.addTemplate(`${MISSING.path}.md`, ' ', missing);
      const ofReference = { ...OF_PAGES, isReference: true };
      const own = { ...ofReference, ...REFERENCE, permalink: REFERENCE.path, layout: 'reference.njk' };
      configuration.addTemplate(`${REFERENCE.path}.md`, ' ', own);
      for (const operation of operations) {
        const { page: path, name: title } = operation;
        const own = {
          ...ofReference,
          permalink: path,
          layout: 'operation.njk',
          path,
          title,
          operation,
          markdown: markdownPath(path),
        };
        configuration.addTemplate(`${path}.md`, ' ', own);
      }
      return { markdownTemplateEngine: false, templateFormats: ['md'] };
    },
  });
  const made = await eleventy.toJSON();
  return made.map(({ url, content }) => ({ path: url === '/' ? 'index.html' : url.slice(1), html: content }));
};
