/** The app network: the servers of the mobile app. Every event is one signed POST to its one address. */
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import * as v from 'valibot';
import { appNetworkSecret } from '../core/settings.ts';
import type { Entry, Outgoing } from '../messaging/events.ts';
import { APP_NETWORK_DESTINATION, type Destination } from '../outbound/destination.ts';
import { notSetUp, type OutboundRequest } from '../outbound/request.ts';
import { signed } from '../outbound/standard-webhooks.ts';
import { signingSecret } from '../validation/schemas.ts';

const credentials = v.object({ url: v.pipe(v.string(), v.url()), secret: signingSecret });

type Credentials = v.InferOutput<typeof credentials>;

/** In milliseconds. Without limits of its own, a call that is never answered would hold a worker until Lambda ends it. */
const patience = { connectionTimeout: 1_000, requestTimeout: 2_000, throwOnRequestTimeout: true };

let known: Credentials | undefined;

/** The app network, as the stack's secret describes it: read once by each process. */
export const appNetwork = async (): Promise<Destination> => {
  known ??= await readCredentials();
  return { name: APP_NETWORK_DESTINATION, buildRequest: known ? requestBuilder(known) : notSetUp };
};

/** What the operator has filled in; nothing, where that is no address with a signing secret. */
const readCredentials = async (): Promise<Credentials | undefined> => {
  const secrets = new SecretsManagerClient({ requestHandler: patience, maxAttempts: 3 });
  // Stryker disable next-line StringLiteral: The replacement matches nothing either, or is rejected too.
  const { SecretString = '' } = await secrets.send(new GetSecretValueCommand({ SecretId: appNetworkSecret() }));
  // It is not read again: no connection is kept.
  secrets.destroy();
  const { success, output } = v.safeParse(v.pipe(v.string(), v.parseJson(), credentials), SecretString);
  return success ? output : undefined;
};

const requestBuilder =
  ({ url, secret }: Credentials) =>
  (entry: Entry): OutboundRequest =>
    signed(url, secret, entry.id, eventOf(entry));

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
