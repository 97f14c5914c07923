/** Sends raw HTTP requests: no client normalises their paths or headers. */
import { Agent, type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { Host, Operation } from './description.ts';

/** The owner of a request's token: one of the two accounts, the app network, or nobody. */
export type Caller = 'ours' | 'theirs' | 'managing' | 'network' | 'nobody';

export interface Sent {
  /** The operation from which the request was derived. Changes may have made it a request of another operation. */
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

/** Open connections to each host, at most. */
const CONNECTIONS = 16;

/** Returns a function that sends requests to these hosts. `close` closes the connections. */
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

/** The bytes of a body that are printed. */
const SHOWN = 2_000;

/** A request as a shell command. `named` maps texts to names of shell variables. */
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

/** A body as a shell argument: binary content in base64, and only the beginning of a long body. */
const bodyInShell = (body: Buffer): string => {
  const shown = body.subarray(0, SHOWN);
  const rest = body.length > SHOWN ? ` # and ${body.length - SHOWN} bytes more` : '';
  const text = shown.toString();
  const isText = Buffer.from(text).equals(shown) && !/[^\P{Cc}\t\n]/u.test(text);
  return `${isText ? quoted(text) : `@<(echo ${shown.toString('base64')} | base64 -d)`}${rest}`;
};
