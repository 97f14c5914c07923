/**
 * Daily allowances: how much an account may ask for on a day (UTC). Each use is charged before the work is done, so that
 * neither a failure of the work nor requests at the same time exceed the allowance.
 */
import { now, sortableTime, timestampOf } from '../core/clock.ts';
import { newId } from '../core/ids.ts';
import { Problem } from '../core/problems.ts';
import { audienceAllowance, contactAllowance } from '../core/settings.ts';
import { getConsistent, getEventual, tryUpdate } from '../table/client.ts';
import type { Key } from '../table/keys.ts';
import { allowanceKey } from './entities.ts';

/** The allowances, with their daily limits and the names of their units. */
const allowances = {
  contacts: { limit: contactAllowance, units: 'phone numbers' },
  audiences: { limit: audienceAllowance, units: 'audiences' },
} as const;

type AllowanceName = keyof typeof allowances;

interface AllowanceItem extends Key {
  used: number;
  /** Id of the last charge. */
  last: string;
  expires_at: number;
}

/** An allowance of an account today. */
export interface Allowance {
  limit: number;
  used: number;
  /** When the day ends. */
  resets_at: string;
}

const DAY_MS = 86_400_000;
/** Seconds that a counter outlives its day. */
const TTL_S = 86_400;

/** The present day, and its end in milliseconds since 1970. */
const today = (): { day: string; end: number } => {
  const present = now();
  return { day: sortableTime(present).slice(0, 10), end: (Math.floor(present / DAY_MS) + 1) * DAY_MS };
};

/**
 * Charges an allowance of an account. 1 write unit, also for a rejected request. If DynamoDB's response is lost, the
 * client's retry finds its own charge, unless there was another one in between: then it charges again.
 *
 * @throws allowance_exceeded — less is left than `amount`: nothing is charged
 */
export const chargeAllowance = async (account: string, name: AllowanceName, amount: number): Promise<void> => {
  const { day, end } = today();
  const limit = allowances[name].limit();
  if (amount > limit) throw allowanceExceeded(name, `this request has ${amount}`);
  const charge = newId();
  const { isDone, item } = await tryUpdate({
    Key: allowanceKey(account, name, day),
    UpdateExpression: 'ADD used :amount SET #last = :charge, expires_at = :expires',
    ConditionExpression: 'attribute_not_exists(used) OR (used <= :most AND #last <> :charge)',
    ExpressionAttributeNames: { '#last': 'last' },
    ExpressionAttributeValues: {
      ':amount': amount,
      ':most': limit - amount,
      ':charge': charge,
      ':expires': end / 1_000 + TTL_S,
    },
  });
  if (isDone || item?.last === charge) return;
  throw allowanceExceeded(name, leftOf(limit, item?.used));
};

/**
 * Checks that an account may still be told that so many numbers are unknown, before it is told anything. With
 * `chargeUnknown`, requests can be charged by what they are told: a request that reads nothing reveals nothing. 1 read unit.
 *
 * @throws allowance_exceeded — less is left
 */
export const requireContacts = async (account: string, amount: number): Promise<void> => {
  const limit = contactAllowance();
  const { used = 0 } = (await getConsistent<AllowanceItem>(allowanceKey(account, 'contacts', today().day))) ?? {};
  if (used + amount > limit) throw allowanceExceeded('contacts', leftOf(limit, used));
};

/**
 * Charges the numbers that an account is told to be unknown, before it is told. Numbers that are known cost nothing. If
 * requests at the same time have used up the allowance since `requireContacts`, nothing is told. 1 write unit, none without
 * a number.
 *
 * @throws allowance_exceeded — less is left
 */
export const chargeUnknown = async (account: string, amount: number): Promise<void> => {
  if (amount > 0) await chargeAllowance(account, 'contacts', amount);
};

const leftOf = (limit: number, used: unknown): string => `${Math.max(limit - Number(used), 0)} are left`;

const allowanceExceeded = (name: AllowanceName, left: string): Problem => {
  const { end } = today();
  return new Problem(
    'allowance_exceeded',
    `Your account may ask for ${allowances[name].limit()} ${allowances[name].units} a day, and ${left}. The allowance is full again at ${timestampOf(end)} (UTC).`,
    { retryAfter: Math.max(1, Math.ceil((end - now()) / 1_000)) },
  );
};

/** The allowances of an account today. Eventually consistent. 0.5 read units each. */
export const allowancesOf = async (account: string): Promise<Record<AllowanceName, Allowance>> => {
  const { day, end } = today();
  const allowanceOf = async (name: AllowanceName): Promise<Allowance> => {
    const { used = 0 } = (await getEventual<AllowanceItem>(allowanceKey(account, name, day))) ?? {};
    return { limit: allowances[name].limit(), used, resets_at: timestampOf(end) };
  };
  const [contacts, audiences] = await Promise.all([allowanceOf('contacts'), allowanceOf('audiences')]);
  return { contacts, audiences };
};
