/**
 * Erasure of users. The profile is removed first, so that no more values are released. Pending entries, answers and
 * requests follow. In logs and receipts, a pseudonym replaces the number. An erasure that was interrupted can be
 * repeated.
 */

import { dropRecipient } from '../campaigns/erasure.ts';
import { now, sortableTime } from '../core/clock.ts';
import { newPseudonym } from '../core/ids.ts';
import { removeAttempts } from '../delivery-history/erasure.ts';
import { directions } from '../messaging/events.ts';
import { removeAnswer } from '../profilers/results.ts';
import { getConsistent, pages, remove, removeAll, update } from '../table/client.ts';
import {
  accountAt,
  accountOfOptOut,
  dataOfPerson,
  dueErasure,
  erasureKey,
  erasurePartition,
  isAnswerKey,
  isMessageKey,
  isOptOutKey,
  isRequestKey,
  type Key,
  logsOfContact,
  phoneOfErasure,
  positionOfAccount,
  requestIdOf,
} from '../table/keys.ts';
import { consentReceiptKey, isConsentKey } from '../table/people-keys.ts';
import { deleteWrite, transact, updateWrite, type Write } from '../table/transactions.ts';
import { eventReceiptWrite } from '../users/event-receipts.ts';
import { removalWrites } from '../users/user-removal.ts';
import { endWithUser } from './consent-ends.ts';
import { type ConsentReceipt, consentReceiptWrite, listConsentReceipts } from './consent-receipts.ts';
import { type ErasedIdentity, type ErasureItem, erasedIdentityOf, lastLookAt } from './erased-identity.ts';
import { dropPending, reportStopped } from './erasure-outbox.ts';

/** Numbers of items that a run of an erasure removed or changed. */
export interface Erased {
  answers: number;
  requests: number;
  /** Pending entries that were dropped: messages, requests and reports. */
  waiting: number;
  log_entries: number;
  receipts: number;
  opt_outs: number;
  /** Attempts in the delivery histories of webhooks. */
  deliveries: number;
  /** Consents that ended with the user; they keep the pseudonym until the businesses have deleted their copies. */
  consents: number;
}

/**
 * The write that requests a user's erasure: the worker `erase` runs within a minute. 2 write units in a transaction.
 */
const erasureWrite = (phone: string): Write =>
  updateWrite({
    Key: erasureKey(phone),
    UpdateExpression:
      'SET pseudonym = if_not_exists(pseudonym, :pseudonym), requested = :now, gsi1pk = :due, gsi1sk = :now',
    ExpressionAttributeValues: { ':pseudonym': newPseudonym(), ':now': sortableTime(now()), ':due': erasurePartition },
  });

/**
 * Removes a user after a report of the app network. The profile goes at once; the worker `erase` erases the other data
 * within a minute. For seven days, a repeat of the event changes nothing, also if the number was registered again. 10
 * write units in one transaction, 12 if the app network sent an id of the user; 1 read unit, or 2.
 *
 * @param at - the time of the removal, as `timestamp` writes it. Newer data stays. If the same or a later removal is
 * recorded, nothing changes. Costs 1 more read unit. Default: all data is removed.
 */
export const removeUser = (event: string, phone: string, at?: string): Promise<void> =>
  removeProfile(phone, at, [eventReceiptWrite(event)]);

/** As `removeUser`, for a number that its user has left for another one. */
export const removeFormerNumber = (phone: string, at: string | undefined): Promise<void> =>
  removeProfile(phone, at, []);

/** Erases a user at once. A last run of the worker, a little later, finds data of requests that were in progress. */
export const eraseUser = async (phone: string): Promise<Erased> => {
  await removeProfile(phone, undefined, []);
  return resumeErasure(phone);
};

const removeProfile = async (phone: string, at: string | undefined, receipt: Write[]): Promise<void> => {
  for (;;) {
    const removal = await removalWrites(phone, at);
    if (removal === undefined) return;
    const failed = await transact([...receipt, ...removal, erasureWrite(phone)]);
    if (failed.length === 0 || (receipt.length > 0 && failed.includes(0))) return;
    // The user was changed in the meantime: read again.
  }
};

/** Runs an erasure: erases the data that is found, and then schedules the last run, or ends the erasure after it. */
export const resumeErasure = async (phone: string): Promise<Erased> => {
  const erasure = await getConsistent<ErasureItem>(erasureKey(phone));
  const found: Erased = {
    ...{ answers: 0, requests: 0, waiting: 0, log_entries: 0 },
    ...{ receipts: 0, opt_outs: 0, deliveries: 0, consents: 0 },
  };
  if (erasure === undefined) return found;
  const { requested } = erasure;
  const last = lastLookAt(erasure);
  const isLast = now() >= last;
  const whom = await erasedIdentityOf(phone, erasure);

  const { known, others } = await accountsAbout(phone);
  const accounts = await Promise.all(
    [...known, ...others].map(async (id) => ({ id, next: await messagesOfNext(id, whom) })),
  );
  const delivered = new Set([...accounts.map(({ id }) => id), ...(erasure.accounts ?? [])]);
  if (delivered.size > (erasure.accounts?.length ?? 0)) await rememberAccounts(phone, requested, [...delivered]);
  // Before the pending entries: an event that is sent again until then is one of them.
  for (const account of delivered) found.deliveries += await removeAttempts(account, phone, whom.until);
  found.waiting += await dropRecipient(whom);
  // Before the log entries are renamed: a dropped message adds a log entry.
  for (const { id: account } of accounts) {
    for (const direction of directions) {
      found.waiting += await dropPending({ direction, account, phone }, whom);
    }
  }
  // After the user's entries are dropped. Before the log is renamed, because accounts are found by the log.
  for (const account of known) await reportStopped({ account, phone }, whom);
  found.consents += await endConsents(whom);
  await removeOfPerson(whom, found);
  for (const { id, next } of accounts) found.log_entries += await renameInLog(id, whom, next);
  found.receipts = await renameInReceipts(whom);

  if (isLast)
    await remove(erasureKey(phone), {
      ConditionExpression: 'requested = :requested',
      ExpressionAttributeValues: { ':requested': requested },
    });
  else await postponeErasure(phone, requested, last);
  return found;
};

/** Phone numbers of users whose erasure is due. */
export async function* dueErasures(): AsyncGenerator<string[]> {
  for await (const items of pages<Key>(dueErasure(sortableTime(now())))) yield items.map(phoneOfErasure);
}

/** Remembers the accounts for later runs, which do not find them by the log any more, also after a crash of this run. */
const rememberAccounts = async (phone: string, requested: string, accounts: string[]): Promise<void> => {
  await update({
    Key: erasureKey(phone),
    UpdateExpression: 'SET accounts = :accounts',
    ConditionExpression: 'requested = :requested',
    ExpressionAttributeValues: { ':accounts': accounts, ':requested': requested },
  });
};

/** Postpones an erasure to its last run. */
const postponeErasure = async (phone: string, requested: string, until: number): Promise<void> => {
  await update({
    Key: erasureKey(phone),
    UpdateExpression: 'SET gsi1sk = :until',
    ConditionExpression: 'requested = :requested',
    ExpressionAttributeValues: { ':until': sortableTime(until), ':requested': requested },
  });
};

/**
 * Accounts with data of a user: each pending entry belongs to a message, which is in the log, to a request, to its
 * consent, or to an opt-out.
 */
const accountsAbout = async (phone: string): Promise<{ known: Set<string>; others: Set<string> }> => {
  const known = new Set<string>();
  const others = new Set<string>();
  for await (const items of pages<{ gsi2sk: string }>({
    IndexName: 'gsi2',
    KeyConditionExpression: 'gsi2pk = :contact',
    ExpressionAttributeValues: { ':contact': logsOfContact(phone) },
    ProjectionExpression: 'gsi2sk',
  })) {
    for (const { gsi2sk } of items) known.add(accountAt(gsi2sk));
  }
  for await (const keys of pages<Key>({
    IndexName: 'gsi2',
    KeyConditionExpression: 'gsi2pk = :person',
    ExpressionAttributeValues: { ':person': dataOfPerson(phone) },
    ProjectionExpression: 'pk, sk',
  })) {
    for (const key of keys.filter(isOptOutKey)) known.add(accountOfOptOut(key));
    for (const { pk, sk } of keys.filter((key) => isRequestKey(key) || isConsentKey(key))) {
      const item = await getConsistent<{ account: string }>({ pk, sk });
      if (item && !known.has(item.account)) others.add(item.account);
    }
  }
  return { known, others };
};

/** The partitions of an account's messages that belong to the number's next owner: they were created after `until`. */
const messagesOfNext = async (account: string, { phone, until, end }: ErasedIdentity): Promise<Set<string>> => {
  const found = new Set<string>();
  if (until === end) return found;
  for await (const keys of pages<Key>({
    IndexName: 'gsi2',
    KeyConditionExpression: 'gsi2pk = :contact AND gsi2sk BETWEEN :until AND :end',
    ExpressionAttributeValues: {
      ':contact': logsOfContact(phone),
      ':until': `${positionOfAccount(account)}${until}~`,
      ':end': `${positionOfAccount(account)}${end}~`,
    },
    ProjectionExpression: 'pk, sk',
  })) {
    for (const key of keys.filter(isMessageKey)) found.add(key.pk);
  }
  return found;
};

/** Ends the consents of a user, and replaces the number in them by the pseudonym. Returns their number. */
const endConsents = async ({ phone, pseudonym, until }: ErasedIdentity): Promise<number> => {
  const ids = new Set<string>();
  for await (const keys of pages<Key>({
    IndexName: 'gsi2',
    KeyConditionExpression: 'gsi2pk = :person AND gsi2sk <= :until',
    ExpressionAttributeValues: { ':person': dataOfPerson(phone), ':until': until },
    ProjectionExpression: 'pk, sk',
  })) {
    for (const key of keys.filter((one) => isRequestKey(one) || isConsentKey(one))) ids.add(requestIdOf(key));
  }
  let ended = 0;
  for (const id of ids) ended += await endWithUser(id, phone, pseudonym);
  return ended;
};

/** Removes answers, opt-outs, and requests with their values, and adds their numbers to `found`. */
const removeOfPerson = async ({ phone, until }: ErasedIdentity, found: Erased): Promise<void> => {
  const gsi2pk = dataOfPerson(phone);
  for await (const keys of pages<Key>({
    IndexName: 'gsi2',
    KeyConditionExpression: 'gsi2pk = :person AND gsi2sk <= :until',
    ExpressionAttributeValues: { ':person': gsi2pk, ':until': until },
    ProjectionExpression: 'pk, sk',
  })) {
    // With their part of the results.
    for (const key of keys.filter(isAnswerKey)) found.answers += (await removeAnswer(key)) ? 1 : 0;
    await removeAll(keys.filter((key) => !isAnswerKey(key) && !isConsentKey(key)));
    found.requests += keys.filter(isRequestKey).length;
    found.opt_outs += keys.filter(isOptOutKey).length;
  }
};

/**
 * Replaces the number by the pseudonym in an account's log entries, except those of the next owner's messages. Later
 * states of the changed messages are not reported.
 */
const renameInLog = async (
  account: string,
  { phone, pseudonym, end }: ErasedIdentity,
  next: Set<string>,
): Promise<number> => {
  let renamed = 0;
  for await (const keys of pages<Key>({
    IndexName: 'gsi2',
    KeyConditionExpression: 'gsi2pk = :contact AND gsi2sk BETWEEN :account AND :end',
    ExpressionAttributeValues: {
      ':contact': logsOfContact(phone),
      ':account': positionOfAccount(account),
      ':end': `${positionOfAccount(account)}${end}~`,
    },
    ProjectionExpression: 'pk, sk',
  })) {
    for (const { pk, sk } of keys.filter(({ pk }) => !next.has(pk))) {
      // A transaction, because the entry may be counted at the same time.
      const failed = await transact([
        updateWrite({
          Key: { pk, sk },
          UpdateExpression: 'SET phone = :pseudonym, gsi2pk = :contact REMOVE reason, reported',
          ConditionExpression: 'phone = :phone',
          ExpressionAttributeValues: {
            ':phone': phone,
            ':pseudonym': pseudonym,
            ':contact': logsOfContact(pseudonym),
          },
        }),
      ]);
      renamed += failed.length === 0 ? 1 : 0;
    }
  }
  return renamed;
};

/** Replaces the number by the pseudonym in consent receipts. Returns their number. */
const renameInReceipts = async ({ phone, pseudonym, until }: ErasedIdentity): Promise<number> => {
  const theirs = (await listConsentReceipts(phone)).filter(({ created }: ConsentReceipt) => created <= until);
  for (const grant of theirs)
    await transact([consentReceiptWrite(pseudonym, grant), deleteWrite(consentReceiptKey(phone, grant))]);
  return theirs.length;
};
