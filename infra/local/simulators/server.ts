/** The HTTP server of a simulator: Hono on a port of the loopback interface. */
import { createServer, type Server } from 'node:http';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { now } from '../../../shared/core/clock.ts';
import { closeServer, listenOnLoopback, takePort } from '../aws/loopback.ts';
import { Changes } from './changes.ts';
import { type CallEnd, httpError, responseTo } from './http.ts';
import { originCheck } from './origin-check.ts';

/** Gives handlers access to Node's request and response, in addition to Hono's. */
interface SimulatorEnv {
  Bindings: HttpBindings;
}

/** Handlers by method and path. */
export type Routes = Hono<SimulatorEnv>;

export type RequestContext = Context<SimulatorEnv>;

/** A call of the service to a simulator. */
export interface IncomingCall {
  header(name: string): string | undefined;
  body: Buffer;
  /** Whether the connection is closed. */
  gone(): boolean;
  /** Resolves when the call is over: after the response, or when the client disconnects. */
  over: Promise<void>;
}

/** A call of the service, and how it ended. */
export interface ServedCall {
  /** When it arrived, in milliseconds since 1970, and how long it took. */
  time: number;
  ms: number;
  method: string;
  url: string;
  headers: Record<string, string>;
  body: Buffer;
  /** Null if there was no response. */
  response: { status: number; headers: Record<string, string>; body: string } | null;
}

/** Headers of help texts. */
export const HELP_HEADERS = { 'content-type': 'text/plain; charset=utf-8' };

const MAX_BODY = 10 * 1024 * 1024;

/** A listener for Node's server. The rest of this process keeps Node's own `Request` and `Response`. */
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

/** Ends a call as decided: with a response, by closing the connection, or not at all. */
export const endCall = ({ env: { outgoing } }: RequestContext, end: CallEnd): Response => {
  if (typeof end !== 'string') return end;
  if (end === 'drop') outgoing.destroy();
  return RESPONSE_ALREADY_SENT;
};

export class SimulatorServer {
  readonly url: string;
  /** Notified of each request that may change something, and by parts of the simulator. */
  readonly changes: Changes;
  readonly #server: Server;
  readonly #closing = new AbortController();
  readonly #parts: Routes[] = [];
  readonly #watchers: { paths: RegExp; watcher: (call: ServedCall) => void }[] = [];
  readonly #app: { current: Routes };

  private constructor(server: Server, url: string, app: { current: Routes }) {
    this.#server = server;
    this.url = url;
    this.#app = app;
    this.changes = new Changes();
  }

  /**
   * Listens on a port; 0 selects a free one.
   *
   * @throws StartError — the port is not available
   */
  static async start(port: number): Promise<SimulatorServer> {
    const app = { current: newRoutes() };
    const server = createServer(listenerOf((request, env) => app.current.fetch(request, env)));
    const url = await takePort({ listen: (port) => listenOnLoopback(server, port) }, port);
    return new SimulatorServer(server, url, app);
  }

  /** Aborted when the server closes: pending timers and calls end. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Serves these routes, and the help text at `/`. */
  serve(routes: Routes, help: string): void {
    routes.get('/', (c) => c.body(help, 200, HELP_HEADERS));
    this.add(routes);
  }

  /** Serves these routes too. They take precedence over routes that were added before. */
  add(routes: Routes): void {
    this.#parts.unshift(routes);
    this.#app.current = this.#compose();
  }

  /** Calls the watcher at the end of each POST to these paths. */
  watchCalls(paths: RegExp, watcher: (call: ServedCall) => void): void {
    this.#watchers.push({ paths, watcher });
  }

  /** Ends every call in progress, including calls that hang. */
  async close(): Promise<void> {
    this.#closing.abort();
    await closeServer(this.#server);
  }

  /** Shows a call to its watchers when its connection has ended. */
  async #watch(c: RequestContext, next: () => Promise<void>): Promise<void> {
    const watchers = this.#watchers.filter(({ paths }) => c.req.method === 'POST' && paths.test(c.req.path));
    if (watchers.length === 0) return next();
    const { outgoing } = c.env;
    const { req } = c;
    const [time, started] = [now(), Date.now()];
    const body = Buffer.from(await req.arrayBuffer());
    let response: ServedCall['response'] = null;
    outgoing.once('close', () => {
      const { method, url } = req;
      const { pathname, search } = new URL(url);
      const headers = textsOf(req.raw.headers);
      for (const { watcher } of watchers) {
        watcher({ time, ms: Date.now() - started, method, url: pathname + search, headers, body, response });
      }
    });
    await next();
    if (c.res === RESPONSE_ALREADY_SENT || outgoing.destroyed) return;
    const { status, headers } = c.res;
    response = { status, headers: textsOf(headers), body: await c.res.clone().text() };
  }

  #compose(): Routes {
    const app = newRoutes();
    app.use(limitBody);
    app.use(originCheck);
    app.use(async ({ req, env: { outgoing } }, next) => {
      // A request may change something when it arrives, and when it ends.
      if (req.method !== 'GET') {
        this.changes.notify();
        outgoing.once('close', () => this.changes.notify());
      }
      await next();
    });
    app.use((c, next) => this.#watch(c, next));
    for (const part of this.#parts) app.route('/', part);
    app.notFound(({ req }) => {
      throw httpError(404, `There is no ${req.method} ${req.path}: GET / lists the requests.`);
    });
    app.onError((error) => responseTo(error));
    return app;
  }
}

/** The texts of headers. */
const textsOf = (headers: Headers): Record<string, string> => Object.fromEntries(headers);

/** Rejects a body over 10 MB with 413. Hono's own limit copies the request, which Node's class does not support. */
const limitBody: MiddlewareHandler = async ({ req }, next) => {
  const announced = Number(req.header('content-length') ?? 0);
  // Hono caches the body for the handler.
  const size = announced > MAX_BODY ? announced : (await req.arrayBuffer()).byteLength;
  if (size > MAX_BODY) throw httpError(413, 'The body must have at most 10 MB.');
  await next();
};
