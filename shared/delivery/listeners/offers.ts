/**
 * Offers: while listeners stand for an account's webhook, `deliver` offers its conversations instead of making requests.
 * A listener claims a conversation, sends its oldest entry to a program, and settles it by the response.
 *
 *     offer             claim                    renew                release
 *     listed from now   listed from the end of   claim is valid for   listed from now, or from the next
 *     |                 the claim: 60 s          another 60 s         attempt after a failure
 *     v                 v                        v                    v
 *     deliver           listener A asks          A settles            the next entry can be claimed
 *
 * Each step is a conditional write of the head. So one listener has a conversation at a time, and if it ends without
 * settling, the same entry can be claimed again after the claim. Only `deliver` offers, and only it withdraws the offer,
 * so no request is made to a URL while a listener has a claim.
 */
import { now, scaled, sortableTime } from '../../core/clock.ts';
import { conversationDueAt, conversationOf, offeredTo } from '../../outbox/entities.ts';
import type { Head } from '../../outbox/outbox.ts';
import { update, updateAndGet } from '../../table/client.ts';
import { dueOf, type Key } from '../../table/keys.ts';

/** Milliseconds for which a claim is valid: longer than a request, its response, and some repeats of a failed call. */
const CLAIM_MS = 60_000;
/** Most milliseconds until `deliver` looks at an offered conversation again. */
const LOOK_MS = 6 * 3_600_000;

/** A head with a claim. */
export type ClaimedHead = Head & { claim: string; claimed_until: string };

/** Whether a listener has a claim that has not run out. */
export const isClaimed = ({ claimed_until: until }: Head): boolean =>
  until !== undefined && until > sortableTime(now());

/**
 * Offers a conversation to listeners, unless it is offered. 1 write unit, and 1 on an index.
 *
 * @param end - when its oldest entry fails permanently, in milliseconds since 1970
 */
export const offer = async (head: Head, end: number): Promise<void> => {
  if (head.gsi3pk !== undefined && dueOf(head).time > sortableTime(now())) return;
  await update({
    Key: { pk: head.pk, sk: head.sk },
    UpdateExpression:
      'SET gsi3pk = :offered, gsi3sk = if_not_exists(gsi3sk, :now), gsi1sk = :look, #state = :listening',
    ConditionExpression: 'attribute_exists(pk)',
    ExpressionAttributeNames: { '#state': 'state' },
    ExpressionAttributeValues: {
      ':offered': offeredTo(conversationOf(head).account),
      ':now': sortableTime(now()),
      ':look': conversationDueAt(head, sortableTime(Math.min(end, now() + scaled(LOOK_MS)))),
      ':listening': 'listening',
    },
  });
};

/** Has `deliver` look at a conversation when its claim runs out. */
export const lookAfterClaim = async (head: Head): Promise<void> => {
  const { pk, sk, claimed_until: until } = head;
  if (until === undefined || dueOf(head).time > sortableTime(now())) return;
  await update({
    Key: { pk, sk },
    UpdateExpression: 'SET gsi1sk = :until',
    ConditionExpression: 'attribute_exists(pk)',
    ExpressionAttributeValues: { ':until': conversationDueAt(head, until) },
  });
};

/**
 * Withdraws the offer of a conversation, because its account has no listeners any more.
 *
 * @returns the head without the offer; nothing, if a listener has a claim
 */
export const withdrawOffer = async (head: Head): Promise<Head | undefined> => {
  if (head.gsi3pk === undefined && head.claim === undefined) return head;
  const free = await updateAndGet<Head>({
    Key: { pk: head.pk, sk: head.sk },
    UpdateExpression: 'REMOVE gsi3pk, gsi3sk, claim, claimed_until, attempted, #state',
    ConditionExpression: 'attribute_exists(pk) AND (attribute_not_exists(claimed_until) OR claimed_until <= :now)',
    ExpressionAttributeNames: { '#state': 'state' },
    ExpressionAttributeValues: { ':now': sortableTime(now()) },
  });
  if (free === undefined) await lookAfterClaim(head);
  return free;
};

/**
 * Claims an offered conversation whose next attempt is due. 1 write unit, and 2 on an index.
 *
 * @param claim - a new id
 * @returns its head; nothing, if another listener was quicker, or it is no longer offered
 */
export const claimOffer = (key: Key, claim: string): Promise<ClaimedHead | undefined> =>
  updateAndGet<ClaimedHead>({
    Key: { pk: key.pk, sk: key.sk },
    UpdateExpression: 'SET claim = :claim, claimed_until = :until, gsi3sk = :until',
    // Also true for the client's own retry, after DynamoDB's first response was lost.
    ConditionExpression: 'gsi3pk = :offered AND (gsi3sk <= :now OR claim = :claim)',
    ExpressionAttributeValues: {
      ':claim': claim,
      ':until': sortableTime(now() + CLAIM_MS),
      ':offered': offeredTo(conversationOf(key).account),
      ':now': sortableTime(now()),
    },
  });

/**
 * Renews a claim that has not run out, so that nobody else claims the conversation while its entry is settled.
 *
 * @returns the head; nothing, if the claim has run out, or there is none
 */
export const renewClaim = ({ pk, sk }: Key, claim: string): Promise<ClaimedHead | undefined> =>
  updateAndGet<ClaimedHead>({
    Key: { pk, sk },
    UpdateExpression: 'SET claimed_until = :until, gsi3sk = :until',
    ConditionExpression: 'claim = :claim AND claimed_until > :now',
    ExpressionAttributeValues: {
      ':claim': claim,
      ':until': sortableTime(now() + CLAIM_MS),
      ':now': sortableTime(now()),
    },
  });

/** The claim of a head, for the condition of its change. */
const ofClaim = ({ pk, sk, claim }: ClaimedHead) => ({
  Key: { pk, sk },
  ConditionExpression: 'claim = :claim',
  claim,
});

/** Releases a claim: the conversation can be claimed from now on. A scheduled retry releases it itself: `scheduleRetry`. */
export const release = async (head: ClaimedHead): Promise<void> => {
  const { claim, ...change } = ofClaim(head);
  await update({
    ...change,
    UpdateExpression: 'SET gsi3sk = :now REMOVE claim, claimed_until, attempted',
    ExpressionAttributeValues: { ':claim': claim, ':now': sortableTime(now()) },
  });
};

/**
 * Releases a claim after the first failed request of a round: the second one follows shortly, before a retry is scheduled.
 *
 * @param again.entry - the id of the entry
 * @param again.tries - the number of requests with the entry
 */
export const releaseForSecondTry = async (
  head: ClaimedHead,
  { entry, due, tries }: { entry: string; due: number; tries: number },
): Promise<void> => {
  const { claim, ...change } = ofClaim(head);
  await update({
    ...change,
    UpdateExpression:
      'SET gsi3sk = :due, attempted = :entry, failed = :entry, tries = :tries REMOVE claim, claimed_until',
    ExpressionAttributeValues: { ':claim': claim, ':due': sortableTime(due), ':entry': entry, ':tries': tries },
  });
};

/** Returns a conversation to `deliver`, which settles what no listener may receive. `sweep` wakes it within a minute. */
export const handBack = async (head: ClaimedHead): Promise<void> => {
  const { claim, ...change } = ofClaim(head);
  await update({
    ...change,
    UpdateExpression: 'SET gsi1sk = :due REMOVE claim, claimed_until, attempted, gsi3pk, gsi3sk',
    ExpressionAttributeValues: { ':claim': claim, ':due': conversationDueAt(head, sortableTime(now())) },
  });
};
