/** Servers of the loopback interface. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StartError } from './start-error.ts';

/**
 * Milliseconds that an idle connection is kept. A client on a busy machine must not use one that has just been closed.
 */
const KEEP_ALIVE = 300_000;

/**
 * Has a server take a port of the loopback interface, 0 for any free one. Answers its address.
 *
 * @throws the system's error, `EADDRINUSE` where the port is taken
 */
export const listenOnLoopback = async (server: Server, port: number): Promise<string> => {
  server.keepAliveTimeout = KEEP_ALIVE;
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

/**
 * Has a server take the port that the user's settings give it, 0 for any free one. Answers its address.
 *
 * @throws StartError — the port cannot be had
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

/** Ends a server and all of its connections. */
export const closeServer = async (server: Server): Promise<void> => {
  if (!server.listening) return;
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
};
