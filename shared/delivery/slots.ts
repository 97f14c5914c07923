/**
 * The slots of `deliver`, which all customers' servers share. A server that is slow, but works, never opens its circuit, and
 * would hold a worker for each of its groups. So what counts is the time that its requests take:
 *
 *     requests under 2 s            nothing is counted
 *     two minutes in a minute       for two minutes, its groups take turns: a quarter of them has one of 20 s
 *     the turn is over              the conversation's wake-up returns to the queue until the next turn
 *
 * The groups stay as they are, so the order of each conversation does, too.
 */
import { now, scaled, secondsFromNow, sortableTime } from '../core/clock.ts';
import { GROUP_COUNT } from '../outbox/wake-ups/conversations.ts';
import { update, updateAndGet } from '../table/client.ts';
import { afterExpired, type CircuitItem, IS_CURRENT, MEMORY } from './circuit-breaker.ts';
import { circuitKey } from './entities.ts';

/** Milliseconds from which the time of an attempt counts. */
const SLOW_MS = 2_000;
/** Milliseconds of slow attempts, in a minute, after which the groups of a destination take turns, and for how long. */
const LIMIT = { usedMs: 120_000, forMs: 120_000 };
/** Groups that have their turn at the same time, and its length in milliseconds. */
const TURN = { groups: 4, ms: 20_000 };

/** Whether the time of an attempt counts. */
export const isSlow = (usedMs: number): boolean => usedMs >= scaled(SLOW_MS);

/**
 * Counts the time of a slow attempt. 1 write unit, and 1 if the groups begin to take turns.
 *
 * @returns until when the groups take turns, if they do
 */
export const recordTime = async (destination: string, usedMs: number): Promise<string | undefined> => {
  const Key = circuitKey(destination);
  const minute = Math.floor(now() / scaled(60_000));
  const values = { ':used': usedMs, ':minute': minute, ':end': secondsFromNow(MEMORY), ':present': secondsFromNow(0) };
  const add = () =>
    updateAndGet<CircuitItem>({
      Key,
      UpdateExpression: 'ADD used_ms :used SET expires_at = :end',
      ConditionExpression: `${IS_CURRENT} AND used_minute = :minute`,
      ExpressionAttributeValues: values,
    });
  const begin = () =>
    updateAndGet<CircuitItem>({
      Key,
      UpdateExpression: 'SET used_ms = :used, used_minute = :minute, expires_at = :end',
      ConditionExpression: `${IS_CURRENT} AND (attribute_not_exists(used_minute) OR used_minute < :minute)`,
      ExpressionAttributeValues: values,
    });
  // Another worker may begin the minute at the same time.
  const circuit = (await add()) ?? (await begin()) ?? (await add()) ?? (await afterExpired(destination, begin));
  if ((circuit?.used_ms ?? 0) < scaled(LIMIT.usedMs)) return circuit?.turns_until;
  const until = sortableTime(now() + scaled(LIMIT.forMs));
  await update({
    Key,
    UpdateExpression: 'SET turns_until = :until',
    ConditionExpression: 'attribute_exists(pk)',
    ExpressionAttributeValues: { ':until': until },
  });
  return until;
};

/** When the next turn of a group begins, in milliseconds since 1970; undefined if it is now. */
export const turnOf = (group: number): number | undefined => {
  const turns = GROUP_COUNT.platform / TURN.groups;
  const length = scaled(TURN.ms);
  const present = Math.floor(now() / length);
  const wait = (((group - present) % turns) + turns) % turns;
  return wait === 0 ? undefined : (present + wait) * length;
};
