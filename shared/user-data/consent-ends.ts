/**
 * The end of consents. One transaction removes the values that the service has copied, ends the consent with a receipt, and
 * notifies the business, which owes the deletion of its copy until it acknowledges it.
 */
import { isPast, timestamp } from '../core/clock.ts';
import { Problem } from '../core/problems.ts';
import { type After, enqueueWrites, transactInOrder } from '../outbox/entries.ts';
import { type ConsentEnd, type OutboxEvent, withReference } from '../outbox/event.ts';
import { hasExpired } from '../table/client.ts';
import { deletionWrite } from '../table/deletion-markers.ts';
import type { Key } from '../table/keys.ts';
import { transact, updateWrite, type Write } from '../table/transactions.ts';
import type { PropertyName } from '../users/profile-properties.ts';
import { type ConsentEvent, consentReceiptWrite } from './consent-receipts.ts';
import {
  activeIn,
  type Consent,
  consentWrite,
  owedIn,
  readConsents,
  type WithConsents,
  withChanged,
} from './consents.ts';
import { requestIdOf, requestKey } from './entities.ts';
import { answerRequest, type RejectedAnswer } from './request-answers.ts';
import { requestNotFound } from './requests.ts';
import { grantOf, type RequestItem } from './stored-request.ts';

/**
 * Withdraws a user's consent to properties of a request. One that the user has not answered yet is denied. A repeat
 * changes nothing. 1 read unit; for each consent 12 write units in one transaction, 2 less after the request has expired.
 *
 * @returns undefined if the consent has ended, now or before
 */
export const withdrawConsent = async (
  id: string,
  properties: readonly PropertyName[],
): Promise<RejectedAnswer | undefined> => {
  for (;;) {
    const found = await readConsents(id);
    const { request, consents } = found;
    if (request === undefined && consents.length === 0) return { unknown: true };
    const asked = new Set([
      ...(request?.properties ?? []).map(({ property }) => property),
      ...consents.flatMap((consent) => Object.keys(consent.properties)),
    ]);
    const notAsked = properties.filter((property) => !asked.has(property));
    if (notAsked.length > 0) return { notAsked };
    const open = openAmong(properties, request);
    if (open.length > 0) {
      const rejected = await answerRequest(id, Object.fromEntries(open.map((property) => [property, 'denied'])));
      if (rejected !== undefined) return rejected;
      continue;
    }
    const isWithdrawn = (name: PropertyName): boolean => properties.includes(name);
    if (await endAll(found, isWithdrawn, 'withdrawn')) return undefined;
    // The request or a consent was changed in the meantime: read again.
  }
};

/** The properties that a request asks for, and that the user has not answered. */
const openAmong = (properties: readonly PropertyName[], request: RequestItem | undefined): PropertyName[] =>
  request === undefined || hasExpired(request)
    ? []
    : request.properties
        .map(({ property }) => property)
        .filter((property) => properties.includes(property) && request.results[property] === undefined);

/** Ends the expired properties of a consent, by its key. 1 read unit; 10 write units in one transaction. */
export const endExpired = async (consent: Key): Promise<void> => {
  const id = requestIdOf(consent);
  while (!(await endExpiredIn(await readConsents(id)))) {
    // The request or a consent was changed in the meantime: read again.
  }
};

const endExpiredIn = (found: WithConsents): Promise<boolean> =>
  endAll(found, (name, { properties }) => isPast(properties[name]?.valid_until), 'expired');

/** Ends properties of a request's consents. Returns whether that is done; else an item was changed. */
const endAll = async (
  { request, consents }: WithConsents,
  isEnded: (name: PropertyName, consent: Consent) => boolean,
  status: ConsentEnd,
): Promise<boolean> => {
  for (const consent of consents) {
    const names = activeIn(consent).filter((name) => isEnded(name, consent));
    if (names.length === 0) continue;
    const end: End = { names, status, ended: timestamp() };
    const own = request?.created === consent.created ? request : undefined;
    const failed = await transactInOrder((after) => [
      ...endWrites(consent, end),
      ...(own === undefined ? [] : [removeValuesWrite(consent.id, own, end)]),
      // A restore of the table does not bring the values back.
      ...(status === 'withdrawn' ? [deletionWrite('consent', consent.id)] : []),
      ...notifyWrites(consent, end, after),
    ]);
    if (failed.length > 0) return false;
  }
  return true;
};

interface End {
  names: PropertyName[];
  status: ConsentEnd;
  ended: string;
}

/** The writes that end properties of a consent: the consent, and a receipt. */
const endWrites = (consent: Consent, { names, status, ended }: End): Write[] => [
  consentWrite(withChanged(consent, names, { ended, status })),
  ...(names.length > 0 ? [receiptWrite(consent, names, { created: ended, event: status })] : []),
];

const receiptWrite = (
  { id, account, phone, reason }: Consent,
  names: PropertyName[],
  { created, event }: { created: string; event: ConsentEvent },
): Write => consentReceiptWrite(phone, { ...grantOf({ id, account, phone }, reason, names, created), event });

/** The writes that notify the business that properties have ended, and that it owes their deletion. */
const notifyWrites = (
  { id, account, phone, reference }: Consent,
  { names, status, ended }: End,
  after: After,
): Write[] => {
  const outgoing: OutboxEvent = {
    type: 'user_data.ended',
    request: { id, account, phone, ...withReference({ reference }) },
    status,
    properties: names,
    ended,
  };
  return enqueueWrites({ direction: 'consent', account, phone }, outgoing, after);
};

/** Replaces values in a request's results by the end of their consent, unless the request was changed. */
const removeValuesWrite = (id: string, { results, version }: RequestItem, { names, status, ended }: End): Write =>
  updateWrite({
    Key: requestKey(id),
    UpdateExpression: 'SET results = :results, version = :next',
    ConditionExpression: 'version = :version',
    ExpressionAttributeValues: {
      ':results': { ...results, ...Object.fromEntries(names.map((name) => [name, { status, timestamp: ended }])) },
      ':version': version,
      ':next': version + 1,
    },
  });

/**
 * Ends all consents of a request with its user, under the pseudonym. The business is notified of all properties whose
 * deletion it has not acknowledged: earlier notifications were dropped with the number. 1 read unit; 8 write units.
 *
 * @returns the number of consents that were ended or renamed
 */
export const endWithUser = async (id: string, phone: string, pseudonym: string): Promise<number> => {
  for (let done = 0; ; ) {
    const { consents } = await readConsents(id);
    const [consent] = consents.filter((one) => one.phone === phone);
    if (consent === undefined) return done;
    const { reference: _reference, ...rest } = consent;
    const renamed = { ...rest, phone: pseudonym };
    const end: End = { names: activeIn(consent), status: 'withdrawn', ended: timestamp() };
    const notified = [...end.names, ...owedIn(consent)];
    const failed = await transactInOrder((after) => [
      ...endWrites(renamed, end),
      ...(notified.length > 0 ? notifyWrites(renamed, { ...end, names: notified }, after) : []),
    ]);
    if (failed.length === 0) done += 1;
  }
};

/**
 * Records that a business has deleted its copy of all properties of a request whose consent has ended. A repeat changes
 * nothing. 2 read units; 4 write units in one transaction.
 *
 * @throws request_not_found — unknown, or another account's
 * @throws consent_not_ended — no consent of the request has ended
 */
export const acknowledgeDeletion = async (account: string, id: string): Promise<void> => {
  for (;;) {
    const found = await readConsents(id);
    const consents = found.consents.filter((consent) => consent.account === account);
    if (consents.length === 0 && (found.request?.account !== account || hasExpired(found.request))) {
      throw requestNotFound();
    }
    // Before the worker `erase` does so: the business reads the end from the results.
    if (consents.some(hasExpiredProperty)) {
      await endExpiredIn(found);
      continue;
    }
    if (consents.every((consent) => activeIn(consent).length === Object.keys(consent.properties).length)) {
      throw new Problem('consent_not_ended', 'Nothing is to be deleted: no consent of this request has ended.');
    }
    const [owed] = consents.filter((consent) => owedIn(consent).length > 0);
    if (owed === undefined) return;
    const deleted = timestamp();
    const names = owedIn(owed);
    await transact([
      consentWrite(withChanged(owed, names, { deleted })),
      receiptWrite(owed, names, { created: deleted, event: 'deleted' }),
    ]);
    // If the consent was changed in the meantime, nothing was written: read again.
  }
};

const hasExpiredProperty = (consent: Consent): boolean =>
  activeIn(consent).some((name) => isPast(consent.properties[name]?.valid_until));
