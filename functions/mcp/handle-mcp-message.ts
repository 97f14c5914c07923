/**
 * POST /mcp: answers a message of an MCP client. The tools of the server call this API with the token of the client. MCP,
 * "Transports", says which requests the transport itself rejects.
 */
import { ErrorCode, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/sdk/types.js';
import type { Context } from 'aws-lambda';
import { mcp as api } from '../../shared/api/areas/mcp.ts';
import { baseUrl } from '../../shared/core/settings.ts';
import { ok, unlimitedEndpoint } from '../../shared/http/endpoint.ts';
import type { HttpEvent, HttpResponse } from '../../shared/http/event.ts';
import { answerTo } from '../../shared/mcp/answer.ts';
import { serveTools } from '../../shared/mcp/server.ts';

const served = unlimitedEndpoint(api.handleMcpMessage, async ({ body, headers: { authorization }, permissions }) => {
  const server = serveTools({ url: baseUrl(), authorization, permissions: async () => permissions });
  const answer = await answerTo(server, body);
  return answer === undefined ? { status: 202 } : ok(answer);
});

/** The response to a request that the transport of MCP rejects; undefined for others. */
const rejectionOf = ({ routeKey, headers }: HttpEvent): HttpResponse | undefined => {
  if (/^(GET|DELETE) /.test(routeKey)) {
    return rejection(405, 'There is no stream and no session: send each message with POST.', { allow: 'POST' });
  }
  const { origin, 'mcp-protocol-version': version } = headers;
  // A page of another origin, for example behind a name that leads to this host only now and then.
  if (origin !== undefined && origin !== new URL(baseUrl()).origin) {
    return rejection(403, 'Pages of other origins cannot use this server.');
  }
  if (version !== undefined && !SUPPORTED_PROTOCOL_VERSIONS.includes(version)) {
    const known = SUPPORTED_PROTOCOL_VERSIONS.join(', ');
    return rejection(400, `MCP-Protocol-Version must be one of ${known}.`);
  }
  return undefined;
};

const rejection = (statusCode: number, message: string, headers: Record<string, string> = {}): HttpResponse => ({
  statusCode,
  headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
  body: JSON.stringify({ jsonrpc: '2.0', error: { code: ErrorCode.InvalidRequest, message }, id: null }),
});

export const handler = async (event: HttpEvent, context: Context): Promise<HttpResponse> =>
  rejectionOf(event) ?? served(event, context);
