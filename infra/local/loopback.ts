/** Servers of the loopback interface. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Has a server take a port of the loopback interface, 0 for any free one. Answers its address.
 *
 * @throws the system's error, `EADDRINUSE` where the port is taken
 */
export const listenOnLoopback = async (server: Server, port: number): Promise<string> => {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

/** Ends a server and all of its connections. */
export const closeServer = async (server: Server): Promise<void> => {
  if (!server.listening) return;
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
};
