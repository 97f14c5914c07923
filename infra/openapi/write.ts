/**
 * `npm run openapi`: writes the API description to `shared/api/openapi/openapi.json`, which the service returns, and the tools
 * of the MCP server to `shared/mcp/tools.json`; and the tables of endpoints and of tools into the guides.
 */
import { readFile, writeFile } from 'node:fs/promises';
import type { Endpoint } from '../../shared/api/endpoint.ts';
import { api } from '../../shared/api/index.ts';
import { withTable } from '../docs/table.ts';
import { describedPath, endpointNames } from './docs.ts';
import { describeApi } from './document.ts';
import { describeTools, toolTable } from './mcp-tools.ts';

export const DESCRIPTION_FILE = new URL('../../shared/api/openapi/openapi.json', import.meta.url);
export const TOOLS_FILE = new URL('../../shared/mcp/tools.json', import.meta.url);

const textOf = (document: unknown): string => `${JSON.stringify(document, null, 2)}\n`;

/** The content of the file. */
export const descriptionText = (): string => textOf(describeApi());

/** The content of the file of tools. */
export const toolsText = (): string => textOf(describeTools(describeApi()));

const ACCEPTED: Partial<Record<Endpoint['permission'], string>> = { any: 'every token of yours', none: 'no token' };

/** The endpoints in the guide for businesses. */
const endpointTable = (): string[][] => {
  const rows = endpointNames.map((name) => {
    const { routes, permission, summary }: Endpoint = api[name];
    const [{ method, path }] = routes;
    const hosts = new Set(routes.map(({ host }) => host));
    const host = hosts.size > 1 ? ' on both hosts' : hosts.has('bridge') ? ' on the bridge host' : '';
    return [`\`${method} ${describedPath(name, path)}\`${host}`, summary, ACCEPTED[permission] ?? `\`${permission}\``];
  });
  return [['request', 'what it does', 'permission'], ...rows];
};

/** The guides that have a table of this command, and how each gets its present one. */
export const guides: Record<string, (guide: string) => string> = {
  'business.md': (guide) => withTable(guide, endpointTable(), '## Endpoints'),
  'tools/mcp.md': (guide) => withTable(guide, toolTable(describeTools(describeApi()))),
};

export const guideFile = (name: string): URL => new URL(`../docs/${name}`, import.meta.url);

if (import.meta.main) {
  await writeFile(DESCRIPTION_FILE, descriptionText());
  await writeFile(TOOLS_FILE, toolsText());
  for (const [name, present] of Object.entries(guides))
    await writeFile(guideFile(name), present(await readFile(guideFile(name), 'utf8')));
}
