/** Passes single messages to a server, without a connection that stays. */
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { isJSONRPCRequest, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';

/** The answer of a server to a message of a client; undefined if the message needs none. */
export const answerTo = async (server: Server, message: JSONRPCMessage): Promise<JSONRPCMessage | undefined> => {
  const { promise, resolve } = Promise.withResolvers<JSONRPCMessage | undefined>();
  const transport: Transport = { start: async () => {}, close: async () => {}, send: async (sent) => resolve(sent) };
  await server.connect(transport);
  transport.onmessage?.(message);
  if (!isJSONRPCRequest(message)) resolve(undefined);
  return promise;
};
