/** Calls of servers outside: one POST, to an address that the public network knows, without following redirects. */
import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { minutes } from './clock.ts';
import { type Answer, NoAnswer, type Posting } from './posting.ts';
import { allowsLoopback } from './settings.ts';

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
export const post = (posting: Posting): Promise<Answer> => call(posting, async (answer) => void answer.resume());

/** Characters of an answer that are read. */
const MAX_READ = 10_000;

/**
 * Posts to a server outside, and reads what it answers, or the beginning of that.
 *
 * @throws NoAnswer — as `post`
 */
export const postAndRead = async (posting: Posting): Promise<Answer & { body: string }> => {
  let body = '';
  const answer = await call(posting, async (message) => {
    for await (const chunk of message.setEncoding('utf8')) {
      body += chunk;
      if (body.length >= MAX_READ) break;
    }
  });
  return { ...answer, body: body.slice(0, MAX_READ) };
};

/** Reads an answer, or lets it pass. */
type Read = (answer: IncomingMessage) => Promise<void>;

const call = async (posting: Posting, read: Read): Promise<Answer> => {
  const url = URL.parse(posting.url);
  if (url === null) throw new NoAnswer('not_set_up');
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && allowsLoopback()))
    throw new NoAnswer('address_not_https');
  // The look-up is left out for addresses in figures.
  if (!isPublicAddress(url)) throw new NoAnswer('address_not_public');
  const signal = AbortSignal.timeout(Math.round(minutes(TIMEOUT)));
  try {
    const answer = await exchange(url, posting, signal, read);
    return { status: answer.statusCode ?? 0, headers: answer.headers };
  } catch (error) {
    if (error instanceof NoAnswer) throw error;
    throw new NoAnswer(signal.aborted ? 'timeout' : 'no_connection');
  }
};

const exchange = (url: URL, { headers, body }: Posting, signal: AbortSignal, read: Read): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const { request, agent: keeping } = agents[url.protocol === 'http:' ? 'http:' : 'https:'];
    const send = (agent: HttpAgent | false): ClientRequest =>
      request(url, { method: 'POST', agent, headers, signal, lookup: lookUpPublic }, (answer) => {
        read(answer).then(() => resolve(answer), reject);
      }).end(body);
    const first = send(keeping);
    first.once('error', (error: NodeJS.ErrnoException) => {
      // A connection kept from before may have been closed on the other side: nothing is wrong yet.
      if (first.reusedSocket && error.code === 'ECONNRESET') send(false).once('error', reject);
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

/** Whether an address in figures is public. What a name stands for is not known before it is looked up. */
export const isPublicAddress = ({ hostname }: URL): boolean => {
  const literal = hostname.replace(/^\[|\]$/g, '');
  return isIP(literal) === 0 || isReachable(literal);
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
