/** The MCP server of the served stack, as the official client uses it. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { inject, onTestFinished } from 'vitest';

/** The address of the server. */
export const mcpUrl = new URL('/mcp', inject('stack').base_url);

/** Connects a client, until the test ends. */
export const connectClient = async (transport: Transport): Promise<Client> => {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return client;
};

/** A client that sends this token. */
export const clientWith = (token: string): Promise<Client> => {
  const headers = { authorization: `Bearer ${token}` };
  // The types of the SDK are not exact about optional properties.
  return connectClient(new StreamableHTTPClientTransport(mcpUrl, { requestInit: { headers } }) as Transport);
};

/** Calls a tool. Returns the text of its result, and whether it is an error. */
export const callTool = async (client: Client, name: string, given: Record<string, unknown> = {}) => {
  const { isError = false, content, structuredContent } = await client.callTool({ name, arguments: given });
  const [{ text } = { text: '' }] = content as { text: string }[];
  return { isError, text, value: structuredContent as Record<string, unknown> | undefined };
};

/** What is between the marks of a result, and what is before them. */
export const dataIn = (text: string): { notice: string; data: { result: unknown; next_cursor?: string } } => {
  const [, notice = '', json = ''] = /^(.*)\n<data>\n(.*)\n<\/data>$/s.exec(text) ?? [];
  return { notice, data: JSON.parse(json) };
};
