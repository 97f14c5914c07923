/** The scenarios of all endpoints. */
import { api, type EndpointName } from '../../../shared/api/index.ts';
import { type Answer, calling, type Request } from '../in-process/failing-calls/scenario.ts';
import { accountScenarios } from './account.ts';
import { appScenarios } from './app.ts';
import { bridgeScenarios } from './bridge.ts';
import { deliveriesScenarios } from './deliveries.ts';
import { descriptionScenarios } from './description.ts';
import { mcpScenarios } from './mcp.ts';
import { mediaScenarios } from './media.ts';
import { messagesScenarios } from './messages.ts';
import { portalScenarios } from './portal.ts';
import { profilersScenarios } from './profilers.ts';
import type { Call, EndpointScenario, Worst } from './scenarios.ts';
import { sessionsScenarios } from './sessions.ts';
import { jobsScenarios, statsScenarios } from './stats.ts';
import { tokensScenarios } from './tokens.ts';
import { userDataScenarios } from './user-data.ts';
import { usersScenarios } from './users.ts';
import { webhooksScenarios } from './webhooks.ts';

export const scenarios: Record<EndpointName, EndpointScenario> = {
  ...portalScenarios,
  ...mcpScenarios,
  ...profilersScenarios,
  ...messagesScenarios,
  ...jobsScenarios,
  ...mediaScenarios,
  ...bridgeScenarios,
  ...deliveriesScenarios,
  ...appScenarios,
  ...userDataScenarios,
  ...usersScenarios,
  ...accountScenarios,
  ...statsScenarios,
  ...webhooksScenarios,
  ...tokensScenarios,
  ...sessionsScenarios,
  ...descriptionScenarios,
};

/** The calls of an endpoint; the name of the only one is empty. */
export const callsOf = (name: EndpointName): [name: string, call: Call][] => {
  const scenario = scenarios[name];
  return 'calls' in scenario ? Object.entries(scenario.calls) : [['', scenario]];
};

/** The most expensive requests of an endpoint. */
export const worstOf = (name: EndpointName): Worst[] => [scenarios[name].worst ?? callsOf(name)[0]?.[1] ?? {}].flat();

/** A function that calls the handler of an endpoint, which `shared/api/index.ts` says how to find. */
export const callOf = async (name: EndpointName, request: Request): Promise<() => Promise<Answer>> => {
  const file = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const { handler } = await import(`../../../functions/${api[name].area}/${file}.ts`);
  return calling(handler, request);
};
