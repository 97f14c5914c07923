/**
 * User data requests: a business asks a user for properties of the profile. A granted value is copied at that moment,
 * and does not change later. Some properties are granted without the user's approval.
 */
import * as v from 'valibot';
import { findAccount } from '../accounts/accounts.ts';
import { chargeUnknown, requireContacts } from '../accounts/allowances.ts';
import { secondsFromNow, timestamp } from '../core/clock.ts';
import { isPseudonym, newId } from '../core/ids.ts';
import { Problem } from '../core/problems.ts';
import { requestRetention } from '../core/settings.ts';
import { hasOptedOut } from '../messaging/opt-outs/opt-outs.ts';
import { isNotified } from '../messaging/platform-events.ts';
import { type After, enqueueWrites, transactInOrder } from '../outbox/entries.ts';
import {
  type Conversation,
  logFields,
  type OutboxEvent,
  type RequestedProperty,
  type RequestReference,
  withReference,
} from '../outbox/event.ts';
import { get, getConsistent, getManyConsistent, getManyEventual } from '../table/client.ts';
import { acceptOnce, notAccepted, type RecordWrites } from '../table/idempotency.ts';
import { ofPerson } from '../table/keys.ts';
import { putIfAbsentWrite, type Write } from '../table/transactions.ts';
import { measure } from '../telemetry/metrics.ts';
import { isAutomatic, type PropertyName } from '../users/profile-properties.ts';
import { latestProfile, registeredSinceWrite } from '../users/users.ts';
import { uuid } from '../validation/schemas.ts';
import { recordConsentReceipt } from './consent-receipts.ts';
import { endedResults, newConsent, readConsents, releaseWrites, validUntil } from './consents.ts';
import { inRequests, requestKey } from './entities.ts';
import type { RequestStatus } from './statuses.ts';
import {
  granted,
  grantOf,
  presentResults,
  type RequestItem,
  type Results,
  releasedIn,
  statusOf,
} from './stored-request.ts';

/** A request as the API returns it: without results until all properties are answered. */
export interface UserData {
  status: RequestStatus;
  /** The business's own name for the request. */
  reference?: string;
  results: Results;
}

/** The body of a business's request. */
export interface UserDataRequestBody {
  reason: string;
  data: RequestedProperty[];
  /** For how many days the consent is valid. Default: until the user withdraws it. */
  valid_days?: number | undefined;
  /** The business's own name for the request. */
  reference?: string | undefined;
}

/**
 * Starts a request: automatic properties are granted at once, and the user is asked for the others through the app.
 * 4 read units. One transaction: 6 write units if the user is asked, and 3 on indexes; if a value is released at once, 2 for
 * the consent, 2 for a receipt and 2 for a check. 1 write unit for a number that is not registered, by which the allowance is charged. With an
 * idempotency key, as much more as `acceptOnce` says.
 *
 * @throws allowance_exceeded — the account has been told of too many numbers today
 * @throws user_not_found — the number is not registered with the app
 * @throws user_opted_out — the user has stopped the account
 * @throws idempotency_key_reused — the key belongs to another request
 */
export const startRequest = (
  account: string,
  phone: string,
  body: UserDataRequestBody,
  idempotencyKey: string | undefined,
): Promise<Started> =>
  acceptOnce<Started>(
    { account, endpoint: 'startUserDataRequest', idempotencyKey, request: { phone, ...body }, what: 'request' },
    (recordWrites) => start(account, phone, body, recordWrites),
  );

/** The id of a request that was started, and whether it needed no approval. */
interface Started {
  id: string;
  status: RequestStatus;
}

const start = async (
  account: string,
  phone: string,
  { reason, data, valid_days, reference: given }: UserDataRequestBody,
  recordWrites: RecordWrites<Started>,
): Promise<Started> => {
  let created = timestamp();
  await requireContacts(account, 1);
  const [user, { name: business, platform } = {}, isStopped] = await Promise.all([
    latestProfile(phone),
    findAccount(account),
    hasOptedOut(account, phone),
  ]);
  if (user === undefined) throw await userNotFound(account);
  if (isStopped) throw userOptedOut();
  const { profile, since } = user;
  // Clocks differ. A request that is older than the user's registration would count as one to the number's previous
  // owner.
  if (since > created) created = since;
  const reference: RequestReference = { id: newId(), account, phone, ...withReference({ reference: given }) };
  const end = validUntil(valid_days);
  const results = granted(profile, data.map(({ property }) => property).filter(isAutomatic), created, end);
  const isComplete = data.every(({ property }) => isAutomatic(property));
  const answer = { id: reference.id, status: isComplete ? 'completed' : 'pending' } as const;
  const { id, ...rest } = reference;
  const item: RequestItem = {
    ...requestKey(id),
    ...rest,
    business: business ?? account,
    reason,
    properties: data,
    results,
    ...(valid_days !== undefined && { valid_days }),
    created,
    ...(isComplete && { completed: created }),
    version: 0,
    expires_at: secondsFromNow(requestRetention() * 86_400),
    ...ofPerson(phone, created),
    ...inRequests(account, { ...answer, created }),
  };
  const released = releasedIn(results);
  const asked = data.filter(({ property }) => !isAutomatic(property));
  const outgoing: OutboxEvent = {
    type: 'user_data.request',
    request: reference,
    business: item.business,
    reason,
    properties: asked,
    ...(valid_days !== undefined && { valid_days }),
  };
  const failed = await transactInOrder((after) => [
    putIfAbsentWrite(item),
    // Values of a removed user are not released, even if the number has a new owner.
    ...(released.length > 0
      ? [registeredSinceWrite(phone, created), ...releaseWrites(newConsent(id, item), released, created, end)]
      : []),
    ...(isComplete
      ? completing(reference, platform, created, after)
      : enqueueWrites(conversation('app', reference), outgoing, after)),
    ...recordWrites(answer, item.expires_at),
  ]);
  // The check of the user is after the request, and before everything else.
  if (released.length > 0 && failed.includes(1)) throw await userNotFound(account);
  if (failed.length > 0) throw notAccepted();
  if (!isComplete) measure('info', 'accepted', { ...logFields(outgoing), accepted: 1 });
  return answer;
};

/**
 * A request, by a consistent read: after a notification, the caller reads it only once. 1 read unit. After the request has
 * expired, only the properties whose consent has ended are known, for another read unit.
 *
 * @throws request_not_found — unknown, expired, or another account's
 */
export const fetchRequest = async (account: string, id: string): Promise<UserData> => {
  if (!v.is(uuid, id)) throw requestNotFound();
  const item = await getConsistent<RequestItem>(requestKey(id));
  if (item !== undefined) return seenBy(account, item);
  // Of a user who was removed, nothing is shown.
  const consents = (await readConsents(id)).consents.filter(
    (one) => one.account === account && !isPseudonym(one.phone),
  );
  const results = endedResults(consents);
  if (Object.keys(results).length === 0) throw requestNotFound();
  return { status: 'completed', ...withReference(consents[0]), results };
};

/**
 * A request, by an eventually consistent read that may miss the latest answer: for callers that read again. 0.5 read
 * units.
 *
 * @throws request_not_found — expired or removed in the meantime
 */
export const fetchAgain = async (account: string, id: string): Promise<UserData> =>
  seenBy(account, await get<RequestItem>(requestKey(id)));

const seenBy = (account: string, item: RequestItem | undefined): UserData => {
  if (item?.account !== account) throw requestNotFound();
  const status = statusOf(item);
  return { status, ...withReference(item), results: status === 'completed' ? presentResults(item.results) : {} };
};

export const requestNotFound = (): Problem =>
  new Problem(
    'request_not_found',
    'Your account has no such request. Start one with POST /v1/user_data/start/{phone_number}.',
  );

/**
 * One-shot retrieval of properties that need no approval. 3 read units, and 1 write unit: for the receipt, or for a
 * number that is not registered, by which the allowance is charged.
 *
 * @throws allowance_exceeded — the account has been told of too many numbers today
 * @throws approval_required — a property needs the user's approval; no value is released
 * @throws user_not_found — the number is not registered with the app
 * @throws user_opted_out — the user has stopped the account; no value is released
 */
export const retrieve = async (account: string, phone: string, properties: PropertyName[]): Promise<UserData> => {
  const asked = properties.filter((property) => !isAutomatic(property));
  if (asked.length > 0) {
    throw new Problem(
      'approval_required',
      `The user must approve ${asked.join(', ')}. Ask with POST /v1/user_data/start/{phone_number}.`,
    );
  }
  await requireContacts(account, 1);
  const [user, isStopped] = await Promise.all([latestProfile(phone), hasOptedOut(account, phone)]);
  if (user === undefined) throw await userNotFound(account);
  if (isStopped) throw userOptedOut();
  const created = timestamp();
  const results = granted(user.profile, properties, created);
  const released = releasedIn(results);
  if (released.length > 0) {
    await recordConsentReceipt(phone, grantOf({ id: newId(), account, phone }, undefined, released, created));
  }
  return { status: 'completed', results };
};

/**
 * The phone numbers of the users of these requests, by request id; the pseudonyms of removed users. 0.5 read units for each;
 * 2.5 for a request that has expired, or is unknown.
 */
export const usersAsked = async (ids: string[]): Promise<Map<string, string>> => {
  const items = await getManyEventual<RequestItem[]>(ids.map(requestKey));
  const missed = ids.filter((_, index) => items[index] === undefined);
  const late = await getManyConsistent<RequestItem[]>(missed.map(requestKey));
  const found = [
    ...ids.map((id, index) => [id, items[index]] as const),
    ...missed.map((id, index) => [id, late[index]] as const),
  ];
  const users = new Map(found.flatMap(([id, item]) => (item ? [[id, item.phone] as const] : [])));
  for (const id of missed.filter((one) => !users.has(one))) {
    const [consent] = (await readConsents(id)).consents;
    if (consent !== undefined) users.set(id, consent.phone);
  }
  return users;
};

/** The writes that notify an account's platform of a completed request. */
export const completing = (
  request: RequestReference,
  platform: string | undefined,
  completed: string,
  after: After,
): Write[] =>
  isNotified(platform, 'completed')
    ? enqueueWrites(conversation('platform', request), { type: 'user_data.completed', request, completed }, after)
    : [];

const conversation = (
  direction: Conversation['direction'],
  { account, phone }: Omit<RequestReference, 'id'>,
): Conversation => ({ direction, account, phone });

/**
 * The problem that a number is not registered, after the account is charged for knowing it.
 *
 * @throws allowance_exceeded
 */
const userNotFound = async (account: string): Promise<Problem> => {
  await chargeUnknown(account, 1);
  return new Problem('user_not_found', 'This number is not registered with the app.');
};

export const userOptedOut = (): Problem =>
  new Problem('user_opted_out', 'This user has stopped your account. Only the user can start it again, in the app.');
