/** Makes records of calls, without tokens. */
import { randomUUID } from 'node:crypto';
import type { Exchange } from '../../../aws/gateway/gateway.ts';
import type { ServedCall } from '../../../simulators/server.ts';
import type { Call, Server } from '../views.ts';

/** Most characters of a body in a record. */
const MOST = 64 * 1024;

/** The name that stands for a token wherever one would be. */
const TOKEN = '$TOKEN';

/** A request to the service. */
export const callOf = (exchange: Exchange): Call => {
  const { requestId, routeKey, headers, context, status, responseHeaders, responseBody, body, ...rest } = exchange;
  const { time, ms, method, url } = rest;
  return {
    id: requestId,
    server: 'service',
    time,
    ms,
    method,
    origin: `http://${headers.host ?? ''}`,
    path: withoutToken(url),
    route:
      routeKey === undefined || routeKey === '$default' ? `${method} ${withoutToken(url).split('?', 1)[0]}` : routeKey,
    account: context.account ?? null,
    headers: cleaned(headers),
    body: body === undefined ? '(too large)' : textOf(body, headers['content-type']),
    response: {
      status,
      headers: cleaned(responseHeaders),
      body: textOf(Buffer.from(responseBody), responseHeaders['content-type']),
    },
  };
};

/** A call of the service to a destination. */
export const callTo = (server: Server, call: ServedCall): Call => {
  const { time, ms, method, url, headers, body, response } = call;
  return {
    id: randomUUID(),
    server,
    time,
    ms,
    method,
    origin: `http://${headers.host ?? ''}`,
    path: url,
    route: `${method} ${url.split('?', 1)[0]}`,
    account: null,
    headers: cleaned(headers),
    body: textOf(body, headers['content-type']),
    response: response && {
      status: response.status,
      headers: cleaned(response.headers),
      body: response.body.slice(0, MOST),
    },
  };
};

/** What the size of a record counts. */
export const sizeOf = ({ body, headers, response }: Call): number =>
  body.length + (response?.body.length ?? 0) + JSON.stringify(headers).length;

/** Turn's token is the last segment of the URL that it posts to. */
const withoutToken = (url: string): string => url.replace(/(\/webhook\/turn\/)[^/?]+/, `$1${TOKEN}`);

/** Headers that say nothing about a call, or would repeat what the record says. */
const LEFT_OUT = [
  'content-length',
  'connection',
  'host',
  'accept-encoding',
  'accept-language',
  'sec-fetch-mode',
  'keep-alive',
  'date',
];
const SECRET = ['authorization', 'cookie', 'x-api-key'];

const cleaned = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !LEFT_OUT.includes(name.toLowerCase()))
      .map(([name, value]) => [
        name.toLowerCase(),
        SECRET.includes(name.toLowerCase()) ? value.replace(/\S+$/, TOKEN) : value,
      ]),
  );

const TEXT = /json|text|xml|urlencoded|javascript/;

const textOf = (body: Buffer, type = ''): string => {
  if (body.length === 0) return '';
  if (!TEXT.test(type) && type !== '') return `(${type.split(';', 1)[0]}, ${body.length} bytes)`;
  const text = body.toString();
  return text.length > MOST ? `${text.slice(0, MOST)}\n(cut after ${MOST} characters)` : text;
};

/** The value of a JSON body; undefined if it is none. */
export const jsonIn = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
};

/** The value at a path of names in a parsed body. */
export const at = (value: unknown, ...path: string[]): unknown =>
  path.reduce<unknown>(
    (inner, name) =>
      typeof inner === 'object' && inner !== null
        ? Object.entries(inner).find(([key]) => key === name)?.[1]
        : undefined,
    value,
  );

/** The text at a path of names in a parsed body. */
export const textAt = (value: unknown, ...path: string[]): string | undefined => {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : undefined;
};
