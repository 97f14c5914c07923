/** A server in the place of the chat platforms of the temporary account: it accepts and records every call. */
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { UserError } from '../queries/accounts-admin.ts';

/** A call of the service. */
export interface PlatformCall {
  /** The path without the one of the server's URL. */
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** The longest body that is recorded, in characters. */
const LONGEST = 100_000;

export class PlatformServer {
  /** The URL that leads here, without a slash at the end. */
  readonly url: string;
  readonly calls: PlatformCall[] = [];
  readonly #server: Server;

  private constructor(server: Server, url: string) {
    this.#server = server;
    this.url = url.replace(/\/+$/, '');
    const prefix = new URL(this.url).pathname.replace(/\/$/, '');
    server.on('request', async (request, response) => {
      const body = await text(request).catch(() => '');
      const { url: path = '', headers } = request;
      // A tunnel may remove the path of its own URL.
      const inner = path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path;
      if (request.method === 'POST') this.calls.push({ path: inner, headers, body: body.slice(0, LONGEST) });
      response.writeHead(request.method === 'POST' ? 200 : 405, { 'content-type': 'application/json' }).end('{}');
    });
  }

  /**
   * Listens on this machine only.
   *
   * @param port - 0 selects a free one
   * @param url - the public URL that forwards to the port; default: the port itself
   * @throws UserError — the port is not available
   */
  static async start(port: number, url?: string): Promise<PlatformServer> {
    const server = createServer();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
    await promise.catch(() => {
      throw new UserError(`The port ${port} is not available. Choose another one with --callback-port.`);
    });
    const address = server.address();
    const chosen = typeof address === 'object' && address !== null ? address.port : port;
    return new PlatformServer(server, url ?? `http://127.0.0.1:${chosen}`);
  }

  async close(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    this.#server.closeAllConnections();
    await promise;
  }
}
