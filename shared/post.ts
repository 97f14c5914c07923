/** Calls of servers outside: one POST, to an address that the public network knows, without following redirects. */
import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Webhook } from 'standardwebhooks';
import { minutes, now } from './clock.ts';
import { allowsLoopback } from './settings.ts';

export interface Posting {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** A server's answer. Its body is not kept. */
export interface Answer {
  status: number;
  headers: IncomingMessage['headers'];
}

/** There was no answer; `why` says it in a word that the log may hold. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
  readonly why: 'timeout' | 'no_connection' | 'address_not_public' | 'address_not_https' | 'not_set_up';

  constructor(why: NoAnswer['why']) {
    super(why);
    this.why = why;
  }
}

/** Stands where a call would be made of settings that are missing. */
export const notSetUp = (): never => {
  throw new NoAnswer('not_set_up');
};

/** Minutes that an attempt may take: 10 s. */
const TIMEOUT = 1 / 6;

const agents = {
  'http:': { request: requestHttp, agent: new HttpAgent({ keepAlive: true }) },
  'https:': { request: requestHttps, agent: new HttpsAgent({ keepAlive: true }) },
};

/**
 * Posts to a server outside.
 *
 * @throws NoAnswer — it did not answer in 10 s, or cannot or must not be reached
 */
export const post = async (posting: Posting): Promise<Answer> => {
  const url = new URL(posting.url);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && allowsLoopback()))
    throw new NoAnswer('address_not_https');
  // The look-up is left out for addresses in figures.
  const literal = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(literal) !== 0 && !isReachable(literal)) throw new NoAnswer('address_not_public');
  const signal = AbortSignal.timeout(Math.round(minutes(TIMEOUT)));
  try {
    return await exchange(url, posting, signal);
  } catch (error) {
    if (error instanceof NoAnswer) throw error;
    throw new NoAnswer(signal.aborted ? 'timeout' : 'no_connection');
  }
};

const exchange = (url: URL, { headers, body }: Posting, signal: AbortSignal): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { request, agent } = agents[url.protocol === 'http:' ? 'http:' : 'https:'];
    const send = (): ClientRequest =>
      request(url, { method: 'POST', agent, headers, signal, lookup: lookUpPublic }, (answer) => {
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers });
        answer.once('error', () => undefined).resume();
      }).end(body);
    const first = send();
    first.once('error', (error: NodeJS.ErrnoException) => {
      // A connection kept from before may have been closed on the other side: nothing is wrong yet.
      if (first.reusedSocket && error.code === 'ECONNRESET') send().once('error', reject);
      else reject(error);
    });
  });

/** Looks a name up, and fails where any of its addresses is not public. */
const lookUpPublic = (
  name: string,
  options: LookupOptions,
  done: (error: Error | null, address: string | LookupAddress[], family?: number) => void,
): void => {
  lookup(name, { ...options, all: true }, (error, addresses) => {
    const [first] = addresses ?? [];
    if (error || first === undefined) return done(error ?? new NoAnswer('no_connection'), []);
    if (!addresses.every(({ address }) => isReachable(address))) return done(new NoAnswer('address_not_public'), []);
    return options.all ? done(null, addresses) : done(null, first.address, first.family);
  });
};

/** All that the public network routes of IPv6; beside it stand other spellings of IPv4. */
const PUBLIC_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Whether the public network routes an address; on the local stack, those of this machine are reached too. */
const isReachable = (address: string): boolean => {
  const known = ipaddr.process(address);
  const range = known.range();
  if (range === 'loopback') return allowsLoopback();
  return range === 'unicast' && (!(known instanceof ipaddr.IPv6) || known.match(PUBLIC_IPV6));
};

/** A JSON post signed by Standard Webhooks. A repeated one has the same `id`. */
export const signed = (url: string, secret: string, id: string, document: unknown): Posting => {
  const body = JSON.stringify(document);
  const time = new Date(now());
  return {
    url,
    headers: {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(time.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign(id, time, body),
    },
    body,
  };
};

/** Seconds or a date, as `Retry-After` gives it (RFC 9110), in milliseconds from now. */
export const retryAfterIn = ({ headers }: Answer): number | undefined => {
  const value = headers['retry-after'];
  if (value === undefined) return undefined;
  const wait = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now();
  return Number.isNaN(wait) ? undefined : Math.max(wait, 0);
};
