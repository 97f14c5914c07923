/**
 * The documentation as a site: the reference, drawn by Swagger UI from the API description, and the guides beside this
 * file. Everything comes from this project and its packages; nothing from an outside address.
 */
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { renderGuide } from './guide.ts';
import { type Page, pages, shell } from './shell.ts';

export interface File {
  type: string;
  body: string | Buffer;
}

/** What the reference needs to know of the service that it describes. */
export interface Service {
  base_url: string;
  bridge_url: string;
  /** Where requests are tried out; nowhere, where nothing is given. */
  try?: {
    /** What requests carry, until people enter another one. */
    token: string;
    /** A path of the page's own host that leads to the bridge. */
    bridge: string;
  };
}

const here = dirname(fileURLToPath(import.meta.url));
const swagger = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')));

const HTML = 'text/html; charset=utf-8';
const CSS = 'text/css; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';
const JSON_TYPE = 'application/json';

/** All files of the site, by their paths below where it stands. */
export const buildSite = async (service: Service, description: object): Promise<Map<string, File>> => {
  const guides = pages.filter((page): page is Page & { guide: string } => page.guide !== undefined);
  const rendered = await Promise.all(
    guides.map(async (page): Promise<[string, File]> => {
      const markdown = await readFile(join(here, page.guide), 'utf8');
      return [page.path, { type: HTML, body: shell(page, `<main class="guide">${renderGuide(markdown)}</main>`) }];
    }),
  );
  const own = async (name: string, type: string): Promise<[string, File]> => [
    name,
    { type, body: await readFile(join(here, 'page', name)) },
  ];
  const packaged = async (name: string, type: string): Promise<[string, File]> => [
    name,
    { type, body: await readFile(join(swagger, name)) },
  ];
  return new Map<string, File>([
    ['index.html', { type: HTML, body: shell(pages[0], REFERENCE, SCRIPTS) }],
    ...rendered,
    await own('style.css', CSS),
    await own('reference.js', SCRIPT),
    await packaged('swagger-ui.css', CSS),
    await packaged('swagger-ui-bundle.js', SCRIPT),
    ['openapi.json', { type: JSON_TYPE, body: JSON.stringify(description) }],
    ['service.json', { type: JSON_TYPE, body: JSON.stringify(service) }],
  ]);
};

/** Swagger UI brings the page's main part. */
const REFERENCE =
  '<div id="reference" role="region" aria-label="Reference"><p class="wait">Loading the description…</p></div>';

const SCRIPTS = `<link rel="stylesheet" href="swagger-ui.css">
<link rel="stylesheet" href="style.css">
<script src="swagger-ui-bundle.js" defer></script>
<script src="reference.js" type="module"></script>`;
