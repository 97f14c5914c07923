/** GET /v1/configuration: returns the settings of the account, and how its chat platform works. */

import { readConfiguration } from '../../shared/accounts/configuration.ts';
import { account as api } from '../../shared/api/areas/account.ts';
import { healthOf } from '../../shared/delivery/platform-health.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';

export const handler = endpoint(api.readConfiguration, async ({ account, limit }) =>
  ok({ configuration: await readConfiguration(account, limit, healthOf) }),
);
