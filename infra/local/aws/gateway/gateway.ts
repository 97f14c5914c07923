/**
 * A host, as API Gateway's HTTP APIs serve it (payload format 2.0): routes, authorizers with their caches, limits, and
 * API Gateway's own error responses.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { MAX_PAYLOAD } from '../lambda/lambda-pool.ts';
import { closeServer, listenOnLoopback } from '../loopback.ts';
import type { HostDefinition } from '../template/definitions.ts';
import type { ThreadClock } from '../time/thread-clock.ts';
import { Authorizers } from './authorizers.ts';
import { type EmptyRest, type Match, matchRoute } from './routes.ts';
import { Throttle } from './throttle.ts';

interface HttpResponse {
  status: number;
  headers: Record<string, string>;
  body: string | Buffer;
}

/** A request to a host, and the response. */
export interface Exchange {
  requestId: string;
  /** When the request arrived, in milliseconds since 1970, and how long the response took. */
  time: number;
  ms: number;
  method: string;
  /** Path and query. */
  url: string;
  headers: Record<string, string>;
  /** Undefined if it was too large. */
  body: Buffer | undefined;
  /** The route that matched, if one did. */
  routeKey: string | undefined;
  /** The texts of the authorizer's context. */
  context: Record<string, string>;
  status: number;
  responseHeaders: Record<string, string>;
  responseBody: string | Buffer;
}

/** What a host serves. */
interface Service {
  definition: HostDefinition;
  invoke: (functionId: string, event: unknown) => Promise<unknown>;
  /** Receives the lines of the access log. */
  onLine: (line: string) => void;
  /** Receives each request with its response, after the line of the access log. */
  onExchange?: ((exchange: Exchange) => void) | undefined;
  emptyRest: EmptyRest;
  /** Whether routes with a throttle of their own reject requests over it. */
  throttles: boolean;
  clock: ThreadClock;
}

const MAX_BODY = 10 * 1024 * 1024;
const MAX_HEAD = 10_240;
/** Milliseconds that a function may take for a request. */
const INTEGRATION_TIMEOUT = 30_000;

/**
 * The messages of API Gateway's own error responses. HTTP APIs cannot change them.
 *
 * @internal Tests use it, too.
 */
export const MESSAGES: Record<number, string> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  413: 'Request Entity Too Large',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

/** `throttles` are those of routes, by the key of the route. */
type Serving = Omit<Service, 'throttles'> & { authorizers: Authorizers; throttles: Map<string, Throttle> };

/** Handles requests that are not for the API. Returns whether it has handled the request. */
export type Beside = (request: IncomingMessage, response: ServerResponse) => boolean;

export class Gateway {
  readonly #server: Server;
  #service: Serving | undefined;
  #beside: Beside = () => false;

  constructor() {
    this.#server = createServer((request, response) => {
      if (this.#beside(request, response)) return;
      void this.#respond(request, response).catch(() => response.destroy());
    });
  }

  /**
   * Listens on a port of the loopback interface; 0 selects a free one.
   *
   * @throws the system's error: `EADDRINUSE` if the port is in use
   */
  listen(port: number): Promise<string> {
    return listenOnLoopback(this.#server, port);
  }

  /** Sets the API to serve. Clears the caches of authorizers, and fills the throttles of routes. */
  serve(service: Service): void {
    const { definition, invoke, clock } = service;
    const throttled = service.throttles ? definition.routes : [];
    const throttles = throttled.flatMap(({ key, throttle }): [string, Throttle][] =>
      throttle === undefined ? [] : [[key, new Throttle(throttle, clock)]],
    );
    this.#service = { ...service, authorizers: new Authorizers(invoke, clock), throttles: new Map(throttles) };
  }

  /** Serves other requests on the API's port, in addition to API Gateway's behaviour. */
  serveBeside(beside: Beside): void {
    this.#beside = beside;
  }

  close(): Promise<void> {
    return closeServer(this.#server);
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const started = Date.now();
    const time = this.#service?.clock.now() ?? started;
    const body = await readBody(request).catch(() => undefined);
    if (body === undefined || this.#service === undefined) return void response.destroy();

    const { requestId, result, routeKey, context } = await this.#serve(request, body, this.#service);
    // Without a body, the function may set the content length itself, for example for HEAD.
    const hasBody = request.method !== 'HEAD' && ![204, 304].includes(result.status);
    const length = hasBody ? { 'content-length': Buffer.byteLength(result.body) } : {};
    response.writeHead(result.status, { ...result.headers, ...length, 'apigw-requestid': requestId });
    response.end(hasBody ? result.body : undefined);

    const values: Record<string, string | number> = {
      requestId,
      requestTimeEpoch: time,
      routeKey: routeKey ?? '-',
      status: result.status,
      responseLatency: Date.now() - started,
      responseLength: Buffer.byteLength(result.body),
      ...Object.fromEntries(context.map(([name, value]) => [`authorizer.${name}`, value])),
    };
    this.#service.onLine(
      this.#service.definition.format.replaceAll(/\$context\.([\w.]+)/g, (_, name) => String(values[name] ?? '-')),
    );
    this.#service.onExchange?.({
      requestId,
      time,
      ms: Date.now() - started,
      method: request.method ?? '',
      url: request.url ?? '/',
      headers: joinedHeaders(request),
      body: body === 'too large' ? undefined : body,
      routeKey,
      context: Object.fromEntries(context),
      status: result.status,
      responseHeaders: { ...result.headers },
      responseBody: hasBody ? result.body : '',
    });
  }

  async #serve(request: IncomingMessage, body: Body, serving: Serving) {
    const { definition, invoke, authorizers, throttles, emptyRest, clock } = serving;
    const requestId = randomUUID();
    const rejected = (status: number, routeKey?: string) => ({
      requestId,
      result: ownResponse(status),
      routeKey,
      context: [] satisfies [string, string][],
    });

    if (headSize(request) > MAX_HEAD) return rejected(431);
    if (body === 'too large') return rejected(413);
    const wanted = { method: request.method ?? '', path: pathOf(request) };
    const match = matchRoute(definition.routes, wanted, emptyRest);
    if (match === undefined) return rejected(404);
    const { route } = match;
    if (throttles.get(route.key)?.admits() === false) return rejected(429, route.key);

    const event = toEvent(request, body, match, { requestId, time: clock.now() });
    let context: { lambda: unknown } | undefined;
    if (route.authorizer) {
      const { body: _body, isBase64Encoded: _isBase64Encoded, ...authorizerEvent } = event;
      const identity = { headers: event.headers, query: new URLSearchParams(event.rawQueryString) };
      const verdict = await authorizers.authorize(route.authorizer, identity, authorizerEvent);
      if ('status' in verdict) return rejected(verdict.status, route.key);
      context = { lambda: verdict.context };
    }

    const passed = { requestId, routeKey: route.key, context: textsIn(context?.lambda) };
    const call = {
      ...event,
      requestContext: { ...event.requestContext, ...(context !== undefined && { authorizer: context }) },
    };
    if (Buffer.byteLength(JSON.stringify(call)) > MAX_PAYLOAD) return { ...passed, result: ownResponse(413) };
    return { ...passed, result: await integrate(() => invoke(route.function, call)) };
  }
}

type Body = Buffer | 'too large';

/** Reads the body. Beyond the limit, bytes are discarded, but read, so that the client receives the response. */
const readBody = async (request: IncomingMessage): Promise<Body> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= MAX_BODY) chunks.push(chunk);
  }
  return size > MAX_BODY ? 'too large' : Buffer.concat(chunks);
};

const headSize = ({ method = '', url = '', rawHeaders }: IncomingMessage): number =>
  rawHeaders.reduce((size, text) => size + text.length, method.length + url.length);

const pathOf = ({ url = '/' }: IncomingMessage): string => url.split('?', 1)[0] ?? '/';

const ownResponse = (status: number): HttpResponse => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ message: MESSAGES[status] }),
});

/** Content types whose bodies functions receive as text; others are encoded as base64. */
const TEXT = /^(text\/.*|application\/(json|javascript|xml))(;|$)/i;

/** The headers; repeated ones are joined. */
const joinedHeaders = ({ headersDistinct }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(Object.entries(headersDistinct).map(([name, values = []]) => [name, values.join(',')]));

const toEvent = (
  request: IncomingMessage,
  body: Buffer,
  { route, parameters }: Match,
  { requestId, time }: { requestId: string; time: number },
) => {
  const { cookie, ...headers } = joinedHeaders(request);
  const rawQueryString = request.url?.split('?').slice(1).join('?') ?? '';
  const query = new URLSearchParams(rawQueryString);
  const isText = TEXT.test(headers['content-type'] ?? '');
  return {
    version: '2.0',
    routeKey: route.key,
    rawPath: pathOf(request),
    rawQueryString,
    headers,
    ...(cookie !== undefined && { cookies: cookie.split(/; */) }),
    ...(query.size > 0 && {
      queryStringParameters: Object.fromEntries(
        [...new Set(query.keys())].map((name) => [name, query.getAll(name).join(',')]),
      ),
    }),
    ...(Object.keys(parameters).length > 0 && { pathParameters: parameters }),
    ...(body.length > 0 && { body: isText ? body.toString() : body.toString('base64') }),
    isBase64Encoded: body.length > 0 && !isText,
    requestContext: {
      accountId: '000000000000',
      apiId: 'local',
      domainName: headers.host ?? '',
      domainPrefix: 'local',
      http: {
        method: request.method,
        path: pathOf(request),
        protocol: `HTTP/${request.httpVersion}`,
        sourceIp: request.socket.remoteAddress ?? '',
        userAgent: headers['user-agent'] ?? '',
      },
      requestId,
      routeKey: route.key,
      stage: '$default',
      time: new Date(time).toUTCString(),
      timeEpoch: time,
    },
  };
};

/** Calls the function as an AWS_PROXY integration does. */
const integrate = async (invoke: () => Promise<unknown>): Promise<HttpResponse> => {
  const { promise: timeout, resolve } = Promise.withResolvers<HttpResponse>();
  const timer = setTimeout(() => resolve(ownResponse(503)), INTEGRATION_TIMEOUT);
  try {
    return await Promise.race([invoke().then(toResponse), timeout]);
  } catch {
    return ownResponse(500);
  } finally {
    clearTimeout(timer);
  }
};

interface Result {
  statusCode: number;
  headers?: Record<string, string | number | boolean>;
  body?: string;
  isBase64Encoded?: boolean;
}

const isResult = (result: unknown): result is Result =>
  typeof result === 'object' && result !== null && 'statusCode' in result && typeof result.statusCode === 'number';

const toResponse = (result: unknown): HttpResponse => {
  if (!isResult(result)) {
    return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(result) };
  }
  const { statusCode, headers = {}, body = '', isBase64Encoded = false } = result;
  return {
    status: statusCode,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
    body: isBase64Encoded ? Buffer.from(body, 'base64') : body,
  };
};

/** The strings in an authorizer's context, which an access log may contain. */
const textsIn = (context: unknown): [string, string][] =>
  Object.entries(Object(context)).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
