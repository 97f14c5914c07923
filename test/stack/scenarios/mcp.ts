/** Requests of MCP clients. */
import type { mcp } from '../../../shared/api/areas/mcp.ts';
import type { Scenarios } from './scenarios.ts';

export const mcpScenarios: Scenarios<typeof mcp> = {
  handleMcpMessage: {
    prepare: async () => ({
      headers: { authorization: 'Bearer test' },
      body: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
    }),
    readsOnly: true,
    // The endpoints that tools call take their own.
    max: { read: 0, write: 0, of: 'any' },
  },
};
