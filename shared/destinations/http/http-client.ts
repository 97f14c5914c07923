/** Requests to destinations: a POST to a public IP address. Redirects are not followed. */
import type { LookupAddress, LookupOptions } from 'node:dns';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { allowsLoopback } from '#runtime';
import { addressesOf } from './addresses.ts';
import { keptConnections } from './connections.ts';
import { exchange } from './exchange.ts';
import { isPublicAddress, isReachable } from './public-address.ts';
import { DeliveryError, type OutboundRequest, type OutboundResponse } from './request.ts';

/**
 * Sends a POST, and reads the beginning of the response.
 *
 * @throws DeliveryError — no response within 10 s, an invalid response, or a URL that cannot or must not be reached
 */
export const post = async ({ url: address, headers, body }: OutboundRequest): Promise<Required<OutboundResponse>> => {
  const url = URL.parse(address);
  if (url === null) throw new DeliveryError('not_set_up');
  const { protocol } = url;
  if (protocol !== 'https:' && !(protocol === 'http:' && allowsLoopback()))
    throw new DeliveryError('address_not_https');
  // IP addresses are checked here, because they are not looked up.
  if (!isPublicAddress(url)) throw new DeliveryError('address_not_public');
  const request = protocol === 'http:' ? requestHttp : requestHttps;
  return exchange((connection) => {
    const agent = connection === 'kept' && keptConnections(protocol);
    return request(url, { method: 'POST', agent, headers, lookup: lookUpPublic }).end(body);
  });
};

/** Looks up a host name, and fails if one of its IP addresses is not public. The connection goes to one of those. */
const lookUpPublic = (
  name: string,
  options: LookupOptions,
  done: (error: Error | null, address: string | LookupAddress[], family?: number) => void,
): void => {
  publicAddressesOf(name).then(
    ([first, ...others]) => (options.all ? done(null, [first, ...others]) : done(null, first.address, first.family)),
    (error: Error) => done(error, []),
  );
};

const publicAddressesOf = async (name: string): Promise<[LookupAddress, ...LookupAddress[]]> => {
  const [first, ...others] = await addressesOf(name);
  if (first === undefined) throw new DeliveryError('no_connection');
  if (![first, ...others].every(({ address }) => isReachable(address))) throw new DeliveryError('address_not_public');
  return [first, ...others];
};
