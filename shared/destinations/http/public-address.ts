/** Which addresses the service calls: public ones only, so that no URL of a customer reaches a network inside. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { allowsLoopback } from '#runtime';

/** Whether a URL's IP address is public. True for host names, which are checked when they are looked up. */
export const isPublicAddress = ({ hostname }: URL): boolean => {
  const literal = hostname.replace(/^\[|\]$/g, '');
  return isIP(literal) === 0 || isReachable(literal);
};

/** The public range of IPv6. Other ranges contain spellings of IPv4 addresses. */
const PUBLIC_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Whether an IP address is public. The local stack also allows addresses of this machine. */
export const isReachable = (address: string): boolean => {
  const known = ipaddr.process(address);
  const range = known.range();
  if (range === 'loopback') return allowsLoopback();
  return range === 'unicast' && (!(known instanceof ipaddr.IPv6) || known.match(PUBLIC_IPV6));
};
