/** A handler with something to do. */
import type { Context } from 'aws-lambda';
import { permissions } from '../../../shared/core/permissions.ts';
import type { HttpEvent, HttpResponse } from '../../../shared/http/event.ts';

export interface Scenario {
  /** Prepares the table. Answers what calls the handler, always in the same way. */
  prepare(): Promise<() => Promise<unknown>>;
  /** How many things a request asks for, each of which is done or not; one, where nothing is said. */
  parts?: number;
  /** Set where nothing is written to the table. */
  readsOnly?: true;
  /** Set where there are so many calls that each is met by one fault only, in turn. */
  inTurn?: true;
  /** Set where nothing tells a repeated request from another one: it has its effect once more. */
  again?: 'anew';
  /** Set where what fails holds up nothing else: the rest is done all the same. */
  goesOn?: true;
  /** Set where people see what fails, rather than the log. */
  isCommand?: true;
  /** What a repeated request may be answered instead, where the first one had its effect and nobody heard of it. */
  orElse?: number;
}

/** What an endpoint answers, as far as callers rely on it. */
export interface Answer {
  status: number | undefined;
  retry_after: unknown;
  body: unknown;
}

/** A request as API Gateway passes it on. */
interface Request {
  account: string;
  path?: Record<string, string>;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: object | string | Buffer;
}

type Handler = (event: HttpEvent, context: Context) => Promise<HttpResponse>;

/** Longer than any test. */
export const context = { getRemainingTimeInMillis: () => 600_000 } as Context;

/** A call of an endpoint's handler. */
export const calling =
  (handler: Handler, { account, path, query, headers, body }: Request) =>
  async (): Promise<Answer> => {
    const isObject = typeof body === 'object' && !Buffer.isBuffer(body);
    const text = isObject ? JSON.stringify(body) : body;
    const answer = await handler(
      {
        routeKey: 'POST /',
        headers: { ...(isObject && { 'content-type': 'application/json' }), ...headers },
        ...(path && { pathParameters: path }),
        ...(query && { queryStringParameters: query }),
        ...(text !== undefined && { body: Buffer.from(text).toString('base64') }),
        isBase64Encoded: true,
        requestContext: {
          requestId: 'request-1',
          http: { method: 'POST' },
          authorizer: { lambda: { account, token: 'token-1', permissions: [...permissions] } },
        },
      } as HttpEvent,
      context,
    );
    return { status: answer.statusCode, retry_after: answer.headers?.['retry-after'], body: bodyOf(answer) };
  };

/** What a body says: its parts come in any order. */
const bodyOf = ({ headers, body }: HttpResponse): unknown =>
  body !== undefined && String(headers?.['content-type']).includes('json') ? JSON.parse(body) : body;
