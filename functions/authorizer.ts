/**
 * The authorizer of both hosts: finds the account and the permissions of a token. API Gateway passes its context to the
 * endpoint's function. If DynamoDB fails, the call fails (500, not cached), so that no valid token is rejected.
 */
import type { APIGatewayRequestAuthorizerEventV2, APIGatewaySimpleAuthorizerWithContextResult } from 'aws-lambda';
import { findRequestLimit } from '../shared/accounts/request-limit.ts';
import { type Identity, identify } from '../shared/accounts/tokens.ts';
import { APP_NETWORK } from '../shared/core/permissions.ts';
import { describeError, log } from '../shared/telemetry/log.ts';
import { traced } from '../shared/telemetry/trace.ts';

/** The part of API Gateway's event that it uses. `identitySource` is null for tokens in paths, which have none. */
interface Event extends Pick<APIGatewayRequestAuthorizerEventV2, 'routeKey' | 'pathParameters'> {
  identitySource?: string[] | null;
  requestContext: Pick<APIGatewayRequestAuthorizerEventV2['requestContext'], 'requestId'>;
}

type Result = APIGatewaySimpleAuthorizerWithContextResult<Identity | Record<string, never>>;

export const handler = (event: Event): Promise<Result> =>
  traced(event.requestContext.requestId, () => authorize(event));

const authorize = async (event: Event): Promise<Result> => {
  const fields = { route: event.routeKey };
  try {
    const caller = await callerOf(event);
    const allowed = caller && (await withLimit(caller));
    const about = { ...fields, account: caller?.account, token_id: caller?.token };
    if (caller && !allowed) log('info', 'rejected', { ...about, reason: 'account_suspended' });
    else log('info', allowed ? 'authorized' : 'rejected', about);
    return { isAuthorized: allowed !== undefined, context: allowed ?? {} };
  } catch (error) {
    log('error', 'authorizer', { ...fields, ...describeError(error) });
    throw new Error('The authorizer failed; its log line says where.');
  }
};

/**
 * The limit of the account reaches the functions with its name; undefined if the account is suspended. The app network has
 * no limit.
 */
const withLimit = async (caller: Identity): Promise<Identity | undefined> => {
  if (caller.account === APP_NETWORK) return caller;
  const limit = await findRequestLimit(caller.account);
  return limit && { ...caller, ...limit };
};

/** A token in a path has only the permission `bridge`, because paths are in logs of servers and proxies. */
const callerOf = async (event: Event): Promise<Identity | undefined> => {
  const header = event.identitySource?.[0];
  if (header !== undefined) return identify(tokenInHeader(header));
  const caller = await identify(tokenInPath(event.pathParameters?.encoded_token));
  return caller && { ...caller, permissions: caller.permissions.filter((permission) => permission === 'bridge') };
};

/** The token in `Bearer T`, `Token T`, or the bare `T` that RapidPro sends. */
const tokenInHeader = (header: string): string => header.trim().replace(/^(?:bearer|token) +/i, '');

/** The token from base64url, with or without padding. */
const tokenInPath = (encoded = ''): string => Buffer.from(encoded, 'base64url').toString();
