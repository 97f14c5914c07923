/**
 * User data requests (spec §2, §3, §4.8–4.10): a business asks a user for properties of the profile; what is granted is
 * copied at that moment, and never changes after. Some properties are granted without asking.
 */
import * as v from 'valibot';
import { findAccount } from '../accounts/accounts.ts';
import { secondsFromNow, timestamp } from '../core/clock.ts';
import { hashOf, idempotencyKeyReused } from '../core/idempotency.ts';
import { idFromKey, newId } from '../core/ids.ts';
import { Problem } from '../core/problems.ts';
import { requestRetention } from '../core/settings.ts';
import { type Asked, type Conversation, namesOf, type Outgoing, type RequestReference } from '../messaging/events.ts';
import { enqueueWrites, transactInOrder } from '../messaging/outbox.ts';
import { get, getConsistent, getManyConsistent, getManyEventual } from '../table/client.ts';
import { type Key, ofPerson, requestKey } from '../table/keys.ts';
import { putIfAbsentWrite, updateWrite, type Write } from '../table/transactions.ts';
import { measure } from '../telemetry/metrics.ts';
import { isAutomatic, type PropertyName } from '../users/profile-properties.ts';
import { latestProfile, type Profile, registeredSinceWrite } from '../users/users.ts';
import { uuid } from '../validation/schemas.ts';
import { type ConsentReceipt, consentReceiptWrite, recordConsentReceipt } from './consent-receipts.ts';

/** What became of one property (spec §2). */
type Result =
  | { status: 'approved'; source: string; value: string; timestamp: string }
  | { status: 'denied' }
  /** Granted, but the profile says nothing. */
  | { status: 'unavailable' };

type Results = Partial<Record<PropertyName, Result>>;

/** A request as its business sees it: results are there once all of them are. */
export interface UserData {
  status: 'pending' | 'completed';
  results: Results;
}

/** A request in the table. */
export interface RequestItem extends Key, Omit<RequestReference, 'id'> {
  business: string;
  reason: string;
  properties: Asked[];
  results: Results;
  created: string;
  /** When the last property was answered. */
  completed?: string;
  /** Counts changes. */
  version: number;
  /** SHA-256 of what made it, where it came with an idempotency key. */
  request?: string;
  expires_at: number;
  gsi2pk: string;
  gsi2sk: string;
}

/** What a business asks for. */
export interface Asking {
  reason: string;
  data: Asked[];
}

/**
 * Asks a user for properties: those that are granted without asking at once, the others through the app.
 * 2 read units. 6 write units in one transaction, where something is asked; 2 for a receipt and 2 for a check where
 * something is granted at once.
 *
 * @throws user_not_found — not a user of the app
 * @throws idempotency_key_reused — the key belongs to another request
 */
export const startRequest = async (
  account: string,
  phone: string,
  { reason, data }: Asking,
  idempotencyKey: string | undefined,
): Promise<{ id: string; status: UserData['status'] }> => {
  let created = timestamp();
  const [user, { name: business, platform } = {}] = await Promise.all([latestProfile(phone), findAccount(account)]);
  if (user === undefined) throw userNotFound();
  const { profile, since } = user;
  // Clocks differ: a request is never older than the user whom it asks, or it would count as one to who was there before.
  if (since > created) created = since;
  const reference: RequestReference = {
    id: idempotencyKey === undefined ? newId() : idFromKey(account, 'startUserDataRequest', idempotencyKey),
    account,
    phone,
  };
  const results = granted(profile, data.map(({ property }) => property).filter(isAutomatic), created);
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
    created,
    ...(isComplete && { completed: created }),
    version: 0,
    ...(idempotencyKey !== undefined && { request: hashOf([phone, reason, data]) }),
    expires_at: secondsFromNow(requestRetention() * 86_400),
    ...ofPerson(phone, created),
  };
  const released = releasedIn(results);
  const asked = data.filter(({ property }) => !isAutomatic(property));
  const outgoing: Outgoing = {
    type: 'user_data.request',
    request: reference,
    business: item.business,
    reason,
    properties: asked,
  };
  const failed = await transactInOrder((after) => [
    putIfAbsentWrite(item),
    // No value of a removed user is released, also if the number has a new owner.
    ...(released.length > 0
      ? [
          registeredSinceWrite(phone, created),
          consentReceiptWrite(phone, grantOf(reference, reason, released, created)),
        ]
      : []),
    ...(isComplete
      ? completing(reference, platform, created, after)
      : enqueueWrites(conversation('app', reference), outgoing, after)),
  ]);
  if (failed.includes(0)) {
    // A repeat, which is answered as the first was.
    const first = await getConsistent<RequestItem>(requestKey(id));
    // The first request has expired since then, or its user was erased.
    if (first === undefined) return startRequest(account, phone, { reason, data }, idempotencyKey);
    if (first.request !== item.request) throw idempotencyKeyReused('request');
  } else if (failed.length > 0) throw userNotFound();
  else if (!isComplete) measure('info', 'accepted', { ...namesOf(outgoing), accepted: 1 });
  return answer;
};

/**
 * The present state of a request: after a notification, the caller reads it only once. 1 read unit.
 *
 * @throws request_not_found — there is none, or it has expired, or it is another account's
 */
export const fetchRequest = async (account: string, id: string): Promise<UserData> =>
  seenBy(account, v.is(uuid, id) ? await getConsistent<RequestItem>(requestKey(id)) : undefined);

/**
 * The same for a caller who looks again later: what has just become of it may be missed. 0.5 read units.
 *
 * @throws request_not_found — it is gone by now
 */
export const fetchAgain = async (account: string, id: string): Promise<UserData> =>
  seenBy(account, await get<RequestItem>(requestKey(id)));

const seenBy = (account: string, item: RequestItem | undefined): UserData => {
  if (item?.account !== account) {
    throw new Problem(
      'request_not_found',
      'Your account has no such request. Start one with POST /v1/user_data/start/{phone_number}.',
    );
  }
  const status = statusOf(item);
  return { status, results: status === 'completed' ? item.results : {} };
};

/**
 * Retrieves properties that are granted without asking, in one call (spec §4.10). 1 read unit, and 1 write unit for the
 * receipt.
 *
 * @throws approval_required — one of them needs the user's approval; nothing is revealed then
 * @throws user_not_found — not a user of the app
 */
export const retrieve = async (account: string, phone: string, properties: PropertyName[]): Promise<UserData> => {
  const asked = properties.filter((property) => !isAutomatic(property));
  if (asked.length > 0) {
    throw new Problem(
      'approval_required',
      `The user must approve ${asked.join(', ')}. Ask with POST /v1/user_data/start/{phone_number}.`,
    );
  }
  const user = await latestProfile(phone);
  if (user === undefined) throw userNotFound();
  const created = timestamp();
  const results = granted(user.profile, properties, created);
  const released = releasedIn(results);
  if (released.length > 0) {
    await recordConsentReceipt(phone, grantOf({ id: newId(), account, phone }, undefined, released, created));
  }
  return { status: 'completed', results };
};

/** The numbers of the users whom these requests ask, by the requests' ids. 0.5 read units each, 1.5 for one that is unknown. */
export const usersAsked = async (ids: string[]): Promise<Map<string, string>> => {
  const items = await getManyEventual<RequestItem[]>(ids.map(requestKey));
  const missed = ids.filter((_, place) => items[place] === undefined);
  const late = await getManyConsistent<RequestItem[]>(missed.map(requestKey));
  const found = [
    ...ids.map((id, place) => [id, items[place]] as const),
    ...missed.map((id, place) => [id, late[place]] as const),
  ];
  return new Map(found.flatMap(([id, item]) => (item ? [[id, item.phone]] : [])));
};

/** Why a user's answer is rejected: the request is unknown, or did not ask for these properties. */
export type RejectedAnswer = { unknown: true } | { notAsked: string[] };

/**
 * Takes a user's answer to a request, whole or in part: what is approved is copied from the profile. The first answer to a
 * property stands. The last one completes the request, and its business's plain webhook is notified. 2 read units, and
 * 1 for the account at the end; 2 write units for the request, 2 for a check, 2 for a receipt, 4 if a webhook is notified.
 *
 * @returns nothing, where it is taken, or was before
 */
export const answerRequest = async (
  id: string,
  answers: Partial<Record<string, 'approved' | 'denied'>>,
): Promise<RejectedAnswer | undefined> => {
  for (;;) {
    const item = await getConsistent<RequestItem>(requestKey(id));
    if (item === undefined) return { unknown: true };
    const asked = item.properties.map(({ property }) => property);
    const notAsked = Object.keys(answers).filter((name) => !asked.some((property) => property === name));
    if (notAsked.length > 0) return { notAsked };
    // Stryker disable next-line ConditionalExpression: Only the number of calls differs; the capacity tests count them.
    const open = asked.filter((property) => answers[property] !== undefined && item.results[property] === undefined);
    if (open.length === 0) return undefined;

    // Stryker disable next-line StringLiteral: The replacement matches nothing either, or is rejected too.
    const { profile, since = '' } = (await latestProfile(item.phone)) ?? {};
    // The one who was asked is gone; the request will be in a moment too.
    if (profile === undefined || since > item.created) return { unknown: true };
    const created = timestamp();
    const approved = granted(
      profile,
      open.filter((property) => answers[property] === 'approved'),
      created,
    );
    const denied = open.filter((property) => answers[property] === 'denied');
    const results = { ...approved, ...Object.fromEntries(denied.map((property) => [property, { status: 'denied' }])) };
    const writesAfter = await answering({ id, item, results, released: releasedIn(approved), created });
    const failed = await transactInOrder(writesAfter);
    // Stryker disable next-line ConditionalExpression: Only the number of calls differs; the capacity tests count them.
    if (failed.length === 0) return undefined;
    // Somebody else has changed the request, or removed the user: look again.
  }
};

interface Answering {
  id: string;
  item: RequestItem;
  results: Results;
  released: PropertyName[];
  created: string;
}

/** The writes by which a request gets these results, as `transactInOrder` takes them. */
const answering = async ({
  id,
  item,
  results,
  released,
  created,
}: Answering): Promise<(after: string | undefined) => Write[]> => {
  const { account, phone, reason, version } = item;
  const reference: RequestReference = { id, account, phone };
  const all = { ...item.results, ...results };
  const isComplete = item.properties.every(({ property }) => property in all);
  const platform = isComplete ? (await findAccount(account))?.platform : undefined;
  return (after) => [
    updateWrite({
      Key: requestKey(id),
      UpdateExpression: `SET results = :results, version = :next${isComplete ? ', completed = :now' : ''}`,
      ConditionExpression: 'version = :version AND expires_at > :present',
      ExpressionAttributeValues: {
        ':results': all,
        ':version': version,
        ':next': version + 1,
        ':present': secondsFromNow(0),
        ...(isComplete && { ':now': created }),
      },
    }),
    registeredSinceWrite(phone, item.created),
    ...(released.length > 0 ? [consentReceiptWrite(phone, grantOf(reference, reason, released, created))] : []),
    ...(isComplete ? completing(reference, platform, created, after) : []),
  ];
};

/** The writes that notify a plain webhook of a completed request. Chat platforms make no such requests. */
const completing = (
  request: RequestReference,
  platform: string | undefined,
  completed: string,
  after: string | undefined,
): Write[] =>
  platform === 'webhook'
    ? enqueueWrites(conversation('platform', request), { type: 'user_data.completed', request, completed }, after)
    : [];

const conversation = (
  direction: Conversation['direction'],
  { account, phone }: Omit<RequestReference, 'id'>,
): Conversation => ({ direction, account, phone });

const statusOf = ({ completed }: RequestItem): UserData['status'] =>
  completed === undefined ? 'pending' : 'completed';

/** What is granted of a profile, copied. */
const granted = (profile: Profile, properties: PropertyName[], timestamp: string): Results =>
  Object.fromEntries(
    properties.map((property): [PropertyName, Result] => {
      const known = profile[property];
      return [
        property,
        known ? { status: 'approved', source: known.source, value: known.value, timestamp } : { status: 'unavailable' },
      ];
    }),
  );

/** The properties of which there is something in the results. */
const releasedIn = (results: Results): PropertyName[] =>
  (Object.keys(results) as PropertyName[]).filter((property) => results[property]?.status === 'approved');

const grantOf = (
  { id, account }: RequestReference,
  reason: string | undefined,
  properties: PropertyName[],
  created: string,
): ConsentReceipt => ({ account, request: id, properties, ...(reason !== undefined && { reason }), created });

const userNotFound = (): Problem => new Problem('user_not_found', 'This number is not registered with the app.');
