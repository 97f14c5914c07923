/**
 * Look-ups of the host names of destinations, which customers choose. `dns.lookup` would make them in the four threads of
 * libuv's pool, where a few silent names hold up all others, and the calls of AWS: "a synchronous call to getaddrinfo(3) that
 * runs on libuv's threadpool". The functions of a resolver "always perform a DNS query on the network", which "does not use
 * libuv's threadpool", and "do not use the configuration from /etc/hosts" (Node.js documentation, DNS, "Implementation
 * considerations").
 */
import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';

/**
 * Two attempts of each query, the first of which ends after 2 s: an exchange has 10 s for everything.
 *
 * @internal Tests set its servers.
 */
export const resolver = /* @__PURE__ */ new Resolver({ timeout: 2_000, tries: 2 });

/** Names of this machine, which no DNS server has to know (RFC 6761, 6.3). */
const LOCALHOST = /^(?:.+\.)?localhost\.?$/i;

/**
 * The addresses of a host name: IPv4 and IPv6, in this order. One kind is enough.
 *
 * @throws Error of the query for IPv4 — the name has no address, or no server responded
 */
export const addressesOf = async (name: string): Promise<LookupAddress[]> => {
  if (LOCALHOST.test(name)) return [found(4)('127.0.0.1'), found(6)('::1')];
  const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const addresses = [
    ...(four.status === 'fulfilled' ? four.value.map(found(4)) : []),
    ...(six.status === 'fulfilled' ? six.value.map(found(6)) : []),
  ];
  if (addresses.length === 0 && four.status === 'rejected') throw four.reason;
  return addresses;
};

const found =
  (family: 4 | 6) =>
  (address: string): LookupAddress => ({ address, family });
