/**
 * Checks of a connection in both directions. They send no message to a person: the request to the service is one that it
 * accepts and ignores, and the request to the platform is one that the platform refuses.
 */
import { accountOfBot, findAccount } from '../../../shared/accounts/accounts.ts';
import type { PlatformName } from '../../../shared/accounts/platform-settings.ts';
import { identify } from '../../../shared/accounts/tokens.ts';
import { now } from '../../../shared/core/clock.ts';
import { newId } from '../../../shared/core/ids.ts';
import { post } from '../../../shared/destinations/http/http-client.ts';
import {
  DeliveryError,
  formRequest,
  jsonRequest,
  type OutboundRequest,
} from '../../../shared/destinations/http/request.ts';
import { platforms } from '../../../shared/destinations/registry.ts';
import { settingErrors } from '../accounts/platform.ts';
import type { AccountPlatform } from '../queries/accounts-admin.ts';
import {
  type CheckedResponse,
  type Explanation,
  explainNoResponse,
  explainPlatform,
  explainService,
} from './explain.ts';
import { connectGuides, encodeToken } from './fields.ts';

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
const subjectOf = (platform: PlatformName): string => connectGuides[platform].title.replace(/^t/, 'T');

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
  const probe = platforms[name].probe(settings, previous_secrets);
  if (probe === undefined) {
    return { fault: { cause: settingErrors(name, settings).join(' '), fix: 'Correct the settings.' } };
  }
  const { request } = probe;
  const { url } = request;
  const { response, error, ms } = await exchanged(request);
  if (response === undefined) {
    return { url, ...(error && { fault: explainNoResponse(error, url) }) };
  }
  const isGood = probe.problem(response.status, response.body) === undefined;
  return { url, status: response.status, ms, ...(!isGood && { fault: explainPlatform(name, url, response) }) };
};

/** What the test request proves, and that it sends nothing. */
const PROVED: Record<PlatformName, string> = {
  rapidpro: 'The channel is active: it refused an empty message, as it should. Nobody gets a message.',
  turn: 'Token and channel are right: Turn refused an empty message, as it should. Nobody gets a message.',
  webhook: 'The server accepted a signed request with {"check":{}}.',
};

/** Checks that the service reaches a platform. */
export const checkToPlatform = async (platform: AccountPlatform): Promise<Check> => {
  const { fault, status, ms } = await testPlatform(platform);
  const answer = { ...(status !== undefined && { status }), ...(ms !== undefined && { ms }) };
  const { title } = connectGuides[platform.name];
  if (fault !== undefined) return { ...failed(`The service cannot reach ${title}`, fault), ...answer };
  return { title: `The service reaches ${title}`, result: 'good', detail: PROVED[platform.name], ...answer };
};

interface FromPlatform {
  account: string;
  platform: PlatformName;
  bridgeUrl: string;
  /** The token that the platform has. */
  token: string;
}

/** Checks that a platform with this token reaches the service, by a request as the platform would send it. */
export const checkFromPlatform = async ({ account, platform, bridgeUrl, token }: FromPlatform): Promise<Check> => {
  const title = `${subjectOf(platform)} reaches the service`;
  const caller = await identify(token);
  if (caller !== undefined && caller.account !== account) {
    return failed(`${subjectOf(platform)} cannot reach the service`, {
      cause: `The token belongs to another account: messages would be sent as "${caller.account}".`,
      fix: `Issue a token of "${account}", and enter it in ${connectGuides[platform].title}.`,
    });
  }
  const request = requestAs(platform, bridgeUrl, token);
  const { response, error, ms } = await exchanged(request);
  if (response?.status === 200) {
    const detail = 'The token is accepted, and it has the permission bridge. Nobody gets a message.';
    return { title, result: 'good', detail, status: 200, ms };
  }
  const why =
    response === undefined
      ? explainNoResponse(error ?? new DeliveryError('no_connection'), bridgeUrl)
      : explainService(platform, response);
  return {
    ...failed(`${subjectOf(platform)} cannot reach the service`, why),
    ...(response && { status: response.status, ms }),
  };
};

/** A request that the service accepts and ignores: a blank part of RapidPro's, or an ordinary webhook of Turn's. */
const requestAs = (platform: PlatformName, bridgeUrl: string, token: string): OutboundRequest => {
  if (platform === 'turn') {
    return jsonRequest(`${bridgeUrl}/v1/webhook/turn/${encodeToken(token)}`, { statuses: [] });
  }
  const form = formRequest(`${bridgeUrl}/v1/webhook/rapidpro/`, { id: newId(), text: ' ', to_no_plus: '10000000' });
  return { ...form, headers: { ...form.headers, authorization: token } };
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
