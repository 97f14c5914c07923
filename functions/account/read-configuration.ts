/** GET /v1/configuration: returns the settings of the account, and how its chat platform works. */
import { account as api } from '../../shared/api/areas/account.ts';
import { readConfiguration } from '../../shared/customers/configuration.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';

export const handler = endpoint(api.readConfiguration, async ({ account, limit }) =>
  ok({ configuration: await readConfiguration(account, limit) }),
);
