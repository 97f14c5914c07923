/**
 * Circuit breakers. After three failures in a row, in any conversations, the circuit of a customer's server opens for a
 * while, so that workers neither overload the server nor wait for it. Then the circuit is half-open: one conversation probes
 * the server. A destination that asks for fewer requests is paused instead. This is no failure, and after the pause all
 * conversations continue. The app network has circuits of other rules: `app-network-breaker.ts`.
 */
import { between, now, scaled, secondsFromNow, sortableTime, timestamp } from '../core/clock.ts';
import { newId } from '../core/ids.ts';
import { getEventual, remove, update, updateAndGet } from '../table/client.ts';
import type { Key } from '../table/keys.ts';
import { measure } from '../telemetry/metrics.ts';
import { circuitKey } from './entities.ts';

export interface CircuitItem extends Key {
  /** Failures in a row. */
  failures?: number;
  /** The time of the first of them. */
  failing_since?: string;
  /** The last failure: its time, why, and the id of the event. */
  failed_at?: string;
  cause?: string;
  event?: string;
  /** No attempt begins before then. */
  open_until?: string;
  /** Failed probes since it opened. */
  trials?: number;
  /** Id of the election of the conversation that probes. */
  election?: string;
  /** The destination has asked for no requests before then. */
  paused_until?: string;
  /** Milliseconds that slow attempts took in a minute (minutes since 1970), and until when its groups take turns. */
  used_ms?: number;
  used_minute?: number;
  turns_until?: string;
  expires_at: number;
}

/** No attempt is made before `until` (milliseconds since 1970): the destination fails, or has asked for a pause. */
export interface Open {
  until: number;
  cause: 'circuit_open' | 'rate_limited';
}

/**
 * - `closed`: the destination works.
 * - `degraded`: it failed recently; attempts are still made.
 * - `half_open`: the caller makes the attempt that probes it.
 * - `Open`: no attempt is made.
 */
export type CircuitState = 'closed' | 'degraded' | 'half_open' | Open;

/** The breaker of a destination, as a conversation sees it. */
export interface Breaker {
  /** The state for the caller, who may be elected to probe. */
  acquire(): Promise<CircuitState>;
  /** Records the failure of an attempt that was made in this state. @param failure - for customers, who see the last one */
  recordFailure(circuit: CircuitState, failure?: Failure): Promise<void>;
  /** Records the success of an attempt that was made in this state. */
  recordSuccess(circuit: CircuitState): Promise<void>;
  /** Counts the time that an attempt took, in milliseconds. */
  recordTime(usedMs: number): Promise<void>;
  /** When the turn of the conversation's group begins, in milliseconds since 1970; undefined if it is now. */
  turn(): number | undefined;
  /** Records that the destination asked for no requests before `until` (milliseconds since 1970). */
  pause(circuit: CircuitState, until: number): Promise<void>;
}

/** Whether no attempt may be made. */
export const isOpen = (circuit: CircuitState): circuit is Open => typeof circuit === 'object';

/** Failures in a row after which a circuit opens. */
const LIMIT = 3;
/** Milliseconds that a circuit stays open, by the number of failed probes. */
const PERIODS_MS = [60_000, 120_000, 600_000];
/** Milliseconds that a probe may take. */
const TRIAL_MS = 60_000;
/** Milliseconds over which pending conversations are spread. */
const SPREAD_MS = 12_000;
/** Seconds that a circuit is kept after the last failure. */
export const MEMORY = 86_400;

/**
 * The state of a destination's circuit for the caller, who may be elected to probe. 0.5 read units unless it is open.
 *
 * @internal Tests use it, too.
 */
export const acquire = async (destination: string): Promise<CircuitState> =>
  stateOf(destination, await readCircuit(destination));

/** A destination's circuit, if it has one. 0.5 read units. */
export const readCircuit = (destination: string): Promise<CircuitItem | undefined> =>
  getEventual<CircuitItem>(circuitKey(destination));

/** As `acquire`, for a circuit that was read just now. */
export const stateOf = async (
  destination: string,
  { open_until: until, paused_until, failures }: Partial<CircuitItem> = {},
): Promise<CircuitState> => {
  if (paused_until !== undefined && paused_until > sortableTime(now())) {
    return { until: Date.parse(paused_until), cause: 'rate_limited' };
  }
  if (until === undefined) return failures === undefined ? 'closed' : 'degraded';
  if (until > sortableTime(now())) return { until: withJitter(Date.parse(until)), cause: 'circuit_open' };
  return elect(destination, until);
};

/** Elects the caller to probe a destination whose circuit was open until a time, unless another caller is quicker. */
export const elect = async (destination: string, until: string): Promise<'half_open' | Open> => {
  const trialEnd = now() + scaled(TRIAL_MS);
  const elected = await update({
    Key: circuitKey(destination),
    UpdateExpression: 'SET open_until = :end, election = :this',
    // Also true for the client's own retry, after DynamoDB's first response was lost.
    ConditionExpression: 'open_until = :until OR election = :this',
    ExpressionAttributeValues: { ':end': sortableTime(trialEnd), ':until': until, ':this': newId() },
  });
  return elected ? 'half_open' : { until: withJitter(trialEnd), cause: 'circuit_open' };
};

/** Milliseconds for which a circuit opens after so many failed probes. */
export const periodAfter = (trials: number): number => scaled(PERIODS_MS[Math.min(trials, PERIODS_MS.length - 1)] ?? 0);

/** A failed request: why it failed, and the id of its event. */
export interface Failure {
  cause: string;
  event: string;
}

/**
 * Records a failure of a destination: opens its circuit at the third in a row, for longer after each failed probe.
 *
 * @param failure - for customers, who see the last one
 */
export const recordFailure = async (destination: string, circuit: CircuitState, failure?: Failure): Promise<void> => {
  const counted = circuit === 'half_open' ? 'trials' : 'failures';
  const count = () =>
    updateAndGet<CircuitItem>({
      Key: circuitKey(destination),
      UpdateExpression: `ADD #counted :one SET expires_at = :end, failing_since = if_not_exists(failing_since, :now)${failure ? ', failed_at = :now, cause = :cause, #event = :event' : ''}`,
      ConditionExpression: IS_CURRENT,
      ExpressionAttributeNames: { '#counted': counted, ...(failure && { '#event': 'event' }) },
      ExpressionAttributeValues: {
        ':one': 1,
        ':end': secondsFromNow(MEMORY),
        ':present': secondsFromNow(0),
        ':now': timestamp(),
        ...(failure && { ':cause': failure.cause, ':event': failure.event }),
      },
    });
  const { failures = 0, trials = 0 } = (await count()) ?? (await afterExpired(destination, count)) ?? {};
  if (counted === 'failures' && failures < LIMIT) return;
  const opened = await update({
    Key: circuitKey(destination),
    UpdateExpression: 'SET open_until = :until',
    // Failed attempts that began before it opened do not extend the time.
    ConditionExpression: counted === 'trials' ? 'attribute_exists(pk)' : 'attribute_not_exists(open_until)',
    ExpressionAttributeValues: { ':until': sortableTime(now() + periodAfter(trials)) },
  });
  if (opened && counted === 'failures') {
    measure('warn', 'circuit opened', { direction: 'platform', destination, circuits_opened: 1 });
  }
};

/** The condition that a circuit has not expired: TTL removes expired items up to two days late. */
export const IS_CURRENT = '(attribute_not_exists(expires_at) OR expires_at > :present)';

/** Removes an expired circuit, and then does the work whose condition failed because of it. */
export const afterExpired = async <Result>(
  destination: string,
  work: () => Promise<Result>,
): Promise<Result | undefined> => {
  const removed = await remove(circuitKey(destination), {
    ConditionExpression: 'expires_at <= :present',
    ExpressionAttributeValues: { ':present': secondsFromNow(0) },
  });
  return removed ? work() : undefined;
};

/**
 * Pauses a destination that asks for fewer requests: no attempt begins before `until` (milliseconds since 1970). A
 * longer pause stays.
 */
export const setPause = async (destination: string, until: number): Promise<void> => {
  const set = () =>
    update({
      Key: circuitKey(destination),
      UpdateExpression: 'SET paused_until = :until, expires_at = :end',
      ConditionExpression: `${IS_CURRENT} AND (attribute_not_exists(paused_until) OR paused_until < :until)`,
      ExpressionAttributeValues: {
        ':until': sortableTime(until),
        ':end': secondsFromNow(MEMORY),
        ':present': secondsFromNow(0),
      },
    });
  if (!(await set())) await afterExpired(destination, set);
};

/** Records a success of a destination: closes its circuit, if it is not closed. A pause stays. */
export const recordSuccess = async (destination: string, circuit: CircuitState): Promise<void> => {
  if (circuit === 'closed') return;
  await update({
    Key: circuitKey(destination),
    UpdateExpression: 'REMOVE failures, trials, open_until, election, failing_since, failed_at, cause, #event',
    ConditionExpression: 'attribute_exists(pk)',
    ExpressionAttributeNames: { '#event': 'event' },
  });
  if (circuit === 'half_open')
    measure('info', 'circuit closed', { direction: 'platform', destination, circuits_closed: 1 });
};

/** The failures of a destination whose circuit is open or half-open: since when, and the last one. */
export interface Failing extends Partial<Failure> {
  since: string | undefined;
  /** When the last one was. */
  at?: string;
}

/** The failures of a destination, if its circuit is open or half-open. 0.5 read units. */
export const findFailure = async (destination: string): Promise<Failing | undefined> => {
  const found = await getEventual<CircuitItem>(circuitKey(destination));
  if (found === undefined || (found.failures ?? 0) < LIMIT) return undefined;
  const { failing_since: since, failed_at: at, cause, event } = found;
  return { since, ...(at && { at }), ...(cause && { cause }), ...(event && { event }) };
};

/** A little later than `time`, so that pending conversations do not all continue at once. */
export const withJitter = (time: number): number => time + between(0, scaled(SPREAD_MS));
