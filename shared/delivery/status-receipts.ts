/** What chat platforms were told of messages that they know by one id of their own: each state once. */
import { now, scaled } from '../core/clock.ts';
import type { Telling } from '../outbound/destination.ts';
import { page } from '../table/client.ts';
import { type Key, toldKey } from '../table/keys.ts';
import { putting, type Write } from '../table/transactions.ts';

interface ToldItem extends Key {
  generation?: number;
  /** When it was told, in milliseconds since 1970. */
  reported?: number;
  expires_at: number;
}

/** Whether a state is news, and until when it has to wait, in milliseconds since 1970. */
export interface News {
  isNews: boolean;
  until: number;
}

/**
 * Whether a state is news to the platform. It is not if the platform was told of it, of something that it never comes
 * after, or of a later generation. What was told before the pause after this part's acceptance does not count. 1 read unit.
 */
export const newsOf = async (account: string, telling: Telling): Promise<News> => {
  const { id, generation, state, never_after, accepted, pauseMs } = telling;
  const { items } = await page<ToldItem>({
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': toldKey(account, id, generation, '').pk },
    // Stryker disable next-line BooleanLiteral: The embedded database always reads consistently.
    ConsistentRead: true,
  });
  const told = items.filter(({ expires_at }) => expires_at > now() / 1000);
  const earliest = Date.parse(`${accepted}Z`) + scaled(pauseMs);
  const own = toldKey(account, id, generation, state).sk;
  const over = new Set(never_after.map((one) => toldKey(account, id, generation, one).sk));
  const isOld = told.some(
    ({ sk, generation: its = 0, reported = earliest }) =>
      its > generation || over.has(sk) || (sk === own && reported >= earliest),
  );
  const until = Math.max(earliest, ...told.map(({ reported = 0 }) => reported + scaled(pauseMs)));
  // Clocks differ: nothing waits longer than a pause.
  return { isNews: !isOld, until: Math.min(until, now() + scaled(pauseMs)) };
};

/** Whether a state need not be told because a later one that is pending says as much or more of the message. */
export const isSuperseded = ({ id, generation, state, never_after }: Telling, pending: Telling[]): boolean =>
  pending.some(
    (other) =>
      other.id === id &&
      (other.generation > generation ||
        (other.generation === generation && [state, ...never_after].includes(other.state))),
  );

/** Notes that it was told just now, within the transaction that settles it. 2 write units. */
export const noting = (account: string, { id, generation, state, expires_at }: Telling): Write =>
  putting<ToldItem>({ ...toldKey(account, id, generation, state), generation, reported: now(), expires_at });
