/** The app network: the servers of the mobile app. Each entry is one signed POST to the same URL. */
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import * as v from 'valibot';
import { now, scaled } from '../core/clock.ts';
import { appNetworkSecret } from '../core/settings.ts';
import { urlOf } from '../media/media.ts';
import { contentFields, type Entry, type OutboxEvent } from '../outbox/event.ts';
import { describeError, log } from '../telemetry/log.ts';
import { signingSecret } from '../validation/schemas.ts';
import { APP_NETWORK_DESTINATION, type Destination } from './destination.ts';
import { notSetUp, type OutboundRequest } from './http/request.ts';
import { signed } from './http/standard-webhooks.ts';

/** What the stack's secret contains, as JSON. */
export const appNetworkCredentials = v.object({
  url: v.pipe(v.string(), v.url()),
  secret: signingSecret,
  /** Also signs, while the app network changes from this secret to the new one. */
  previous_secret: v.optional(signingSecret),
});

export type AppNetworkCredentials = v.InferOutput<typeof appNetworkCredentials>;

/** Timeouts in milliseconds. Without them, a call without a response would block a worker until Lambda's timeout. */
const timeouts = { connectionTimeout: 1_000, requestTimeout: 2_000, throwOnRequestTimeout: true };

/** Milliseconds between reads of the secret, also if it is not set. */
const KEPT_MS = 300_000;
/** Milliseconds between reads after a failed read. */
const RETRY_MS = 30_000;

/** The credentials of the last read, and the time of the next one (milliseconds since 1970). */
let known: { credentials: AppNetworkCredentials | undefined; until: number } | undefined;

/**
 * The app network, with the URL and the secrets from the stack's secret. Each process reads the secret every five
 * minutes, so that a change takes effect without a deployment.
 *
 * @throws Error — the secret cannot be read, and no earlier read of the process succeeded
 */
export const appNetwork = async (): Promise<Destination> => {
  const found = await currentCredentials();
  return { name: APP_NETWORK_DESTINATION, buildRequest: found ? requestBuilder(found) : notSetUp };
};

const currentCredentials = async (): Promise<AppNetworkCredentials | undefined> => {
  if (known === undefined) known = { credentials: await readCredentials(), until: now() + scaled(KEPT_MS) };
  else if (now() >= known.until) known = await readAgain(known.credentials);
  return known.credentials;
};

/** If the read fails, the last credentials are used, so that deliveries continue. */
const readAgain = async (last: AppNetworkCredentials | undefined): Promise<NonNullable<typeof known>> => {
  try {
    return { credentials: await readCredentials(), until: now() + scaled(KEPT_MS) };
  } catch (error) {
    log('warn', 'app network secret not read', describeError(error));
    return { credentials: last, until: now() + scaled(RETRY_MS) };
  }
};

/** Whether the operator has set a URL and a valid signing secret. */
export const isAppNetworkSetUp = async (): Promise<boolean> => (await readCredentials()) !== undefined;

/** The credentials that the operator has set; undefined if URL or signing secret is missing or invalid. */
const readCredentials = async (): Promise<AppNetworkCredentials | undefined> => {
  const secrets = new SecretsManagerClient({ requestHandler: timeouts, maxAttempts: 3 });
  try {
    const { SecretString = '' } = await secrets.send(new GetSecretValueCommand({ SecretId: appNetworkSecret() }));
    const { success, output } = v.safeParse(v.pipe(v.string(), v.parseJson(), appNetworkCredentials), SecretString);
    return success ? output : undefined;
  } finally {
    // Until the next read, the server would close the idle connection.
    secrets.destroy();
  }
};

const requestBuilder =
  ({ url, secret, previous_secret: previous }: AppNetworkCredentials) =>
  (entry: Entry): OutboundRequest =>
    signed(url, previous === undefined ? [secret] : [secret, previous], entry.id, eventOf(entry));

/** The body of the request: an event of the app network's protocol. */
const eventOf = ({ created, outgoing }: Entry) => ({
  type: outgoing.type,
  timestamp: `${created}Z`,
  data: dataOf(outgoing),
});

const dataOf = (outgoing: OutboxEvent): object => {
  if (outgoing.type === 'message.send') return messageIn(outgoing);
  if (outgoing.type === 'account.updated') {
    const { bot, name, avatar } = outgoing;
    return { bot, name, avatar: avatar === null ? null : urlOf(avatar) };
  }
  if (outgoing.type !== 'user_data.request') return {};
  const { request, business, reason, properties, valid_days } = outgoing;
  const asked = properties.map(({ property, reason: why, required }) => ({ property, reason: why, required }));
  return { id: request.id, to: request.phone, business, reason, properties: asked, valid_days };
};

const messageIn = ({ message, from, content, quick_replies }: Extract<OutboxEvent, { type: 'message.send' }>) => ({
  id: message.id,
  from,
  to: message.phone,
  ...contentFields(content),
  quick_replies,
});
