/** The API description, with the addresses of the hosts that it is answered for. */
import { exampleHosts } from './example-hosts.ts';
import written from './openapi.json' with { type: 'json' };

/** An OpenAPI document (version 3.1), for hosts without a slash at the end of their addresses. */
export const apiDescription = ({ base, bridge }: Record<'base' | 'bridge', string>): { openapi: string } =>
  JSON.parse(JSON.stringify(written).replaceAll(exampleHosts.base, base).replaceAll(exampleHosts.bridge, bridge));
