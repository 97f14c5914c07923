/**
 * The authorizer of both hosts: whose token is this, and what does it allow? API Gateway hands its context on to the
 * endpoint's function. An error of the table fails the call (500, not cached); it never rejects a valid token.
 */
import type { APIGatewayRequestAuthorizerEventV2, APIGatewaySimpleAuthorizerWithContextResult } from 'aws-lambda';
import { type Identity, identify } from '../shared/accounts/tokens.ts';
import { describeError, log } from '../shared/telemetry/log.ts';
import { traced } from '../shared/telemetry/trace.ts';

/** What it looks at of API Gateway's event. `identitySource` is null for the authorizer that has none: path tokens'. */
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
    log('info', caller ? 'authorized' : 'rejected', { ...fields, account: caller?.account, token_id: caller?.token });
    return { isAuthorized: caller !== undefined, context: caller ?? {} };
  } catch (error) {
    log('error', 'authorizer', { ...fields, ...describeError(error) });
    throw new Error('The authorizer failed; its log line says where.');
  }
};

/** A token in a path is seen by more eyes than one in a header: it opens the bridge, whatever else it could. */
const callerOf = async (event: Event): Promise<Identity | undefined> => {
  const header = event.identitySource?.[0];
  if (header !== undefined) return identify(tokenInHeader(header));
  const caller = await identify(tokenInPath(event.pathParameters?.encoded_token));
  return caller && { ...caller, permissions: caller.permissions.filter((permission) => permission === 'bridge') };
};

/** `Bearer T`, `Token T`, or the bare `T` that RapidPro sends. */
const tokenInHeader = (header: string): string => header.trim().replace(/^(?:bearer|token) +/i, '');

/** Base64url, padded or not (spec §4.12). */
const tokenInPath = (encoded = ''): string => Buffer.from(encoded, 'base64url').toString();
