/**
 * Claims: marks of many items outside of the transaction that adds their sums, which would double the price of each mark.
 *
 *     claim        each item gets the id of the claim, unless it has another one
 *     seal         a transaction puts the claim's row, and adds the sums to the counters
 *
 * An item is counted if its claim is sealed. A worker that ends between the two steps leaves a claim that is not: whoever
 * counts these items next waits for a moment, puts a void row in its place, so that nobody can seal it, and takes the items
 * over. So an item is counted once, whatever the stream repeats, in whichever batches. The deletion of an account makes claims void
 * before it removes their items, so that none adds to a counter behind it.
 */
import { randomBytes } from 'node:crypto';
import { between, pause } from '../core/clock.ts';
import { inParallel } from '../core/parallel.ts';
import { type Change, getConsistent, getManyConsistent, tryUpdate } from '../table/client.ts';
import type { Key } from '../table/keys.ts';
import { updateWrite, type Write } from '../table/transactions.ts';
import { claimKey } from './entities.ts';

/** Whether an item is counted: `true` is a mark within the transaction of its sum; a text is the id of its claim. */
export type Mark = boolean | string;

/** An item that can be claimed. */
export interface Claimable extends Key {
  /** In seconds since 1970. */
  expires_at: number;
}

interface Marked {
  counted: Mark;
}

interface ClaimItem extends Key {
  is: 'sealed' | 'void';
  expires_at: number;
}

/** Items that are claimed at the same time. */
const TOGETHER = 25;

/**
 * Looks at a claim that is not sealed, and the longest pause between two in milliseconds: random, so that of two workers only one
 * waits too long.
 */
const LOOKS = 10;
const PAUSE_MS = 300;

/** 72 random bits: the ids of all items repeat it, so it is short. */
export const newClaim = (): string => randomBytes(9).toString('base64url');

/**
 * Claims items that are not counted. 1 write unit for each; for an item of another claim, `isSealed`, and 1 if it is void.
 *
 * @param changeOf - the change of an item's mark, which fails if the item has another mark, or was removed
 * @returns the items that have this claim now
 */
export const claimItems = async <Item extends Claimable>(
  items: Item[],
  claim: string,
  changeOf: (item: Item, from: Mark, to: Mark) => Change,
): Promise<Item[]> => {
  const claimed: Item[] = [];
  const seals = new Map<string, Promise<boolean>>();
  await inParallel(items, TOGETHER, async (item) => {
    for (let from: Mark = false; ; ) {
      const change: Change = changeOf(item, from, claim);
      const { isDone, item: present } = await tryUpdate<Marked>(change);
      const mark = present?.counted;
      // Also after the client's own retry, if the first response was lost.
      if (isDone || mark === claim) {
        claimed.push(item);
        return;
      }
      // It is counted, was removed, or was replaced by the item of a later message.
      if (typeof mark !== 'string' || mark === from) return;
      const seal = seals.get(mark) ?? isSealed(mark, item);
      seals.set(mark, seal);
      if (await seal) return;
      from = mark;
    }
  });
  return claimed;
};

/**
 * Whether a claim is sealed. Waits, in case that its worker is about to seal it; then it never can be. 1 read unit for each
 * look, and 1 write unit if it has to be void.
 */
export const isSealed = async (claim: string, { expires_at }: Pick<Claimable, 'expires_at'>): Promise<boolean> => {
  for (let looks = 0; looks < LOOKS; looks += 1) {
    const row = await getConsistent<ClaimItem>(claimKey(claim));
    if (row !== undefined) return row.is === 'sealed';
    await pause(between(0, PAUSE_MS));
  }
  return (await tryUpdate<ClaimItem>(end(claim, 'void', expires_at))).item?.is === 'sealed';
};

/** Seals a claim, in the transaction of the sums: it fails if the claim is void. 2 write units. */
export const sealWrite = (claim: string, items: Claimable[]): Write =>
  updateWrite(end(claim, 'sealed', Math.max(...items.map(({ expires_at }) => expires_at))));

/**
 * Seconds for which a claim outlives its last item: TTL removes expired rows in any order, up to two days late ("Using time to
 * live (TTL)", DynamoDB Developer Guide), and the stream repeats changes for a day.
 */
const LONGER = 3 * 86_400;

/** Puts a claim's row, unless there is one. */
const end = (claim: string, as: ClaimItem['is'], lastEnd: number): Change => ({
  Key: claimKey(claim),
  UpdateExpression: 'SET #is = :as, expires_at = :end',
  ConditionExpression: 'attribute_not_exists(pk)',
  ExpressionAttributeNames: { '#is': 'is' },
  ExpressionAttributeValues: { ':as': as, ':end': lastEnd + LONGER },
});

/** The claims among some marks that are sealed. 1 read unit for each claim. */
export const sealedAmong = async (marks: Mark[]): Promise<Set<Mark>> => {
  const claims = [...new Set(marks.filter((mark) => typeof mark === 'string'))];
  const rows = await getManyConsistent<ClaimItem[]>(claims.map(claimKey));
  return new Set(claims.filter((_, place) => rows[place]?.is === 'sealed'));
};
