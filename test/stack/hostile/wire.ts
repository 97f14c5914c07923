/** Requests as they go over the wire: nothing puts a path or a header right on its way. */
import { Agent, type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { Host, Operation } from './description.ts';

/** Whose token a request brings. The app network has one of its own. */
export type Caller = 'ours' | 'theirs' | 'network' | 'nobody';

export interface Sent {
  /** The operation that it was made of; what it is for may have become another one. */
  operation: Operation;
  caller: Caller;
  host: Host;
  method: string;
  /** Path and query. */
  target: string;
  headers: [name: string, value: string][];
  body: Buffer | undefined;
}

export interface Answer {
  status: number;
  type: string | undefined;
  headers: IncomingMessage['headers'];
  body: string;
}

export type Send = (sent: Sent) => Promise<Answer>;

/** Connections that are kept open to each host. */
const CONNECTIONS = 16;

/** Sends requests to these hosts, until `close`. */
export const sender = (urls: Record<Host, string>): { send: Send; close: () => void } => {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const send: Send = async ({ host, method, target, headers, body }) => {
    const { hostname, port } = new URL(urls[host]);
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const call = request({ agent, hostname, port, method, path: target, headers: headers.flat() }, resolve);
    call.once('error', reject);
    call.end(body);
    const incoming = await promise;
    const bytes = await buffer(incoming);
    return {
      status: incoming.statusCode ?? 0,
      type: incoming.headers['content-type'],
      headers: incoming.headers,
      body: bytes.toString('latin1'),
    };
  };
  return { send, close: () => agent.destroy() };
};

/** Longest body that is shown. */
const SHOWN = 2_000;

/** A request as a line for a shell; `named` gives texts the names of variables. */
export const toLine = ({ host, method, target, headers, body }: Sent, named: ReadonlyMap<string, string>): string => {
  const parts = [
    `curl --path-as-is -i -X ${method}`,
    ...headers.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`--data-binary ${bodyInShell(body)}`]),
    `"$${host.toUpperCase()}_URL"${quoted(target)}`,
  ];
  return [...named].reduce((line, [value, name]) => line.replaceAll(value, `'"${name}"'`), parts.join(' '));
};

const quoted = (value: string): string => `'${value.replaceAll("'", `'\\''`)}'`;

/** Bytes that no text shows are written out; what is too long is told by its beginning. */
const bodyInShell = (body: Buffer): string => {
  const shown = body.subarray(0, SHOWN);
  const rest = body.length > SHOWN ? ` # and ${body.length - SHOWN} bytes more` : '';
  const text = shown.toString();
  const isText = Buffer.from(text).equals(shown) && !/[^\P{Cc}\t\n]/u.test(text);
  return `${isText ? quoted(text) : `@<(echo ${shown.toString('base64')} | base64 -d)`}${rest}`;
};
