/** Scenarios: a handler, and prepared data for it. */
import type { Context } from 'aws-lambda';
import { permissions } from '../../../../shared/core/permissions.ts';
import type { HttpEvent, HttpResponse } from '../../../../shared/http/event.ts';

export interface Scenario {
  /** Prepares the table. Returns a function that calls the handler, with the same event each time. */
  prepare(): Promise<() => Promise<unknown>>;
  /** The number of changes in a request, each of which is atomic. Default: 1. */
  parts?: number;
  /** Set if the handler changes nothing. */
  readsOnly?: true;
  /** Set if the handler changes nothing but the queues. */
  sendsOnly?: true;
  /** Set if the handler writes nothing but a charge to an allowance. */
  chargesOnly?: true;
  /** Set if the handler makes many calls: then each call has one of the faults that it can meet, in rotation. */
  inTurn?: true;
  /** Set if a repeat is a new request with a new effect, because the request has no id. */
  repeat?: 'new';
  /** Set if a repeat of a request that took effect is noted, and changes nothing else. */
  notesRepeats?: true;
  /** Set if the handler does the rest of its work after a failure. */
  continues?: true;
  /** Set if `relay` sends the wake-ups of what it stores, too. */
  isRelayed?: true;
  /** Set for operator commands, which print failures and do not log them. */
  isCommand?: true;
  /** Set if a repeat returns what it found: that the work is done already. */
  tellsRepeats?: true;
  /** The status of a repeat if the first request took effect and its response was lost. */
  repeatStatus?: number;
}

/** The parts of an endpoint's response that callers use. */
export interface Answer {
  status: number | undefined;
  retry_after: unknown;
  body: unknown;
}

/** The parts of API Gateway's event that a scenario sets. */
export interface Request {
  account: string;
  /** Required for endpoints with catch-all routes, which check it. */
  route?: string;
  path?: Record<string, string>;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: object | string | Buffer;
}

type Handler = (event: HttpEvent, context: Context) => Promise<HttpResponse>;

/** The longest label of a token, in characters of four bytes: the history contains it. */
const LONGEST_LABEL = '\u{1F33B}'.repeat(100);

/** A Lambda context with more time left than any test takes. */
export const context = { getRemainingTimeInMillis: () => 600_000 } as Context;

/** A call of an endpoint's handler. */
export const calling =
  (handler: Handler, { account, route = 'POST /', path, query, headers, body }: Request) =>
  async (): Promise<Answer> => {
    const isObject = typeof body === 'object' && !Buffer.isBuffer(body);
    const text = isObject ? JSON.stringify(body) : body;
    const answer = await handler(
      {
        routeKey: route,
        headers: { ...(isObject && { 'content-type': 'application/json' }), ...headers },
        ...(path && { pathParameters: path }),
        ...(query && { queryStringParameters: query }),
        ...(text !== undefined && { body: Buffer.from(text).toString('base64') }),
        isBase64Encoded: true,
        requestContext: {
          requestId: 'request-1',
          http: { method: 'POST' },
          authorizer: { lambda: { account, token: 'token-1', label: LONGEST_LABEL, permissions: [...permissions] } },
        },
      } as HttpEvent,
      context,
    );
    return { status: answer.statusCode, retry_after: answer.headers?.['retry-after'], body: bodyOf(answer) };
  };

/** The parsed body, because JSON fields may have any order. */
const bodyOf = ({ headers, body }: HttpResponse): unknown =>
  body !== undefined && String(headers?.['content-type']).includes('json') ? JSON.parse(body) : body;
