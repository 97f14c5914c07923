/**
 * Erasure: forgets a user. The profile goes first, so that nothing can be granted any more; then what was answered, asked
 * and granted, pending entries, and the number in logs and receipts, which keep a pseudonym instead. It can be repeated,
 * and continues where it ended.
 */

import { now, sortableTime } from '../core/clock.ts';
import { newPseudonym } from '../core/ids.ts';
import { getConsistent, pages, remove, removeAll, update } from '../table/client.ts';
import {
  accountAt,
  consentReceiptKey,
  dataOfPerson,
  dueErasure,
  erasureKey,
  erasurePartition,
  isAnswerKey,
  isMessageKey,
  isRequestKey,
  type Key,
  logsOfContact,
  phoneOfErasure,
  positionOfAccount,
} from '../table/keys.ts';
import { deleteWrite, transact, updateWrite, type Write } from '../table/transactions.ts';
import { applyOnce, eventReceiptWrite } from '../users/event-receipts.ts';
import { removalWrites, removalWritesAt } from '../users/user-removal.ts';
import { type ConsentReceipt, consentReceiptWrite, listConsentReceipts } from './consent-receipts.ts';
import { type ErasedIdentity, type ErasureItem, erasedIdentityOf, lastLookAt } from './erased-identity.ts';
import { dropPending, reportStopped } from './erasure-outbox.ts';

/** What an erasure has found. */
export interface Erased {
  answers: number;
  requests: number;
  /** Entries of outboxes: messages, requests and reports that will not go out. */
  waiting: number;
  log_entries: number;
  receipts: number;
}

/** The write that has a user erased: `erase` does it within a minute. 2 write units in a transaction. */
const erasureWrite = (phone: string): Write =>
  updateWrite({
    Key: erasureKey(phone),
    UpdateExpression:
      'SET pseudonym = if_not_exists(pseudonym, :pseudonym), requested = :now, gsi1pk = :due, gsi1sk = :now',
    ExpressionAttributeValues: { ':pseudonym': newPseudonym(), ':now': sortableTime(now()), ':due': erasurePartition },
  });

/**
 * Removes a user because the app network reports it; `erase` does the rest within a minute. The same event again changes
 * nothing for seven days, whoever registers in between. 8 write units in one transaction.
 *
 * @param at - when the user left, as `timestamp` writes it: what is known of a later time stays, and a removal before one
 * that is known changes nothing. 2 read units more. Without it, all that is known goes.
 */
export const removeUser = async (event: string, phone: string, at?: string): Promise<void> => {
  if (at === undefined) return applyOnce(event, [...removalWrites(phone), erasureWrite(phone)]);
  for (;;) {
    const removal = await removalWritesAt(phone, at);
    if (removal === undefined) return;
    const failed = await transact([eventReceiptWrite(event), ...removal, erasureWrite(phone)]);
    if (failed.length === 0 || failed.includes(0)) return;
    // The user was changed meanwhile.
  }
};

/** Erases a user at once. What is under way meanwhile is found by a last look a little later. */
export const eraseUser = async (phone: string): Promise<Erased> => {
  await transact([...removalWrites(phone), erasureWrite(phone)]);
  return resumeErasure(phone);
};

/** Does what is left of an erasure: everything, or at last nothing. */
export const resumeErasure = async (phone: string): Promise<Erased> => {
  const erasure = await getConsistent<ErasureItem>(erasureKey(phone));
  const found: Erased = { answers: 0, requests: 0, waiting: 0, log_entries: 0, receipts: 0 };
  if (erasure === undefined) return found;
  const { requested } = erasure;
  const last = lastLookAt(erasure);
  const isLast = now() >= last;
  const whom = await erasedIdentityOf(phone, erasure);

  const { inLog, others } = await accountsAbout(phone);
  const accounts = await Promise.all(
    [...inLog, ...others].map(async (id) => ({ id, next: await messagesOfNext(id, whom) })),
  );
  // Before the log: what fails here is logged.
  for (const { id: account } of accounts) {
    for (const direction of ['app', 'platform'] as const) {
      found.waiting += await dropPending({ direction, account, phone }, whom);
    }
  }
  // After what was posted before; and before the log is renamed, which is how the accounts are found.
  for (const account of inLog) await reportStopped({ account, phone }, whom);
  await removeOfPerson(whom, found);
  for (const { id, next } of accounts) found.log_entries += await renameInLog(id, whom, next);
  found.receipts = await renameInReceipts(whom);

  if (isLast)
    await remove(erasureKey(phone), {
      ConditionExpression: 'requested = :requested',
      ExpressionAttributeValues: { ':requested': requested },
    });
  else await putOffErasure(phone, requested, last);
  return found;
};

/** Numbers whose erasure is due. */
export async function* dueErasures(): AsyncGenerator<string[]> {
  for await (const items of pages<Key>(dueErasure(sortableTime(now())))) yield items.map(phoneOfErasure);
}

const putOffErasure = async (phone: string, requested: string, until: number): Promise<void> => {
  await update({
    Key: erasureKey(phone),
    UpdateExpression: 'SET gsi1sk = :until',
    ConditionExpression: 'requested = :requested',
    ExpressionAttributeValues: { ':until': sortableTime(until), ':requested': requested },
  });
};

/** Accounts with data about a user. Each pending entry has a message in the log, or a request. */
const accountsAbout = async (phone: string): Promise<{ inLog: Set<string>; others: Set<string> }> => {
  const inLog = new Set<string>();
  const others = new Set<string>();
  for await (const items of pages<{ gsi2sk: string }>({
    IndexName: 'gsi2',
    KeyConditionExpression: 'gsi2pk = :contact',
    ExpressionAttributeValues: { ':contact': logsOfContact(phone) },
    ProjectionExpression: 'gsi2sk',
  })) {
    for (const { gsi2sk } of items) inLog.add(accountAt(gsi2sk));
  }
  for await (const keys of pages<Key>({
    IndexName: 'gsi2',
    KeyConditionExpression: 'gsi2pk = :person',
    ExpressionAttributeValues: { ':person': dataOfPerson(phone) },
    ProjectionExpression: 'pk, sk',
  })) {
    for (const { pk, sk } of keys.filter(isRequestKey)) {
      const request = await getConsistent<{ account: string }>({ pk, sk });
      if (request && !inLog.has(request.account)) others.add(request.account);
    }
  }
  return { inLog, others };
};
/** An account's messages that are another's, who has the number by now: those that began since. */
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
/** Removes answers and requests, with their values. */
const removeOfPerson = async ({ phone, until }: ErasedIdentity, found: Erased): Promise<void> => {
  const gsi2pk = dataOfPerson(phone);
  for await (const keys of pages<Key>({
    IndexName: 'gsi2',
    KeyConditionExpression: 'gsi2pk = :person AND gsi2sk <= :until',
    ExpressionAttributeValues: { ':person': gsi2pk, ':until': until },
    ProjectionExpression: 'pk, sk',
  })) {
    await removeAll(keys);
    found.answers += keys.filter(isAnswerKey).length;
    found.requests += keys.filter((key) => !isAnswerKey(key)).length;
  }
};

/**
 * Puts the pseudonym in the place of the number, in all log entries of an account about it. Later states
 * of these messages are not reported.
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
      // A transaction, since it bears that the entry is just being counted.
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

/** Replaces the number in receipts by the pseudonym. */
const renameInReceipts = async ({ phone, pseudonym, until }: ErasedIdentity): Promise<number> => {
  const theirs = (await listConsentReceipts(phone)).filter(({ created }: ConsentReceipt) => created <= until);
  for (const grant of theirs)
    await transact([consentReceiptWrite(pseudonym, grant), deleteWrite(consentReceiptKey(phone, grant))]);
  return theirs.length;
};
