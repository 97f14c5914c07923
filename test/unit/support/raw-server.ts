/** A server that responds to POST requests with any bytes, valid HTTP or not. */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';

interface Exchange {
  socket: Socket;
  /** The number of requests on this connection so far, this one included. */
  place: number;
}

/** Writes a response, or does something else to the connection. */
export type Respond = (exchange: Exchange) => void;

export class RawServer {
  /** Bodies of the requests that arrived in full, in order. */
  readonly bodies: string[] = [];
  /** Connections that were accepted. */
  connections = 0;
  respond: Respond = noContent;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket) => this.#accept(socket));
  }

  static async start(): Promise<RawServer> {
    const server = createServer({ noDelay: true });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new RawServer(server);
  }

  get url(): string {
    const address = this.#server.address();
    return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/hook`;
  }

  /** Connections that are open. */
  get open(): number {
    return this.#sockets.size;
  }

  /** Closes all connections. */
  closeConnections(how: 'by FIN' | 'by RST'): void {
    for (const socket of this.#sockets) {
      if (how === 'by RST') socket.resetAndDestroy();
      else socket.end();
    }
  }

  async close(): Promise<void> {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await once(this.#server, 'close');
  }

  #accept(socket: Socket): void {
    this.connections += 1;
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    // Clients reset connections as well.
    socket.on('error', () => undefined);
    let received = '';
    let place = 0;
    socket.on('data', (bytes: Buffer) => {
      received += bytes.toString('latin1');
      const [, head = '', length = ''] = /^(.*?content-length: (\d+).*?\r\n\r\n)/is.exec(received) ?? [];
      if (head === '' || received.length < head.length + Number(length)) return;
      this.bodies.push(received.slice(head.length));
      received = '';
      place += 1;
      this.respond({ socket, place });
    });
  }
}

/** A valid 204 response on a connection that stays open. */
export const noContent: Respond = ({ socket }) => void socket.write('HTTP/1.1 204 No Content\r\n\r\n');

/** Writes the bytes. The connection stays open. */
export const write =
  (bytes: string): Respond =>
  ({ socket }) =>
    void socket.write(bytes, 'latin1');

/** Writes the bytes, then resets the connection. */
export const writeThenReset =
  (bytes: string): Respond =>
  ({ socket }) => {
    if (bytes === '') socket.resetAndDestroy();
    // A reset discards bytes that the client has not read, so the bytes get 20 ms.
    else socket.write(bytes, 'latin1', () => setTimeout(() => socket.resetAndDestroy(), 20));
  };

/** Writes the bytes, then closes the connection. */
export const writeThenClose =
  (bytes: string): Respond =>
  ({ socket }) =>
    void socket.end(bytes, 'latin1');

/** Writes `head`, and then `piece` every few milliseconds until the client closes the connection. */
export const trickle =
  (head: string, piece: string, everyMs = 5): Respond =>
  ({ socket }) => {
    socket.write(head, 'latin1');
    const timer = setInterval(() => socket.write(piece, 'latin1'), everyMs);
    socket.once('close', () => clearInterval(timer));
  };
