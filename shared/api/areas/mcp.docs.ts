/** Texts of the MCP server, which the API description leaves out. */
import type { AreaDocs } from '../docs.ts';
import type { mcp } from './mcp.ts';

export const mcpDocs: AreaDocs<typeof mcp> = {
  name: 'MCP',
  description: 'The API as tools for programs that use a language model.',
  endpoints: {
    handleMcpMessage: { text: 'The Streamable HTTP transport of MCP, without sessions and streams.', examples: [] },
  },
};
