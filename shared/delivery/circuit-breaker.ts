/**
 * Circuits: a receiver that failed three times in a row, in whichever conversations, is left alone for a while, so that
 * those who wait for it neither press it nor hold workers. Then one of them tries it. A receiver that asks for fewer calls
 * is paused instead: nothing has failed, and after the pause every conversation goes on.
 */
import { between, now, scaled, secondsFromNow, sortableTime } from '../core/clock.ts';
import { newId } from '../core/ids.ts';
import { APP } from '../outbound/destination.ts';
import { peek, remove, update, updatedIf } from '../table/client.ts';
import { circuitKey, type Key } from '../table/keys.ts';
import { measure } from '../telemetry/metrics.ts';

export interface CircuitItem extends Key {
  /** Failures in a row. */
  failures?: number;
  /** Nobody tries before then. */
  open_until?: string;
  /** How often trying has failed since it opened. */
  trials?: number;
  /** Names the election of the one who tries. */
  election?: string;
  /** The receiver has asked for no calls before then. */
  paused_until?: string;
  expires_at: number;
}

/**
 * What a worker may do with a receiver: use it, as one that works or that failed lately; try it for all others; or wait
 * until then (milliseconds since 1970), because it fails or because it has asked for a pause.
 */
export type Passage = 'working' | 'failing' | 'trial' | { until: number; cause: 'receiver_fails' | 'rate_limited' };

/** Failures in a row after which it opens. */
const LIMIT = 3;
/** Milliseconds that it stays open, by how often trying failed since. */
const PERIODS_MS = [60_000, 120_000, 600_000];
/** Milliseconds that the one who tries has for it. */
const TRIAL_MS = 60_000;
/** Milliseconds over which those who wait are spread. */
const SPREAD_MS = 12_000;
/** Seconds after the last failure that it is remembered. */
const MEMORY = 86_400;

/** Asks to use a receiver. 0.5 read units where it is not open. */
export const enter = async (receiver: string): Promise<Passage> => {
  const { open_until: until, paused_until, failures } = (await peek<CircuitItem>(circuitKey(receiver))) ?? {};
  if (paused_until !== undefined && paused_until > sortableTime(now())) {
    return { until: Date.parse(paused_until), cause: 'rate_limited' };
  }
  if (until === undefined) return failures === undefined ? 'working' : 'failing';
  if (until > sortableTime(now())) return { until: later(Date.parse(until)), cause: 'receiver_fails' };
  const trialEnd = now() + scaled(TRIAL_MS);
  const elected = await update({
    Key: circuitKey(receiver),
    UpdateExpression: 'SET open_until = :end, election = :this',
    // Holds for its own repetition too, when the table's first response was lost on the way.
    ConditionExpression: 'open_until = :until OR election = :this',
    ExpressionAttributeValues: { ':end': sortableTime(trialEnd), ':until': until, ':this': newId() },
  });
  return elected ? 'trial' : { until: later(trialEnd), cause: 'receiver_fails' };
};

/** Notes that a receiver failed: opens its circuit at the third time in a row, for longer each time that trying fails. */
export const noteFailure = async (receiver: string, passage: Passage): Promise<void> => {
  const counted = passage === 'trial' ? 'trials' : 'failures';
  const count = () =>
    updatedIf<CircuitItem>({
      Key: circuitKey(receiver),
      UpdateExpression: 'ADD #counted :one SET expires_at = :end',
      ConditionExpression: IS_CURRENT,
      ExpressionAttributeNames: { '#counted': counted },
      ExpressionAttributeValues: { ':one': 1, ':end': secondsFromNow(MEMORY), ':present': secondsFromNow(0) },
    });
  const { failures = 0, trials = 0 } = (await count()) ?? (await afterExpired(receiver, count)) ?? {};
  if (counted === 'failures' && failures < LIMIT) return;
  const period = scaled(PERIODS_MS[Math.min(trials, PERIODS_MS.length - 1)] ?? 0);
  const opened = await update({
    Key: circuitKey(receiver),
    UpdateExpression: 'SET open_until = :until',
    // Those who were under way when it opened do not keep it open.
    ConditionExpression: counted === 'trials' ? 'attribute_exists(pk)' : 'attribute_not_exists(open_until)',
    ExpressionAttributeValues: { ':until': sortableTime(now() + period) },
  });
  if (opened && counted === 'failures') {
    measure('warn', 'circuit opened', { ...directionOf(receiver), receiver, circuits_opened: 1 });
  }
};

/** That a circuit has not expired: TTL removes an expired one up to two days later, and nothing of it counts any more. */
const IS_CURRENT = '(attribute_not_exists(expires_at) OR expires_at > :present)';

/** Removes a circuit that has expired, and then does the work that its condition has kept from being done. */
const afterExpired = async <Result>(receiver: string, work: () => Promise<Result>): Promise<Result | undefined> => {
  const removed = await remove(circuitKey(receiver), {
    ConditionExpression: 'expires_at <= :present',
    ExpressionAttributeValues: { ':present': secondsFromNow(0) },
  });
  return removed ? work() : undefined;
};

/**
 * Pauses a receiver that asks for fewer calls: nobody calls it before then (milliseconds since 1970). A longer pause that
 * is known already stays.
 */
export const setPause = async (receiver: string, until: number): Promise<void> => {
  const set = () =>
    update({
      Key: circuitKey(receiver),
      UpdateExpression: 'SET paused_until = :until, expires_at = :end',
      ConditionExpression: `${IS_CURRENT} AND (attribute_not_exists(paused_until) OR paused_until < :until)`,
      ExpressionAttributeValues: {
        ':until': sortableTime(until),
        ':end': secondsFromNow(MEMORY),
        ':present': secondsFromNow(0),
      },
    });
  if (!(await set())) await afterExpired(receiver, set);
};

/** Notes that a receiver works: closes its circuit, if it failed before. A pause stays. */
export const noteSuccess = async (receiver: string, passage: Passage): Promise<void> => {
  if (passage === 'working') return;
  await update({
    Key: circuitKey(receiver),
    UpdateExpression: 'REMOVE failures, trials, open_until, election',
    ConditionExpression: 'attribute_exists(pk)',
  });
  if (passage === 'trial')
    measure('info', 'circuit closed', { ...directionOf(receiver), receiver, circuits_closed: 1 });
};
/** Whether a receiver has failed so often that it is left alone. 0.5 read units. */
export const isFailing = async (receiver: string): Promise<boolean> =>
  ((await peek<CircuitItem>(circuitKey(receiver)))?.failures ?? 0) >= LIMIT;

/** A little later than `time`, so that not all who wait come at once. */
export const later = (time: number): number => time + between(0, scaled(SPREAD_MS));
const directionOf = (receiver: string) => ({ direction: receiver === APP ? 'app' : 'platform' });
