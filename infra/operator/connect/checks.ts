/**
 * Checks of a connection in both directions. They send no message to a person: the request to the service is one that it
 * accepts and ignores, and the request to the platform is one that the platform refuses.
 */
import { accountOfBot, findAccount } from '../../../shared/accounts/accounts.ts';
import { identify } from '../../../shared/accounts/tokens.ts';
import { now } from '../../../shared/core/clock.ts';
import { post } from '../../../shared/destinations/http/http-client.ts';
import { DeliveryError, type OutboundRequest } from '../../../shared/destinations/http/request.ts';
import { type PlatformName, setups } from '../../../shared/destinations/registry.ts';
import { type CheckedResponse, type Explanation, encodeToken, probeOf } from '../../../shared/destinations/setup.ts';
import { settingErrors } from '../accounts/platform.ts';
import type { AccountPlatform } from '../queries/accounts-admin.ts';
import { explainNoResponse, explainServer, explainService } from './explain.ts';

export interface Check {
  /** A sentence: what works, or what does not. */
  title: string;
  result: 'good' | 'failed';
  /** What the check has proved, or the cause of the failure. */
  detail: string;
  /** What to do about a failure. */
  fix?: string;
  /** The status of the response; missing if there was none. */
  status?: number;
  /** Milliseconds until the response. */
  ms?: number;
}

/** A platform's name at the beginning of a sentence. */
const subjectOf = (platform: PlatformName): string => setups[platform].title.replace(/^t/, 'T');

const failed = (title: string, { cause, fix }: Explanation): Check => ({ title, result: 'failed', detail: cause, fix });

interface Exchanged {
  response?: CheckedResponse;
  /** Why there was no response. */
  error?: DeliveryError;
  ms: number;
}

const exchanged = async (request: OutboundRequest): Promise<Exchanged> => {
  const began = now();
  try {
    const { status, body } = await post(request);
    return { response: { status, body }, ms: now() - began };
  } catch (error) {
    if (!(error instanceof DeliveryError)) throw error;
    return { error, ms: now() - began };
  }
};

/** What `platform check` reports. */
export interface PlatformTest {
  /** Missing if the settings are invalid. */
  url?: string;
  /** Missing if there was no response. */
  status?: number;
  ms?: number;
  fault?: Explanation;
}

/** Sends the test request of a platform's settings. It changes nothing on the platform. */
export const testPlatform = async ({ name, settings, previous_secrets }: AccountPlatform): Promise<PlatformTest> => {
  const probe = probeOf(setups[name], settings, previous_secrets);
  if (probe === undefined) {
    return { fault: { cause: settingErrors(name, settings).join(' '), fix: 'Correct the settings.' } };
  }
  const { request } = probe;
  const { url } = request;
  const { response, error, ms } = await exchanged(request);
  if (response === undefined) {
    return { url, ...(error && { fault: explainNoResponse(error, url) }) };
  }
  const fault = explainServer(response) ?? probe.fault(response);
  return { url, status: response.status, ms, ...(fault && { fault }) };
};

/** Checks that the service reaches a platform. */
export const checkToPlatform = async (platform: AccountPlatform): Promise<Check> => {
  const { fault, status, ms } = await testPlatform(platform);
  const answer = { ...(status !== undefined && { status }), ...(ms !== undefined && { ms }) };
  const { title, proved } = setups[platform.name];
  if (fault !== undefined) return { ...failed(`The service cannot reach ${title}`, fault), ...answer };
  return { title: `The service reaches ${title}`, result: 'good', detail: proved, ...answer };
};

interface FromPlatform {
  account: string;
  platform: PlatformName;
  bridgeUrl: string;
  /** The token that the platform has. */
  token: string;
}

/**
 * Checks that a platform with this token reaches the service, by a request as the platform would send it. Undefined if
 * the platform calls no endpoint of its own.
 */
export const checkFromPlatform = async ({
  account,
  platform,
  bridgeUrl,
  token,
}: FromPlatform): Promise<Check | undefined> => {
  const { title: name, inbound } = setups[platform];
  if (inbound === undefined) return undefined;
  const title = `${subjectOf(platform)} reaches the service`;
  const caller = await identify(token);
  if (caller !== undefined && caller.account !== account) {
    return failed(`${subjectOf(platform)} cannot reach the service`, {
      cause: `The token belongs to another account: messages would be sent as "${caller.account}".`,
      fix: `Issue a token of "${account}", and enter it in ${name}.`,
    });
  }
  const request = inbound.request({ bridgeUrl, token, encodedToken: encodeToken(token) });
  const { response, error, ms } = await exchanged(request);
  if (response?.status === 200) {
    const detail = 'The token is accepted, and it has the permission bridge. Nobody gets a message.';
    return { title, result: 'good', detail, status: 200, ms };
  }
  const why =
    response === undefined
      ? explainNoResponse(error ?? new DeliveryError('no_connection'), bridgeUrl)
      : explainService(name, inbound.tokenField, response);
  return {
    ...failed(`${subjectOf(platform)} cannot reach the service`, why),
    ...(response && { status: response.status, ms }),
  };
};

/** Checks that the bot's number leads users to the account. Undefined if it does. 2 read units. */
export const checkNumber = async (id: string): Promise<Check | undefined> => {
  const number = (await findAccount(id))?.bot_number;
  const title = 'Users cannot write to the bot';
  if (number === undefined) {
    return failed(title, {
      cause: 'The account has no bot number.',
      fix: `Set it with "account update ${id} --bot-number NUMBER".`,
    });
  }
  const owner = await accountOfBot(number);
  if (owner === id) return undefined;
  return failed(
    title,
    owner === undefined
      ? {
          cause: `The number ${number} belongs to no account.`,
          fix: `Give it to the account with "account update ${id} --bot-number ${number}".`,
        }
      : {
          cause: `The number ${number} belongs to "${owner}".`,
          fix: `Give the account another number with "account update ${id} --bot-number NUMBER".`,
        },
  );
};

/** Whether all checks succeeded. */
export const allGood = (checks: Check[]): boolean => checks.every(({ result }) => result === 'good');
