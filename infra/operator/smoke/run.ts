/** The names of all that one smoke test creates. They derive from its id, so that another process can remove the rest. */
import { randomBytes } from 'node:crypto';
import { newId } from '../../../shared/core/ids.ts';
import { UserError } from '../queries/accounts-admin.ts';

/** The prefix of temporary accounts. The role of the deployment may write no others. */
const ACCOUNT_PREFIX = 'smoke-';

/**
 * The prefixes of temporary numbers. No country has the country code 999 (ITU-T, "List of ITU-T Recommendation E.164
 * assigned country codes"), so nobody's phone has one of these numbers.
 */
const NUMBER_PREFIX = { user: '9990', bot: '9991' };

/** Events of the app network that the test sends, in their order. The id of each consists of the account and this name. */
const EVENTS = [
  'registered',
  'text-delivered',
  'text-read',
  'rapidpro',
  'turn',
  'wrote',
  'answered',
  'removed',
] as const;

export type EventName = (typeof EVENTS)[number];

export interface Run {
  /** Eight hexadecimal digits. */
  id: string;
  account: string;
  /** The number of the user. */
  user: string;
  /** The number of the account's bot. */
  bot: string;
  /** The job of the messages that the API sends. */
  job: string;
}

const ID = /^[0-9a-f]{8}$/;

/**
 * A new run.
 *
 * @param user - a number for the user, instead of one that nobody has
 */
export const newRun = (user?: string): Run => runOf(randomBytes(4).toString('hex'), user);

/**
 * The run with this id.
 *
 * @throws UserError — it is not the id of a run
 */
export const runOf = (id: string, user?: string): Run => {
  if (!ID.test(id)) throw new UserError(`"${id}" is not the id of a smoke test: it has 8 hexadecimal digits.`);
  const number = String(Number.parseInt(id, 16)).padStart(10, '0');
  return {
    id,
    account: `${ACCOUNT_PREFIX}${id}`,
    user: user ?? `${NUMBER_PREFIX.user}${number}`,
    bot: `${NUMBER_PREFIX.bot}${number}`,
    job: newId(),
  };
};

/** The id of an event of the app network. */
export const eventIdOf = ({ account }: Run, name: EventName): string => `${account} ${name}`;

/** The ids of all events that the test sends. */
export const eventIdsOf = (run: Run): string[] => EVENTS.map((name) => eventIdOf(run, name));

/** The texts that the user writes. */
export const USER_TEXTS = {
  app: 'Written in the app',
  test: 'Written as a test',
  rapidpro: 'Hi, RapidPro',
  turn: 'Hi, Turn',
};

/** The idempotency keys of the messages that the API sends. */
export const IDEMPOTENCY_KEYS = ['text', 'image'] as const;

export type IdempotencyKey = (typeof IDEMPOTENCY_KEYS)[number];

/** The name of temporary accounts. */
export const ACCOUNT_NAME = 'Smoke test';

/** The permissions of the temporary token that is like a customer's. */
export const API_PERMISSIONS = ['profilers', 'stats', 'user_data', 'messages', 'contacts', 'account'] as const;

/** The label of the temporary tokens. */
export const TOKEN_LABEL = 'smoke test';
