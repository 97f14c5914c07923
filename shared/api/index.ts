/**
 * The list of all endpoints. Routes, validation, the functions' rights, the API description and tests are derived from
 * it. `functions/things/do-thing.ts` serves the endpoint `doThing` of the area `things`.
 */
import { account } from './areas/account.ts';
import { app } from './areas/app.ts';
import { bridge } from './areas/bridge.ts';
import { deliveries } from './areas/deliveries.ts';
import { description } from './areas/description.ts';
import { mcp } from './areas/mcp.ts';
import { media } from './areas/media.ts';
import { messages } from './areas/messages.ts';
import { portal } from './areas/portal.ts';
import { profilers } from './areas/profilers.ts';
import { sessions } from './areas/sessions.ts';
import { jobs, stats } from './areas/stats.ts';
import { tokens } from './areas/tokens.ts';
import { userDataRequests } from './areas/user-data.ts';
import { users } from './areas/users.ts';
import { webhooks } from './areas/webhooks.ts';
import type { Endpoint } from './endpoint.ts';

export const api = {
  ...description,
  ...profilers,
  ...messages,
  ...jobs,
  ...media,
  ...bridge,
  ...deliveries,
  ...app,
  ...userDataRequests,
  ...users,
  ...account,
  ...stats,
  ...webhooks,
  ...tokens,
  ...portal,
  ...mcp,
  ...sessions,
} as const satisfies Record<string, Endpoint>;

export type Api = typeof api;
export type EndpointName = keyof Api;
