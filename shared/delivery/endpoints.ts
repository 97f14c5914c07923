/**
 * Endpoints of an account: the webhooks that a business manages itself. A webhook that an operator has set is listed as the
 * first one. With the first change, it becomes an endpoint, and from then on each event is copied for each endpoint:
 *
 *     operator sets a webhook    business adds an endpoint      business deletes both
 *     |                          |                              |
 *     v                          v                              v
 *     events are posted to it    events are copied for both     events wait for another one
 */
import * as v from 'valibot';
import { accountChangeWrite } from '../accounts/account-change.ts';
import type { AccountItem, KnownEndpoint } from '../accounts/accounts.ts';
import { accountKey, platformKey } from '../accounts/entities.ts';
import { type Author, type Change, historyWrite } from '../accounts/history.ts';
import { timestamp } from '../core/clock.ts';
import { idOf, newId } from '../core/ids.ts';
import { invalidRequest, Problem } from '../core/problems.ts';
import { destinationNameOf } from '../destinations/destination.ts';
import { ENDPOINTS, type Endpoint } from '../destinations/endpoint-settings.ts';
import { isPublicAddress } from '../destinations/http/public-address.ts';
import type { PlatformItem } from '../destinations/registry.ts';
import { newSigningSecret, previousSecrets, webhookSettings } from '../destinations/signing-secrets.ts';
import { endpointNumbers, endpointOf, type NamedConversation, named } from '../outbox/entities.ts';
import { enqueue, transactInOrder } from '../outbox/entries.ts';
import type { Conversation, OutboxEvent } from '../outbox/event.ts';
import { endRetrying, endWaiting, makeDue } from '../outbox/head.ts';
import { getConsistent, remove } from '../table/client.ts';
import { deletionWrite } from '../table/deletion-markers.ts';
import { putWrite, transact } from '../table/transactions.ts';
import { describeError, log } from '../telemetry/log.ts';
import { circuitKey, disabledKey } from './entities.ts';
import { type DestinationHealth, healthOfDestination } from './platform-health.ts';

/** What a business sets of an endpoint. `null` removes a setting. */
export interface EndpointChange {
  url?: string | undefined;
  version?: Endpoint['version'] | undefined;
  types?: Endpoint['types'] | null | undefined;
  description?: string | null | undefined;
}

/** An endpoint without its secrets. */
type ShownEndpoint = Pick<Endpoint, 'id' | 'url' | 'version' | 'types' | 'description' | 'created' | 'updated'>;

const shown = ({ id, url, version, types, description, created, updated }: Endpoint): ShownEndpoint => ({
  ...{ id, url, version },
  ...(types && { types }),
  ...(description !== undefined && { description }),
  ...{ created, updated },
});

/** The account and its platform, as they were read together. */
interface Present {
  item: AccountItem;
  endpoints: Endpoint[];
}

/**
 * @returns the account with its endpoints; the webhook that an operator has set is the first one
 * @throws platform_in_use — the account has a chat platform, or its events are directed to listeners
 */
const readPresent = async (account: string): Promise<Present> => {
  const item = await getConsistent<AccountItem>(accountKey(account));
  if (item === undefined) throw new Error('The account does not exist.');
  // Read after the account: a later change of the settings changes the account's version.
  const row = await getConsistent<PlatformItem>(platformKey(account));
  return { item, endpoints: row ? presentIn(account, row) : [] };
};

const presentIn = (account: string, row: PlatformItem): Endpoint[] => {
  if (row.platform === ENDPOINTS) return row.settings.endpoints;
  const { platform, settings, previous_secrets, listening, updated } = row;
  if (platform !== 'webhook') {
    throw platformInUse('Your account has another chat platform, which receives its events. Its operator removes it.');
  }
  if (listening !== undefined) {
    throw platformInUse('The events of your account are directed to listeners. Its operator ends that.');
  }
  const { success, output } = v.safeParse(webhookSettings, settings);
  if (!success) return [];
  // Another id when the operator sets another one.
  const id = idOf(account, 'webhook', updated);
  const secrets = previous_secrets && { previous_secrets };
  return [{ id, number: 1, ...output, ...secrets, version: 1, adopted: true, created: updated, updated }];
};

const platformInUse = (detail: string): Problem => new Problem('platform_in_use', detail);

/**
 * Changes the endpoints of an account, in a transaction that fails if the account was changed in the meantime; then it is read
 * again. 2 read units, and 10 write units. More of both if the settings have more than 1 KB.
 *
 * @param change - returns the endpoints after the change; `reset` is the number of one whose failures are forgotten
 * @returns the result, the number whose failures were forgotten, and whether the webhook of an operator has become an endpoint
 */
const changeEndpoints = async <Result>(
  by: Author,
  record: Change,
  change: (present: Endpoint[]) => { endpoints: Endpoint[]; reset?: Endpoint['number']; result: Result },
): Promise<{ result: Result; reset: Endpoint['number'] | undefined; isAdoption: boolean }> => {
  const { account } = by;
  for (;;) {
    const { item, endpoints: before } = await readPresent(account);
    const { endpoints, reset, result } = change(before);
    const isAdoption = before.some(({ adopted }) => adopted) && item.platform !== ENDPOINTS;
    if (reset !== undefined) await forgetFailures(account, reset);
    // Settings that were removed, and secrets that were replaced, do not return with a restore of the table.
    const marker = deletionWrite('platform', account);
    // Later than the marker's time: what is set now may be restored.
    const updated = timestamp();
    const failed = await transact([
      accountChangeWrite(item, attributesOf(endpoints)),
      // An empty list instead of no row: a role that may delete rows could delete more.
      putWrite<PlatformItem>({
        ...platformKey(account),
        platform: ENDPOINTS,
        settings: { endpoints },
        updated,
      }),
      marker,
      historyWrite(by, record),
    ]);
    if (failed.length > 0) continue;
    log('info', 'webhooks changed', { account, webhooks: endpoints.length });
    return { result, reset, isAdoption };
  }
};

/** As `changeEndpoints`, and makes due what is pending: more costs are those of `endWaiting` and `endRetrying`. */
const changeAndWake: typeof changeEndpoints = async (by, record, change) => {
  const changed = await changeEndpoints(by, record, change);
  await wake(by.account, changed.reset, changed.isAdoption);
  return changed;
};

/** Conversations that a change makes due, of those that wait, and of those that failed. `deliver` looks at others later. */
const MOST_WOKEN = 2_000;

/**
 * Makes due what waits for an endpoint, and what has failed at the one that was changed: it would otherwise wait for the next
 * retry, up to six hours. The change has taken effect also if this fails, so a failure is only logged.
 */
const wake = async (account: string, changed: Endpoint['number'] | undefined, isAdoption: boolean): Promise<void> => {
  const isConcerned = (conversation: NamedConversation): boolean => {
    const endpoint = endpointOf(conversation);
    return endpoint === undefined ? isAdoption : endpoint === changed;
  };
  try {
    await Promise.all([endWaiting(account, MOST_WOKEN), endRetrying(account, isConcerned, MOST_WOKEN)]);
  } catch (error) {
    log('warn', 'pending events not due at once', { account, ...describeError(error) });
  }
};

const attributesOf = (endpoints: Endpoint[]) =>
  endpoints.length === 0
    ? { platform: null, endpoints: null }
    : {
        platform: ENDPOINTS,
        endpoints: Object.fromEntries(
          endpoints.map(({ id, number, updated, adopted }): [string, KnownEndpoint] => [
            String(number),
            { id, updated, ...(adopted && { adopted }) },
          ]),
        ),
      };

/** Forgets failures of a destination. If it still is what failed before, it fails again. */
const forgetFailures = async (account: string, endpoint: Endpoint['number']): Promise<void> => {
  const name = destinationNameOf({ direction: 'platform', account, endpoint });
  await Promise.all([remove(disabledKey(name)), remove(circuitKey(name))]);
};

/** The endpoints of an account, the oldest number first, and how they work. 2 read units, and 1 for each. */
export const listEndpoints = async (account: string): Promise<(ShownEndpoint & DestinationHealth)[]> => {
  const { item, endpoints } = await readPresent(account);
  return Promise.all(
    endpoints.map(async (endpoint) => {
      const number = item.platform === ENDPOINTS ? endpoint.number : undefined;
      const name = destinationNameOf({ direction: 'platform', account, endpoint: number });
      return { ...shown(endpoint), ...(await healthOfDestination(name, endpoint.updated)) };
    }),
  );
};

/**
 * Adds an endpoint. Costs: `changeAndWake`.
 *
 * @param draft - without a secret, one is made
 * @returns the endpoint with its secret, which is never shown again
 * @throws platform_in_use · webhook_exists — one has this URL · webhook_limit_reached
 */
export const addEndpoint = async (
  by: Author,
  draft: EndpointChange & { url: string; secret?: string | undefined },
): Promise<ShownEndpoint & { secret: string }> => {
  const { secret = newSigningSecret() } = draft;
  const id = newId();
  const { result } = await changeAndWake(by, { type: 'webhook.created', id, fields: Object.keys(draft) }, (present) => {
    const number = endpointNumbers.find((one) => present.every((other) => other.number !== one));
    if (number === undefined) {
      throw new Problem(
        'webhook_limit_reached',
        `Your account has ${endpointNumbers.length} webhooks, which is the most. Delete one first.`,
      );
    }
    const time = timestamp();
    const endpoint = changed({ id, number, url: '', secret, version: 2, created: time, updated: time }, draft, present);
    return { endpoints: [...present, endpoint], reset: number, result: { ...shown(endpoint), secret } };
  });
  return result;
};

/**
 * Changes an endpoint, which also ends that it is disabled. Costs: `changeAndWake`.
 *
 * @throws platform_in_use · webhook_not_found · webhook_exists — another one has this URL
 */
export const changeEndpoint = async (by: Author, id: string, change: EndpointChange): Promise<ShownEndpoint> => {
  const record = { type: 'webhook.updated', id, fields: Object.keys(change) } as const;
  const { result } = await changeAndWake(by, record, (present) => {
    const endpoint = changed(withId(present, id), change, present);
    return { endpoints: replaced(present, endpoint), reset: endpoint.number, result: shown(endpoint) };
  });
  return result;
};

/**
 * Replaces the secret of an endpoint. The present one also signs for 24 hours. A disabled endpoint stays disabled. Costs:
 * `changeEndpoints`.
 *
 * @throws platform_in_use · webhook_not_found
 */
export const rotateSecret = async (by: Author, id: string): Promise<{ secret: string }> => {
  const secret = newSigningSecret();
  await changeEndpoints(by, { type: 'webhook.secret_rotated', id }, (present) => {
    const before = withId(present, id);
    const endpoint = { ...before, secret, previous_secrets: previousSecrets(before, secret) };
    return { endpoints: replaced(present, endpoint), result: undefined };
  });
  return { secret };
};

/**
 * Deletes an endpoint: its pending events are dropped when they are due. After the last one, events wait for another one. Costs:
 * `changeEndpoints`.
 *
 * @throws platform_in_use · webhook_not_found
 */
export const deleteEndpoint = async (by: Author, id: string): Promise<void> => {
  await changeEndpoints(by, { type: 'webhook.deleted', id }, (present) => {
    const { number } = withId(present, id);
    return { endpoints: present.filter((one) => one.id !== id), reset: number, result: undefined };
  });
};

/**
 * Sends an endpoint an event that is a test. It is signed, retried and recorded like others. 2 read units, 4 write units in
 * a transaction, and 2 more.
 *
 * @throws platform_in_use · webhook_not_found
 */
export const testEndpoint = async (account: string, id: string): Promise<{ event_id: string }> => {
  const { item, endpoints } = await readPresent(account);
  const { number } = withId(endpoints, id);
  const outgoing: OutboxEvent = { type: 'webhook.test', account };
  const isCopied = item.platform === ENDPOINTS;
  const conversation: Conversation = {
    direction: 'platform',
    account,
    phone: '',
    ...(isCopied && { endpoint: number }),
  };
  const copy = { endpoint: id, bot: item.bot_number ?? null };
  // A test that failed before delays this one no more.
  await makeDue(named(conversation));
  let event_id = '';
  await transactInOrder((after) => {
    const { ids, writes } = enqueue(conversation, [{ outgoing, ...(isCopied && { copy }) }], after);
    event_id = ids[0] ?? '';
    return writes;
  });
  return { event_id };
};

/** @throws webhook_not_found */
const withId = (endpoints: Endpoint[], id: string): Endpoint => {
  const found = endpoints.find((one) => one.id === id);
  if (found) return found;
  throw new Problem(
    'webhook_not_found',
    'Your account has no webhook with this id. GET /v1/webhooks lists those that it has.',
  );
};

const replaced = (endpoints: Endpoint[], endpoint: Endpoint): Endpoint[] =>
  endpoints.map((one) => (one.id === endpoint.id ? endpoint : one));

/** An endpoint after a change. @throws webhook_exists · invalid_request — the URL has a private address */
const changed = (endpoint: Endpoint, change: EndpointChange, present: Endpoint[]): Endpoint => {
  const { types: typesBefore, description: descriptionBefore, ...rest } = endpoint;
  const {
    url = endpoint.url,
    version = endpoint.version,
    types = typesBefore,
    description = descriptionBefore,
  } = change;
  if (!isPublicAddress(new URL(url))) {
    throw invalidRequest([{ pointer: '#/url', detail: 'must be a public address: the service calls no others' }]);
  }
  if (present.some((one) => one.id !== endpoint.id && one.url === url)) {
    throw new Problem('webhook_exists', 'Another webhook of your account has this URL. Change that one instead.');
  }
  return {
    ...rest,
    ...{ url, version, updated: timestamp() },
    ...(types && { types }),
    ...(description !== null && description !== undefined && { description }),
  };
};
