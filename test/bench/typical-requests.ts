/** A typical request of each endpoint: the first call of its scenario in `test/stack/scenarios/`. */
import { issuePortalCode } from '../../infra/operator/queries/portal-codes.ts';
import { issueToken } from '../../infra/operator/queries/tokens-admin.ts';
import { createSession } from '../../shared/accounts/sessions.ts';
import { api, type EndpointName } from '../../shared/api/index.ts';
import { timestamp } from '../../shared/core/clock.ts';
import { permissions } from '../../shared/core/permissions.ts';
import { callsOf } from '../stack/scenarios/all.ts';
import type { Call } from '../stack/scenarios/scenarios.ts';
import { newBusiness } from '../stack/support/world.ts';
import type { Sent } from './front-door.ts';

/** The first call of an endpoint. Outside of Vitest, it can replace no clock and no setting. */
export const firstCallOf = (name: EndpointName): Call => callsOf(name)[0]?.[1] ?? {};

const secret = `whsec_${Buffer.alloc(24).toString('base64')}`;
/** Only on a platform, an account receives an event again. Without one, it is sent no statuses. */
const listener = { name: 'webhook' as const, settings: { secret }, listening: timestamp() };

const newTokenFor = async (name: EndpointName, account: string): Promise<string> => {
  const label = 'benchmark';
  // The session of its scenario has a record, but no token.
  if (name === 'endSession')
    return (await createSession((await issuePortalCode({ account, label, permissions: ['stats'] })).code)).token;
  return (await issueToken(account, { label, permissions: permissions.filter((one) => one !== 'app') })).token;
};

/** Stores what a request needs, for a new account, and returns it. */
export const typicalRequest = async (name: EndpointName): Promise<Sent> => {
  const { area, permission, token: place } = api[name];
  const business = await newBusiness(area === 'deliveries' ? listener : undefined);
  const { account = business.account, path, headers, ...rest } = (await firstCallOf(name).prepare?.(business)) ?? {};
  // Most requests have none, and it takes units.
  const { 'idempotency-key': _, ...others } = headers ?? {};
  const request = { ...rest, headers: others };
  if (permission === 'app') return request;
  const token = await newTokenFor(name, account);
  const encoded = place === 'path' && { encoded_token: Buffer.from(token).toString('base64url') };
  return { ...request, token, path: { ...path, ...encoded } };
};
