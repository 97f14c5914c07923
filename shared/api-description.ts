/** The API description, with the addresses of the hosts that this stack has. */
import { exampleHosts } from './example-hosts.ts';
import written from './openapi.json' with { type: 'json' };
import { baseUrl, bridgeUrl } from './settings.ts';

/** An OpenAPI document (version 3.1). */
export const apiDescription = (): { openapi: string } =>
  JSON.parse(
    JSON.stringify(written).replaceAll(exampleHosts.base, baseUrl()).replaceAll(exampleHosts.bridge, bridgeUrl()),
  );
