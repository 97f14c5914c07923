/**
 * `npm run openapi`: writes the API description to `shared/api/openapi/openapi.json`, which the service returns, and the tools
 * of the MCP server to `shared/mcp/tools.json` and into the table of their guide.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { withFirstTable } from '../docs/table.ts';
import { describeApi } from './document.ts';
import { describeTools, toolTable } from './mcp-tools.ts';

export const DESCRIPTION_FILE = new URL('../../shared/api/openapi/openapi.json', import.meta.url);
export const TOOLS_FILE = new URL('../../shared/mcp/tools.json', import.meta.url);
export const GUIDE_FILE = new URL('../docs/tools/mcp.md', import.meta.url);

const textOf = (document: unknown): string => `${JSON.stringify(document, null, 2)}\n`;

/** The content of the file. */
export const descriptionText = (): string => textOf(describeApi());

/** The content of the file of tools. */
export const toolsText = (): string => textOf(describeTools(describeApi()));

/** The guide of the tools, with the table of the present ones. */
export const guideText = (guide: string): string => withFirstTable(guide, toolTable(describeTools(describeApi())));

if (import.meta.main) {
  await writeFile(DESCRIPTION_FILE, descriptionText());
  await writeFile(TOOLS_FILE, toolsText());
  await writeFile(GUIDE_FILE, guideText(await readFile(GUIDE_FILE, 'utf8')));
}
