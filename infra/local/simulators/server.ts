/** The HTTP server of a simulator: Hono on a port of the loopback interface. */
import { createServer, type Server } from 'node:http';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { closeServer, listenOnLoopback, takePort } from '../aws/loopback.ts';
import { Changes } from './changes.ts';
import { type Answer, httpError, responseTo } from './http.ts';
import { originCheck } from './origin-check.ts';

/** Node's own request and response are beside Hono's. */
interface SimulatorEnv {
  Bindings: HttpBindings;
}

/** What is served, by method and path. */
export type Routes = Hono<SimulatorEnv>;

export type RequestContext = Context<SimulatorEnv>;

/** A call of the service, as the simulated parts look at it. */
export interface IncomingCall {
  header(name: string): string | undefined;
  body: Buffer;
  /** Whether the caller has given up. */
  gone(): boolean;
  /** Fulfils when the call is over: it was answered, or the caller gave up. */
  over: Promise<void>;
}

/** Of the text that tells people how to use a simulator. */
export const HELP_HEADERS = { 'content-type': 'text/plain; charset=utf-8' };

const MAX_BODY = 10 * 1024 * 1024;

/** A listener for Node's server. What else runs in this process keeps Node's own `Request` and `Response`. */
export const listenerOf = (fetch: Parameters<typeof getRequestListener>[0]) =>
  getRequestListener(fetch, { overrideGlobalObjects: false });

export const newRoutes = (): Routes => new Hono<SimulatorEnv>();

/** Reads a call of the service. */
export const readCall = async ({ req, env: { outgoing } }: RequestContext): Promise<IncomingCall> => {
  const over = new Promise<void>((resolve) => {
    if (outgoing.closed) resolve();
    else outgoing.once('close', resolve);
  });
  return {
    header: (name) => req.header(name),
    body: Buffer.from(await req.arrayBuffer()),
    gone: () => outgoing.destroyed,
    over,
  };
};

/** Ends a call of the service, or leaves it without a response. */
export const answerWith = ({ env: { outgoing } }: RequestContext, answer: Answer): Response => {
  if (typeof answer !== 'string') return answer;
  if (answer === 'drop') outgoing.destroy();
  return RESPONSE_ALREADY_SENT;
};

export class SimulatorServer {
  readonly url: string;
  /** What changes here by requests, and by what `changes` is given to. */
  readonly changes: Changes;
  readonly #server: Server;
  readonly #closing = new AbortController();
  readonly #parts: Routes[] = [];
  readonly #app: { current: Routes };

  private constructor(server: Server, url: string, app: { current: Routes }) {
    this.#server = server;
    this.url = url;
    this.#app = app;
    this.changes = new Changes();
  }

  /**
   * Takes a port, 0 for any free one.
   *
   * @throws StartError — the port cannot be had
   */
  static async start(port: number): Promise<SimulatorServer> {
    const app = { current: newRoutes() };
    const server = createServer(listenerOf((request, env) => app.current.fetch(request, env)));
    const url = await takePort({ listen: (port) => listenOnLoopback(server, port) }, port);
    return new SimulatorServer(server, url, app);
  }

  /** Aborted when the server closes: for whatever waits. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Serves these, and a text that tells people how to use them. */
  serve(routes: Routes, help: string): void {
    routes.get('/', (c) => c.body(help, 200, HELP_HEADERS));
    this.add(routes);
  }

  /** Serves these too from now on. At paths that were served before, these take precedence. */
  add(routes: Routes): void {
    this.#parts.unshift(routes);
    this.#app.current = this.#compose();
  }

  /** Ends every call under way, those that hang too. */
  async close(): Promise<void> {
    this.#closing.abort();
    await closeServer(this.#server);
  }

  #compose(): Routes {
    const app = newRoutes();
    app.use(limitBody);
    app.use(originCheck);
    app.use(async ({ req, env: { outgoing } }, next) => {
      // A request may change something as it comes, and as it is answered.
      if (req.method !== 'GET') {
        this.changes.note();
        outgoing.once('close', () => this.changes.note());
      }
      await next();
    });
    for (const part of this.#parts) app.route('/', part);
    app.notFound(({ req }) => {
      throw httpError(404, `There is no ${req.method} ${req.path}: GET / tells what there is.`);
    });
    app.onError((error) => responseTo(error));
    return app;
  }
}

/** Rejects a body over 10 MB with 413. Hono's own limit makes a new request of this one, which Node's class refuses. */
const limitBody: MiddlewareHandler = async ({ req }, next) => {
  const announced = Number(req.header('content-length') ?? 0);
  // Hono keeps what was read for the handler.
  const size = announced > MAX_BODY ? announced : (await req.arrayBuffer()).byteLength;
  if (size > MAX_BODY) throw httpError(413, 'The body must have at most 10 MB.');
  await next();
};
