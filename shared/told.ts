/** What chat platforms were told of messages that they know by one id of their own: each state once. */
import { now } from './clock.ts';
import { page, puttingNew, type Write } from './table/client.ts';
import { type Key, toldKey } from './table/keys.ts';

/** A state that a platform is to be told once. */
export interface Telling {
  /** What the platform knows the message by; parts of one message have the same. */
  id: string;
  /** How often the message was resent: each generation has statuses of its own. */
  generation: number;
  state: string;
  /** States after which it is not to be told of this one any more. */
  never_after: string[];
  /** When the message expires, in seconds since 1970: its id there may belong to another one afterwards. */
  expires_at: number;
}

interface ToldItem extends Key {
  generation?: number;
  expires_at: number;
}

/**
 * Whether it was told already, or of something after which this is news no more: also anything of a later generation.
 * 1 read unit.
 */
export const wasTold = async (
  account: string,
  { id, generation, state, never_after }: Omit<Telling, 'expires_at'>,
): Promise<boolean> => {
  const { items } = await page<ToldItem>({
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': toldKey(account, id, generation, '').pk },
    ConsistentRead: true,
  });
  const over = new Set([state, ...never_after].map((one) => toldKey(account, id, generation, one).sk));
  return items
    .filter(({ expires_at }) => expires_at > now() / 1000)
    .some(({ sk, generation: its = 0 }) => its > generation || over.has(sk));
};

/** Notes that it was told, within the transaction that settles it; fails where it was noted before. 2 write units. */
export const noting = (account: string, { id, generation, state, expires_at }: Telling): Write =>
  puttingNew<ToldItem>({ ...toldKey(account, id, generation, state), generation, expires_at });
