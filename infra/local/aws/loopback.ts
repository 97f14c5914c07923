/** Servers of the loopback interface. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { StartError } from './start-error.ts';

/**
 * Milliseconds that an idle connection is kept open: long enough that no client uses a connection while it is closed.
 */
const KEEP_ALIVE = 300_000;

/**
 * Makes a server listen on a port of the loopback interface; 0 selects a free one. Returns its URL.
 *
 * @throws the system's error: `EADDRINUSE` if the port is in use
 */
export const listenOnLoopback = async (server: Server, port: number): Promise<string> => {
  server.keepAliveTimeout = KEEP_ALIVE;
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

/**
 * Makes a server listen on the port of the user's settings; 0 selects a free one. Returns its URL.
 *
 * @throws StartError — the port is not available
 */
export const takePort = async (server: { listen(port: number): Promise<string> }, port: number): Promise<string> => {
  try {
    return await server.listen(port);
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error;
    const trouble = error.code === 'EADDRINUSE' ? 'is taken' : `cannot be used (${error.code})`;
    throw new StartError(`Port ${port} ${trouble}: set PORT to another one.`);
  }
};

/**
 * Ports that systems give to no connection and to no server with port 0: Linux begins at 32,768 (`ip_local_port_range`), macOS
 * and Windows at 49,152.
 */
const UNASSIGNED = [20_000, 32_768] as const;

/**
 * A port of the loopback interface that is free at this moment. One that the system assigns could be assigned again: before
 * another process listens there, or while clients of a closed server still call it.
 */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = randomInt(...UNASSIGNED);
    const server = createServer().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch (error) {
      // Taken, or reserved by Windows.
      if (['EADDRINUSE', 'EACCES'].includes(Object(error).code)) continue;
      throw error;
    }
    server.close();
    await once(server, 'close');
    return port;
  }
};

/**
 * The body of a request or response. `buffer` of node:stream/consumers makes a blob first, which takes 0.1 ms of processor
 * time even for a small one.
 *
 * @throws the system's error if the body is not complete
 */
export const bodyOf = (message: IncomingMessage): Promise<Buffer> => {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  message.on('data', (chunk: Buffer) => chunks.push(chunk));
  message.once('end', () => resolve(Buffer.concat(chunks))).once('error', reject);
  return promise;
};

/** Closes a server and all its connections. */
export const closeServer = async (server: Server): Promise<void> => {
  if (!server.listening) return;
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
};
