/** The app network: the servers of the mobile app. Every event is one signed POST to its one address. */
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import * as v from 'valibot';
import { now, scaled } from '../core/clock.ts';
import { appNetworkSecret } from '../core/settings.ts';
import type { Entry, Outgoing } from '../messaging/events.ts';
import { APP_NETWORK_DESTINATION, type Destination } from '../outbound/destination.ts';
import { notSetUp, type OutboundRequest } from '../outbound/request.ts';
import { signed } from '../outbound/standard-webhooks.ts';
import { describeError, log } from '../telemetry/log.ts';
import { signingSecret } from '../validation/schemas.ts';

const credentials = v.object({
  url: v.pipe(v.string(), v.url()),
  secret: signingSecret,
  /** Also signs, as long as the app network changes from this secret to the other. */
  previous_secret: v.optional(signingSecret),
});

type Credentials = v.InferOutput<typeof credentials>;

/** In milliseconds. Without limits of its own, a call that is never answered would hold a worker until Lambda ends it. */
const patience = { connectionTimeout: 1_000, requestTimeout: 2_000, throwOnRequestTimeout: true };

/** Milliseconds for which the secret is not read again, whether it is set or not. */
const KEPT_MS = 300_000;
/** Milliseconds after which the secret is read again that could not be read. */
const RETRY_MS = 30_000;

/** What was read last, and until when it is used without another read (milliseconds since 1970). */
let known: { credentials: Credentials | undefined; until: number } | undefined;

/**
 * The app network, as the stack's secret describes it. Each process reads the secret every five minutes, so that a changed
 * one takes effect without a deployment.
 *
 * @throws Error — the secret cannot be read, and never could
 */
export const appNetwork = async (): Promise<Destination> => {
  const found = await currentCredentials();
  return { name: APP_NETWORK_DESTINATION, buildRequest: found ? requestBuilder(found) : notSetUp };
};

const currentCredentials = async (): Promise<Credentials | undefined> => {
  if (known === undefined) known = { credentials: await readCredentials(), until: now() + scaled(KEPT_MS) };
  else if (now() >= known.until) known = await readAgain(known.credentials);
  return known.credentials;
};

/** A failed read must not stop messages that were delivered with the last credentials. */
const readAgain = async (last: Credentials | undefined): Promise<NonNullable<typeof known>> => {
  try {
    return { credentials: await readCredentials(), until: now() + scaled(KEPT_MS) };
  } catch (error) {
    log('warn', 'app network secret not read', describeError(error));
    return { credentials: last, until: now() + scaled(RETRY_MS) };
  }
};

/** What the operator has filled in; nothing, where that is no address with a signing secret. */
const readCredentials = async (): Promise<Credentials | undefined> => {
  const secrets = new SecretsManagerClient({ requestHandler: patience, maxAttempts: 3 });
  try {
    // Stryker disable next-line StringLiteral: The replacement matches nothing either, or is rejected too.
    const { SecretString = '' } = await secrets.send(new GetSecretValueCommand({ SecretId: appNetworkSecret() }));
    const { success, output } = v.safeParse(v.pipe(v.string(), v.parseJson(), credentials), SecretString);
    return success ? output : undefined;
  } finally {
    // A connection that is idle for minutes is closed by the other side.
    secrets.destroy();
  }
};

const requestBuilder =
  ({ url, secret, previous_secret: previous }: Credentials) =>
  (entry: Entry): OutboundRequest =>
    signed(url, previous === undefined ? [secret] : [secret, previous], entry.id, eventOf(entry));

/** The event as the app network takes it. */
const eventOf = ({ created, outgoing }: Entry) => ({
  type: outgoing.type,
  timestamp: `${created}Z`,
  data: dataOf(outgoing),
});

const dataOf = (outgoing: Outgoing): object => {
  if (outgoing.type === 'message.send') return messageIn(outgoing);
  if (outgoing.type !== 'user_data.request') return {};
  const { request, business, reason, properties } = outgoing;
  return { id: request.id, to: request.phone, business, reason, properties };
};

const messageIn = ({ message, from, content, quick_replies }: Extract<Outgoing, { type: 'message.send' }>) => ({
  id: message.id,
  from,
  to: message.phone,
  ...content,
  quick_replies,
});
