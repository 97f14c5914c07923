/**
 * Erasure of users. The profile is removed first, with the write that marks the number: no more values are released, and
 * nothing is delivered. Pending entries, answers and requests follow. In logs and receipts, a pseudonym replaces the number.
 *
 * All of this is found by indexes of the person, a page at a time. Each erasure stores where it continues, and they take
 * turns. Only chunks of pending batches are found otherwise: `campaigns/erasure.ts`.
 */

import { now, sortableTime } from '../core/clock.ts';
import { newPseudonym } from '../core/ids.ts';
import { inParallel } from '../core/parallel.ts';
import { accountOfAttempt } from '../delivery/entities.ts';
import { attemptsAbout } from '../delivery/history/erase-attempts.ts';
import {
  accountOfOptOut,
  dueErasure,
  erasureKey,
  erasurePartition,
  isOptOutKey,
  markedPartition,
  phoneOfErasure,
} from '../messaging/entities.ts';
import { type ErasedIdentity, type ErasureItem, erasedIdentityOf, lastLookAt } from '../messaging/erased-identity.ts';
import { dropPending, reportStopped } from '../messaging/erasure-outbox.ts';
import { forgetWritten } from '../messaging/replies.ts';
import { accountAt, logsOfContact, messageIdOf, messageKey, positionOfAccount } from '../outbox/entities.ts';
import { conversationsOf } from '../outbox/event.ts';
import { timePartOf } from '../outbox/log-positions.ts';
import { isAnswerKey } from '../profilers/entities.ts';
import { removeAnswer } from '../profilers/results.ts';
import { getConsistent, getManyConsistent, page, pages, removeAll, update } from '../table/client.ts';
import { dataOfPerson, type Key } from '../table/keys.ts';
import { deleteWrite, transact, updateWrite, type Write } from '../table/transactions.ts';
import { describeError, log } from '../telemetry/log.ts';
import { eventReceiptWrite } from '../users/event-receipts.ts';
import { removalWrites } from '../users/user-removal.ts';
import { endWithUser } from './consent-ends.ts';
import { consentReceiptWrite, type ReceiptItem, receiptIn } from './consent-receipts.ts';
import { consentReceiptRange, consentReceiptsOf, isConsentKey, isRequestKey, requestIdOf } from './entities.ts';

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
 * The write that requests a user's erasure: the worker `erase` begins within a minute. A user who was registered gets a
 * new pseudonym, also if the erasure of the number's previous owner is not complete; a repeat keeps it. 2 write units in a
 * transaction.
 */
const erasureWrite = (phone: string, wasRegistered: boolean): Write =>
  updateWrite({
    Key: erasureKey(phone),
    UpdateExpression: `SET pseudonym = ${wasRegistered ? ':pseudonym' : 'if_not_exists(pseudonym, :pseudonym)'}, requested = :now, gsi1pk = :due, gsi1sk = :now REMOVE #position`,
    ExpressionAttributeNames: { '#position': 'position' },
    ExpressionAttributeValues: { ':pseudonym': newPseudonym(), ':now': sortableTime(now()), ':due': erasurePartition },
  });

/**
 * Removes a user after a report of the app network. The profile goes at once; the worker `erase` erases the other data
 * within a minute. For `EVENT_MEMORY_DAYS`, a repeat of the event changes nothing, also if the number was registered
 * again. 10 write units in one transaction, 12 if the app network sent an id of the user; 1 read unit, or 2.
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
    const failed = await transact([...receipt, ...removal.writes, erasureWrite(phone, removal.isRegistered)]);
    if (failed.length === 0 || (receipt.length > 0 && failed.includes(0))) return;
    // The user was changed in the meantime: read again.
  }
};

/** Where a stage continues; empty at its beginning. */
type Place = Record<string, unknown>;

/** Handles at most a page of items. Returns where the stage continues; undefined if it is complete. */
type Stage = (whom: ErasedIdentity, found: Erased, place: Place) => Promise<Place | undefined>;

/** Items of a page, items that are changed at the same time, and pages of a step. */
const [PAGE, TOGETHER, PAGES] = [50, 16, 8];

/** Where an erasure continues, in an item of its own. */
interface Position {
  stage: number;
  place: Place;
  /** Whether this is the last look, which began after everything that was in progress. */
  isLast: boolean;
}

/**
 * Removes attempts to deliver events, and then what is pending for their accounts: an event that was sent again before is
 * pending. 1 write unit for each attempt, and 1 on the index.
 */
const removeAttempts: Stage = async (whom, found, { after }) => {
  const { items, next } = await attemptsAbout(whom.phone, { until: whom.until, Limit: PAGE, ...startAt(after) });
  const accounts = new Set(items.map(accountOfAttempt));
  for (const account of accounts) if (!(await dropFrom(account, whom, found))) return { after };
  await removeAll(items);
  found.deliveries += items.length;
  for (const account of accounts) await dropFrom(account, whom, found);
  return next && { after: next };
};

/**
 * For one account after the other that has logged messages: drops what is pending, notifies the platform, and then
 * replaces the number in the log, because the log shows which accounts are left. 5 write units for a log entry, three of them
 * on its indexes.
 */
const endConversations: Stage = async (whom, found, { account, after }) => {
  const current = after === undefined ? await nextLogged(whom.phone, account) : String(account);
  if (current === undefined) return undefined;
  const { items, next } = await logged(current, whom, after);
  if (after === undefined && items.length > 0) {
    if (!(await dropFrom(current, whom, found))) return { account };
    // After the user's entries are dropped.
    await reportStopped({ account: current, phone: whom.phone }, whom);
  }
  const theirs = await withoutNextOwner(items, whom);
  await inParallel(theirs, TOGETHER, async (key) => {
    if (await rename(key, whom)) found.log_entries += 1;
  });
  return { account: current, after: next };
};

/** Ends consents, and removes answers, opt-outs, and requests with their values. */
const removeOfPerson: Stage = async (whom, found, { after }) => {
  const { items: keys, next } = await page<Key>({
    IndexName: 'gsi2',
    KeyConditionExpression: 'gsi2pk = :person AND gsi2sk <= :until',
    ExpressionAttributeValues: { ':person': dataOfPerson(whom.phone), ':until': whom.until },
    ProjectionExpression: 'pk, sk',
    Limit: PAGE,
    ...startAt(after),
  });
  const asked = keys.filter((key) => isRequestKey(key) || isConsentKey(key));
  const optOuts = keys.filter(isOptOutKey);
  const read = await getManyConsistent<{ account: string }[]>(asked);
  const stopped = new Set(optOuts.map(accountOfOptOut));
  for (const account of new Set([...stopped, ...read.flatMap((item) => item?.account ?? [])])) {
    if (!(await dropFrom(account, whom, found))) return { after };
  }
  for (const account of stopped) await reportStopped({ account, phone: whom.phone }, whom);
  for (const id of new Set(asked.map(requestIdOf))) {
    found.consents += await endWithUser(id, whom.phone, whom.pseudonym);
  }
  await inParallel(keys.filter(isAnswerKey), TOGETHER, async (key) => {
    // With its part of the results.
    if (await removeAnswer(key)) found.answers += 1;
  });
  await removeAll(keys.filter((key) => !isAnswerKey(key) && !isConsentKey(key)));
  found.requests += keys.filter(isRequestKey).length;
  found.opt_outs += optOuts.length;
  return next && { after: next };
};

/** Replaces the number by the pseudonym in consent receipts. 4 write units for each, and 6 on the indexes. */
const renameReceipts: Stage = async ({ phone, pseudonym, until }, found, { after }) => {
  const { from, to } = consentReceiptRange(until);
  const { items, next } = await page<ReceiptItem>({
    KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
    ExpressionAttributeValues: { ':pk': consentReceiptsOf(phone), ':from': from, ':to': to },
    ConsistentRead: true,
    Limit: PAGE,
    ...startAt(after),
  });
  if (items.length > 0)
    await transact(
      items.flatMap((item) => [
        consentReceiptWrite(pseudonym, receiptIn(item)),
        deleteWrite({ pk: item.pk, sk: item.sk }),
      ]),
    );
  found.receipts += items.length;
  return next && { after: next };
};

const startAt = (after: unknown) => after !== undefined && { ExclusiveStartKey: after as Place };

/** In this order: an attempt may become a pending entry, whose end is logged; the end of a consent has a receipt. */
const stages: readonly Stage[] = [removeAttempts, endConversations, removeOfPerson, renameReceipts];

/**
 * Does a step of an erasure: some pages. Then it stores where the erasure continues, and puts it behind all others that are
 * due. Repeated pages change nothing.
 *
 * @returns whether more is due
 */
const doStep = async (phone: string, found: Erased, isOver: () => boolean): Promise<boolean> => {
  const erasure = await getConsistent<ErasureItem & { position?: Position }>(erasureKey(phone));
  if (erasure?.gsi1pk !== erasurePartition || erasure.gsi1sk > sortableTime(now())) return false;
  const last = lastLookAt(erasure);
  const whom = await erasedIdentityOf(phone, erasure);
  let { stage, place, isLast } = erasure.position ?? { stage: 0, place: {}, isLast: now() >= last };
  for (let pages = 0; pages < PAGES && (pages === 0 || !isOver()); pages += 1) {
    const next = await stages[stage]?.(whom, found, place);
    place = next ?? {};
    stage += next === undefined ? 1 : 0;
    if (stage === stages.length) {
      await (isLast ? keepMark(erasure) : postpone(erasure, { until: last }));
      return false;
    }
  }
  await postpone(erasure, { until: now(), position: { stage, place, isLast } });
  return true;
};

/** Postpones an erasure, unless another one of the number has begun. */
const postpone = async (
  { pk, sk, requested }: ErasureItem,
  { until, position }: { until: number; position?: Position },
): Promise<void> => {
  await update({
    Key: { pk, sk },
    UpdateExpression: `SET gsi1sk = :until${position === undefined ? ' REMOVE #position' : ', #position = :position'}`,
    ConditionExpression: 'requested = :requested',
    ExpressionAttributeNames: { '#position': 'position' },
    ExpressionAttributeValues: {
      ':until': sortableTime(until),
      ':requested': requested,
      ...(position !== undefined && { ':position': position }),
    },
  });
};

/** Keeps only the mark of an erasure: the number may still be in pending batches. */
const keepMark = async ({ pk, sk, requested }: ErasureItem): Promise<void> => {
  await update({
    Key: { pk, sk },
    UpdateExpression: 'SET gsi1pk = :marked, gsi1sk = :now REMOVE #position',
    ConditionExpression: 'requested = :requested',
    ExpressionAttributeNames: { '#position': 'position' },
    ExpressionAttributeValues: {
      ':marked': markedPartition,
      ':now': sortableTime(now()),
      ':requested': requested,
    },
  });
};

const nothing = (): Erased => ({
  ...{ answers: 0, requests: 0, waiting: 0, log_entries: 0 },
  ...{ receipts: 0, opt_outs: 0, deliveries: 0, consents: 0 },
});

/**
 * Does all steps of an erasure that are due now.
 *
 * @internal Tests use it, too.
 */
export const resumeErasure = async (phone: string): Promise<Erased> => {
  const found = nothing();
  while (await doStep(phone, found, () => false));
  return found;
};

/** Erasures whose steps are done at the same time. */
const ERASURES = 8;

/**
 * Does the steps of all erasures that are due, one of each in turns: one with a million items does not delay the others.
 *
 * @param isOver - returns whether the next run must continue
 */
export const resumeErasures = async (isOver: () => boolean): Promise<Erased & { steps: number; failed: number }> => {
  const found = { ...nothing(), steps: 0, failed: 0 };
  const failed = new Set<string>();
  for (let isMore = true; isMore && !isOver(); ) {
    isMore = false;
    for await (const phones of dueErasures()) {
      if (isOver()) break;
      await inParallel(
        phones.filter((phone) => !failed.has(phone)),
        ERASURES,
        async (phone) => {
          if (isOver()) return;
          try {
            if (await doStep(phone, found, isOver)) isMore = true;
            found.steps += 1;
          } catch (error) {
            log('error', 'erasure failed', describeError(error));
            failed.add(phone);
          }
        },
      );
    }
  }
  return { ...found, failed: failed.size };
};

/**
 * Phone numbers of users whose erasure is due: those that waited longest first.
 *
 * @internal Tests use it, too.
 */
export async function* dueErasures(): AsyncGenerator<string[]> {
  for await (const items of pages<Key>(dueErasure(sortableTime(now())))) yield items.map(phoneOfErasure);
}

/** Drops what is pending between a user and an account, up to a page for each conversation. Returns whether that is all. */
const dropFrom = async (account: string, whom: ErasedIdentity, found: Erased): Promise<boolean> => {
  const [drops] = await Promise.all([
    Promise.all(conversationsOf(account, whom.phone).map((conversation) => dropPending(conversation, whom))),
    forgetWritten(account, whom),
  ]);
  for (const { dropped } of drops) found.waiting += dropped;
  return drops.every(({ isComplete }) => isComplete);
};

/** The account after another one that has logged messages of a user. 0.5 read units. */
const nextLogged = async (phone: string, account: unknown): Promise<string | undefined> => {
  const { items } = await page<{ gsi2sk: string }>({
    IndexName: 'gsi2',
    KeyConditionExpression: 'gsi2pk = :contact AND gsi2sk > :after',
    ExpressionAttributeValues: {
      ':contact': logsOfContact(phone),
      ':after': account === undefined ? ' ' : `${positionOfAccount(String(account))}~`,
    },
    ProjectionExpression: 'gsi2sk',
    Limit: 1,
  });
  return items[0] && accountAt(items[0].gsi2sk);
};

type Logged = Key & { gsi2sk: string };

/** A page of an account's log entries of a user, and of the number's next owner up to `end`. */
const logged = (account: string, { phone, end }: ErasedIdentity, after: unknown) =>
  page<Logged>({
    IndexName: 'gsi2',
    KeyConditionExpression: 'gsi2pk = :contact AND gsi2sk BETWEEN :account AND :end',
    ExpressionAttributeValues: {
      ':contact': logsOfContact(phone),
      ':account': positionOfAccount(account),
      ':end': `${positionOfAccount(account)}${timePartOf(end)}~`,
    },
    ProjectionExpression: 'pk, sk, gsi2sk',
    Limit: PAGE,
    ...startAt(after),
  });

/**
 * Log entries without those of messages of the number's next owner, which were created after `until`. 1 read unit for each
 * entry that was logged after `until`.
 */
const withoutNextOwner = async (entries: Logged[], { until }: ErasedIdentity): Promise<Logged[]> => {
  const isLater = ({ gsi2sk }: Logged): boolean =>
    gsi2sk > `${positionOfAccount(accountAt(gsi2sk))}${timePartOf(until)}~`;
  const later = entries.filter(isLater);
  const messages = await getManyConsistent<{ created: string }[]>(later.map((entry) => messageKey(messageIdOf(entry))));
  const ofNext = new Set(later.filter((_, place) => (messages[place]?.created ?? '') > until));
  return entries.filter((entry) => !ofNext.has(entry));
};

/**
 * Replaces the number by the pseudonym in a log entry. Later states of the message are not reported. Returns false if the
 * entry has the pseudonym already.
 */
const rename = ({ pk, sk }: Key, { phone, pseudonym }: ErasedIdentity): Promise<boolean> =>
  update({
    Key: { pk, sk },
    UpdateExpression: 'SET phone = :pseudonym, gsi2pk = :contact REMOVE reason, reported, #reference, gsi4pk, gsi4sk',
    ExpressionAttributeNames: { '#reference': 'reference' },
    ConditionExpression: 'phone = :phone',
    ExpressionAttributeValues: { ':phone': phone, ':pseudonym': pseudonym, ':contact': logsOfContact(pseudonym) },
  });
