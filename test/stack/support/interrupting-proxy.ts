/** A TCP proxy. Tests close its idle connections, as servers and load balancers do. */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A connection is idle after this many milliseconds without a byte. */
const IDLE_MS = 100;

export class InterruptingProxy {
  readonly #server: Server;
  readonly #target: URL;
  /** The connections of clients, with the time of the last byte. */
  readonly #clients = new Map<Socket, number>();

  private constructor(server: Server, target: URL) {
    this.#server = server;
    this.#target = target;
    server.on('connection', (socket) => this.#pass(socket));
  }

  static async to(target: string): Promise<InterruptingProxy> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new InterruptingProxy(server, new URL(target));
  }

  get url(): string {
    const address = this.#server.address();
    const { pathname } = this.#target;
    return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}${pathname === '/' ? '' : pathname}`;
  }

  /** Closes idle connections. Returns their number. */
  closeIdle(how: 'by FIN' | 'by RST'): number {
    const idle = [...this.#clients].filter(([, last]) => performance.now() - last > IDLE_MS);
    for (const [client] of idle) {
      if (how === 'by RST') client.resetAndDestroy();
      else client.end();
    }
    return idle.length;
  }

  async close(): Promise<void> {
    this.#server.close();
    for (const client of this.#clients.keys()) client.destroy();
    await once(this.#server, 'close');
  }

  #pass(client: Socket): void {
    const target = connect(Number(this.#target.port), this.#target.hostname);
    this.#clients.set(client, performance.now());
    for (const [from, to] of [
      [client, target],
      [target, client],
    ] as const) {
      from.on('data', () => this.#clients.set(client, performance.now()));
      from.on('error', () => undefined);
      from.pipe(to);
    }
    client.once('close', () => {
      this.#clients.delete(client);
      target.destroy();
    });
    target.once('close', () => client.end());
  }
}
