/** The HTTP server of a simulator: a port of the loopback interface, and a table of what it serves. */
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { matchRoute } from '../aws/gateway/routes.ts';
import { closeServer, listenOnLoopback, takePort } from '../aws/loopback.ts';
import { Changes } from './changes.ts';
import { type Answer, HttpRefusal, readBody, replyTo, send, stream } from './http.ts';
import { refuseStrangers } from './origin-check.ts';

export interface Request {
  headers: IncomingHttpHeaders;
  parameters: Record<string, string>;
  query: URLSearchParams;
  body: Buffer;
  /** Whether the caller has given up. */
  gone(): boolean;
  /** Fulfils when the call is over: it was answered, or the caller gave up. */
  over: Promise<void>;
}

/** What is served, by method and path: `'POST /channels/{channel}/send'`. */
export type Routes = Record<string, (request: Request) => Answer | Promise<Answer>>;

export class SimulatedServer {
  readonly url: string;
  /** What changes here by requests, and by what `changes` is given to. */
  readonly changes = new Changes();
  readonly #server: Server;
  readonly #closing = new AbortController();
  readonly #routes: Routes = {};

  private constructor(server: Server, url: string) {
    this.#server = server;
    this.url = url;
  }

  /**
   * Takes a port, 0 for any free one.
   *
   * @throws StartError — the port cannot be had
   */
  static async start(port: number): Promise<SimulatedServer> {
    const server = createServer();
    const url = await takePort({ listen: (port) => listenOnLoopback(server, port) }, port);
    return new SimulatedServer(server, url);
  }

  /** Aborted when the server closes: for whatever waits. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Serves these, and a text that tells people how to use them. Once only. */
  serve(routes: Routes, help: string): void {
    this.add({ 'GET /': () => ({ status: 200, type: 'text/plain; charset=utf-8', body: help }), ...routes });
    this.#server.on('request', (request, response) => {
      void this.#answer(request, response).catch((error: unknown) => send(response, replyTo(error)));
    });
  }

  /** Serves these too from now on: they win over what was served at the same paths. */
  add(routes: Routes): void {
    Object.assign(this.#routes, routes);
  }

  /** Ends every call under way, those that hang too. */
  async close(): Promise<void> {
    this.#closing.abort();
    await closeServer(this.#server);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const over = new Promise<void>((resolve) => void response.once('close', resolve));
    const body = await readBody(request);
    const { method = '', url = '', headers } = request;
    refuseStrangers(headers);
    const [path = '', query] = url.split('?', 2);
    const definitions = Object.keys(this.#routes).map((key) => ({ key, function: key, authorizer: undefined }));
    const match = matchRoute(definitions, method, path);
    const serve = match && this.#routes[match.route.key];
    if (!serve) throw new HttpRefusal(404, `There is no ${method} ${path}: GET / tells what there is.`);
    if (method !== 'GET') this.#noteAround(over);
    const { parameters } = match;
    const gone = () => response.destroyed;
    const answer = await serve({ headers, parameters, query: new URLSearchParams(query), body, gone, over });
    if (answer === 'drop') response.destroy();
    else if (answer === 'hang') return;
    else if ('open' in answer) stream(response, answer);
    else send(response, answer);
  }

  /** A request may change something as it comes, and as it is answered. */
  #noteAround(over: Promise<void>): void {
    this.changes.note();
    void over.then(() => this.changes.note());
  }
}
