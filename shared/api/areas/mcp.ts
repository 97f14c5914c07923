/** The MCP server: the API as tools for programs that use a language model. */
import * as v from 'valibot';
import { anyObject, responseRecord } from '../../validation/bounded.ts';
import { text } from '../../validation/schemas.ts';
import { define } from '../endpoint.ts';

const version = v.literal('2.0');

const id = v.union([text, v.pipe(v.number(), v.integer())]);

const result = responseRecord(v.string(), v.unknown());

export const mcp = {
  handleMcpMessage: define({
    area: 'mcp',
    summary: 'Answer a message of an MCP client.',
    routes: [
      // Its clients ask the server itself what it can do, so the API description has none of the routes.
      { host: 'base', method: 'POST', path: '/mcp', undescribed: true },
      // There is no stream and no session. MCP requires 405 for these methods then.
      { host: 'base', method: 'GET', path: '/mcp', undescribed: true },
      { host: 'base', method: 'DELETE', path: '/mcp', undescribed: true },
    ],
    token: 'header',
    permission: 'any',
    overLimit: 'none',
    headers: v.object({ authorization: v.string() }),
    body: {
      type: 'json',
      schema: v.object({ jsonrpc: version, id: v.optional(id), method: text, params: v.optional(anyObject) }),
    },
    // Later versions of MCP may add members.
    ignoresUnknown: true,
    responses: {
      200: v.object({
        jsonrpc: version,
        id: v.optional(id),
        result: v.optional(result),
        error: v.optional(
          v.object({
            code: v.pipe(v.number(), v.metadata({ type: 'integer' })),
            message: v.string(),
            data: v.optional(v.unknown()),
          }),
        ),
      }),
      202: null,
    },
    problems: [],
    // As long as that of the endpoint that takes longest.
    timeout: 29,
    table: [],
  }),
} as const;
