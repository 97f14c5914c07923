import { crc32 } from 'node:zlib';
import { now, scaled, secondsFromNow, sortableTime, timestamp } from '../core/clock.ts';
import { APP_NETWORK_DESTINATION, destinationNameOf } from '../destinations/destination.ts';
import { type AnyConversation, userOf } from '../outbox/entities.ts';
import { getConsistent, getEventual, getManyEventual, update, updateAndGet } from '../table/client.ts';
import { measure } from '../telemetry/metrics.ts';
import {
  afterExpired,
  type Breaker,
  type CircuitItem,
  type CircuitState,
  elect,
  IS_CURRENT,
  MEMORY,
  type Open,
  periodAfter,
  setPause,
  withJitter,
} from './circuit-breaker.ts';
import { circuitKey } from './entities.ts';

/** What happened to a message: it failed, or the app network asked for fewer. */
type Trouble = 'failed' | 'limited';

/** The circuit of an account's messages. */
interface AccountCircuit extends CircuitItem {
  /** Users with this trouble since the last success. */
  failed_users?: Set<string>;
  limited_users?: Set<string>;
  /** When its circuit opened, or a probe failed last. */
  failed_at?: string;
}

/** The circuit of the network. */
interface NetworkCircuit extends CircuitItem {
  /** Recent troubles without a success between: `encodeTrouble`. */
  evidence?: Set<string>;
  /** Since when an account's circuit is open and no account has had a success. */
  suspected_since?: string;
  /** The account whose probe failed last. */
  prober?: string;
  /** When the circuit closed last. */
  closed_at?: string;
}

/** Messages of a user that fail in a wake-up, until the others wait. */
const USER_LIMIT = 3;
/** Users of an account whose messages fail, until its circuit opens. */
const ACCOUNT_LIMIT = 3;
/** Users and accounts whose messages fail within `windowMs`, until the network's circuit opens. */
const NETWORK_LIMIT = { users: 20, accounts: 3, windowMs: 60_000 };
/** Most troubles that are evidence at a time. An account adds at most those of 20 users, so two cannot fill it. */
const MOST_EVIDENCE = 100;
/** Milliseconds for which an account whose probe failed lets others probe: `sweep` wakes them each minute. */
const TURN_MS = 90_000;

const NETWORK = circuitKey(APP_NETWORK_DESTINATION);

export class AppNetworkBreaker implements Breaker {
  /** The name of the account's circuit. */
  readonly #name: string;
  readonly #account: string;
  readonly #user: string;
  /** The circuits when they were read last. */
  #known: { network?: NetworkCircuit | undefined; own?: AccountCircuit | undefined } = {};
  /** What the caller probes. */
  #probes: 'network' | 'account' | undefined;
  /** Failures in a row of this conversation, in this wake-up. */
  #failures = 0;

  constructor(conversation: AnyConversation) {
    this.#name = destinationNameOf(conversation);
    this.#account = crc32(conversation.account).toString(36);
    this.#user = crc32(userOf(conversation)).toString(36);
  }

  /** 1 read unit; 1 write unit for an election. */
  async acquire(): Promise<CircuitState> {
    // Only the user fails, but the messages that follow need not fail one by one.
    if (this.#failures >= USER_LIMIT) return openUntil(endOf(0));
    const [network, own] = await getManyEventual<[NetworkCircuit, AccountCircuit]>([NETWORK, circuitKey(this.#name)]);
    this.#known = { network, own };
    this.#probes = undefined;
    const pause = [network, own]
      .flatMap((circuit) => circuit?.paused_until ?? [])
      .sort()
      .at(-1);
    if (pause !== undefined && pause > sortableTime(now())) return { until: Date.parse(pause), cause: 'rate_limited' };
    const ownEnd = this.#isOutdated ? undefined : own?.open_until;
    if (network?.open_until !== undefined) {
      if (network.open_until > sortableTime(now())) return openUntil(network.open_until);
      // Its own users fail, whatever the network does.
      if (ownEnd !== undefined && ownEnd > sortableTime(now())) return openUntil(ownEnd);
      const turn = Date.parse(network.open_until) + scaled(TURN_MS);
      if (network.prober === this.#account && turn > now()) return openUntil(sortableTime(turn));
      return this.#elect('network', network.open_until);
    }
    if (ownEnd !== undefined) {
      return ownEnd > sortableTime(now()) ? openUntil(ownEnd) : this.#elect('account', ownEnd);
    }
    return this.#isTroubled || isTroubled(network) ? 'degraded' : 'closed';
  }

  /** 2 write units, and 1 for each circuit that opens; 1 for a failed probe of the network. */
  async recordFailure(): Promise<void> {
    this.#failures += 1;
    if (this.#probes === 'network') return this.#extendNetwork();
    if (this.#probes === 'account') {
      await this.#extendOwn();
      return this.#accuse('failed', { isOpen: true });
    }
    const users = await this.#note('failed');
    // Further users of the account prove nothing.
    if (users === undefined) return;
    await this.#accuse('failed', { isOpen: users >= ACCOUNT_LIMIT && (await this.#openOwn(users)) });
  }

  /** Nothing, unless there was trouble before: then 1 write unit for each circuit. */
  async recordSuccess(): Promise<void> {
    this.#failures = 0;
    const { network } = this.#known;
    const probes = this.#probes;
    this.#probes = undefined;
    if (probes === 'network') {
      await clear(APP_NETWORK_DESTINATION, { closed_at: timestamp() });
      logClosed('app', APP_NETWORK_DESTINATION);
      return;
    }
    if (this.#isTroubled) await clear(this.#name);
    if (probes === 'account') logClosed('account', this.#name);
    if (isTroubled(network)) await clear(APP_NETWORK_DESTINATION);
  }

  /** 3 write units. */
  async pause(_circuit: CircuitState, until: number): Promise<void> {
    // The network responds.
    if (this.#probes !== undefined) await this.recordSuccess();
    await setPause(this.#name, until);
    if ((await this.#note('limited')) !== undefined) await this.#accuse('limited', { until });
  }

  /** The app network has as many slots as `deliver`: no customer chooses its time. */
  async recordTime(): Promise<void> {}

  turn(): undefined {}

  /** Whether the account's failures are from before the network's circuit closed. */
  get #isOutdated(): boolean {
    const { network, own } = this.#known;
    return own?.failed_at !== undefined && network?.closed_at !== undefined && own.failed_at < network.closed_at;
  }

  get #isTroubled(): boolean {
    const { failed_users, limited_users, open_until } = this.#known.own ?? {};
    return failed_users !== undefined || limited_users !== undefined || open_until !== undefined;
  }

  /** Removes the account's failures from before the network's circuit closed, unless another worker has done so. */
  async #forgetOutdated(): Promise<void> {
    await update({
      Key: circuitKey(this.#name),
      UpdateExpression: REMOVE_TROUBLES,
      ConditionExpression: 'failed_at = :known',
      ExpressionAttributeValues: { ':known': this.#known.own?.failed_at },
    });
  }

  async #elect(what: 'network' | 'account', until: string): Promise<CircuitState> {
    const name = what === 'network' ? APP_NETWORK_DESTINATION : this.#name;
    const elected = await elect(name, until);
    if (elected === 'half_open') this.#probes = what;
    return elected;
  }

  /** Adds the user to those of the account with a trouble. Returns their number; undefined if enough are known. */
  async #note(trouble: Trouble): Promise<number | undefined> {
    if (this.#isOutdated) await this.#forgetOutdated();
    const add = () =>
      updateAndGet<AccountCircuit>({
        Key: circuitKey(this.#name),
        UpdateExpression: 'ADD #users :user SET expires_at = :end',
        ConditionExpression: `${IS_CURRENT} AND (attribute_not_exists(#users) OR size(#users) < :most)`,
        ExpressionAttributeNames: { '#users': `${trouble}_users` },
        ExpressionAttributeValues: {
          ':user': new Set([this.#user]),
          ':most': NETWORK_LIMIT.users,
          ':end': secondsFromNow(MEMORY),
          ':present': secondsFromNow(0),
        },
      });
    const own = (await add()) ?? (await afterExpired(this.#name, add));
    return own?.[`${trouble}_users`]?.size;
  }

  /** Opens the account's circuit, if it is closed. Returns whether this opened it. */
  async #openOwn(users: number): Promise<boolean> {
    const isOpened = await update({
      Key: circuitKey(this.#name),
      UpdateExpression: 'SET open_until = :until, failures = :users, failed_at = :now, failing_since = :now',
      ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(open_until)',
      ExpressionAttributeValues: { ':until': endOf(0), ':users': users, ':now': timestamp() },
    });
    if (isOpened) logOpened('account', this.#name);
    return isOpened;
  }

  async #extendOwn(): Promise<void> {
    const trials = (this.#known.own?.trials ?? 0) + 1;
    await update({
      Key: circuitKey(this.#name),
      UpdateExpression: 'SET open_until = :until, trials = :trials, failed_at = :now, expires_at = :end',
      ConditionExpression: 'attribute_exists(open_until)',
      ExpressionAttributeValues: {
        ':until': endOf(trials),
        ':trials': trials,
        ':now': timestamp(),
        ':end': secondsFromNow(MEMORY),
      },
    });
  }

  async #extendNetwork(): Promise<void> {
    const trials = (this.#known.network?.trials ?? 0) + 1;
    await update({
      Key: NETWORK,
      UpdateExpression: 'SET open_until = :until, trials = :trials, prober = :account, expires_at = :end',
      ConditionExpression: 'attribute_exists(open_until)',
      ExpressionAttributeValues: {
        ':until': endOf(trials),
        ':trials': trials,
        ':account': this.#account,
        ':end': secondsFromNow(MEMORY),
      },
    });
  }

  /**
   * Adds evidence against the network, and opens its circuit or pauses it if there is enough.
   *
   * @param isOpen - whether the account's circuit has opened, or its probe has failed
   */
  async #accuse(trouble: Trouble, { isOpen = false, until }: { isOpen?: boolean; until?: number }): Promise<void> {
    const add = () =>
      updateAndGet<NetworkCircuit>({
        Key: NETWORK,
        UpdateExpression: `ADD evidence :this SET expires_at = :end${isOpen ? ', suspected_since = if_not_exists(suspected_since, :now)' : ''}`,
        ConditionExpression: `${IS_CURRENT} AND (attribute_not_exists(evidence) OR size(evidence) < :most)`,
        ExpressionAttributeValues: {
          ':this': new Set([encodeTrouble({ trouble, time: now(), account: this.#account, user: this.#user })]),
          ':most': MOST_EVIDENCE,
          ':end': secondsFromNow(MEMORY),
          ':present': secondsFromNow(0),
          ...(isOpen && { ':now': timestamp() }),
        },
      });
    const network =
      (await add()) ??
      (await afterExpired(APP_NETWORK_DESTINATION, add)) ??
      ((await forgetOld()) ? await add() : undefined);
    const spread = spreadOf(network?.evidence, trouble);
    if (spread.users < NETWORK_LIMIT.users || spread.accounts < NETWORK_LIMIT.accounts) return;
    if (until !== undefined) return setPause(APP_NETWORK_DESTINATION, until);
    const isOpened = await update({
      Key: NETWORK,
      UpdateExpression: 'SET open_until = :until, failures = :users, failing_since = :now',
      ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(open_until)',
      ExpressionAttributeValues: { ':until': endOf(0), ':users': spread.users, ':now': timestamp() },
    });
    if (isOpened) logOpened('app', APP_NETWORK_DESTINATION);
  }
}

/**
 * Whether the app network fails, as far as messages tell: its circuit is open, or that of an account is, and no account has
 * had a success since. 0.5 read units.
 */
export const isAppNetworkFailing = async (): Promise<boolean> => {
  const { open_until, suspected_since } = (await getEventual<NetworkCircuit>(NETWORK)) ?? {};
  return open_until !== undefined || suspected_since !== undefined;
};

const openUntil = (time: string): Open => ({ until: withJitter(Date.parse(time)), cause: 'circuit_open' });

/** The end of an open period that begins now, after so many failed probes. */
const endOf = (trials: number): string => sortableTime(now() + periodAfter(trials));

/** Whether a success changes the network's circuit. */
const isTroubled = (network: NetworkCircuit | undefined): boolean => {
  if (network?.suspected_since !== undefined) return true;
  return (['failed', 'limited'] as const).some((trouble) => spreadOf(network?.evidence, trouble).users > 0);
};

const REMOVE_TROUBLES =
  'REMOVE failed_users, limited_users, evidence, suspected_since, prober, failures, trials, open_until, election, failed_at, failing_since';

/** Removes everything but a pause. */
const clear = async (name: string, { closed_at }: { closed_at?: string } = {}): Promise<void> => {
  await update({
    Key: circuitKey(name),
    UpdateExpression: `${REMOVE_TROUBLES}${closed_at === undefined ? '' : ' SET closed_at = :closed'}`,
    ConditionExpression: 'attribute_exists(pk)',
    ...(closed_at !== undefined && { ExpressionAttributeValues: { ':closed': closed_at } }),
  });
};

/** A trouble as evidence. */
interface Evidence {
  trouble: Trouble;
  /** Milliseconds since 1970. */
  time: number;
  account: string;
  user: string;
}

const encodeTrouble = ({ trouble, time, account, user }: Evidence): string =>
  [trouble, time.toString(36), account, user].join(' ');

const isOld = (evidence: string): boolean =>
  Number.parseInt(evidence.split(' ')[1] ?? '', 36) <= now() - scaled(NETWORK_LIMIT.windowMs);

/** Over how many users and accounts the recent evidence of a trouble is spread. */
const spreadOf = (evidence: Set<string> = new Set(), trouble: Trouble): { users: number; accounts: number } => {
  const recent = [...evidence]
    .filter((each) => each.startsWith(trouble) && !isOld(each))
    .map((each) => each.split(' '));
  return {
    users: new Set(recent.map(([, , account, user]) => `${account} ${user}`)).size,
    accounts: new Set(recent.map(([, , account]) => account)).size,
  };
};

/** Removes old evidence. Returns whether there was some. */
const forgetOld = async (): Promise<boolean> => {
  const { evidence = new Set<string>() } = (await getConsistent<NetworkCircuit>(NETWORK)) ?? {};
  const old = [...evidence].filter(isOld);
  if (old.length === 0) return false;
  return update({
    Key: NETWORK,
    UpdateExpression: 'DELETE evidence :old',
    ConditionExpression: 'attribute_exists(pk)',
    ExpressionAttributeValues: { ':old': new Set(old) },
  });
};

const logOpened = (direction: 'app' | 'account', destination: string): void =>
  measure('warn', 'circuit opened', { direction, destination, circuits_opened: 1 });

const logClosed = (direction: 'app' | 'account', destination: string): void =>
  measure('info', 'circuit closed', { direction, destination, circuits_closed: 1 });
