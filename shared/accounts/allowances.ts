/**
 * Daily allowances: how much an account may ask for on a day (UTC). Each use is charged before the work is done, so that
 * neither a failure of the work nor requests at the same time exceed the allowance.
 */
import { now, sortableTime, timestampOf } from '../core/clock.ts';
import { newId } from '../core/ids.ts';
import { Problem } from '../core/problems.ts';
import { audienceAllowance, contactAllowance } from '../core/settings.ts';
import { getEventual, updateOrExisting } from '../table/client.ts';
import type { Key } from '../table/keys.ts';
import { allowanceKey } from '../table/people-keys.ts';

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
const KEPT = 86_400;

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
  const { units } = allowances[name];
  const limit = allowances[name].limit();
  const rejection = (left: string): Problem =>
    new Problem(
      'allowance_exceeded',
      `Your account may ask for ${limit} ${units} a day, and ${left}. The allowance is full again at ${timestampOf(end)} (UTC).`,
      { retryAfter: Math.max(1, Math.ceil((end - now()) / 1_000)) },
    );
  if (amount > limit) throw rejection(`this request has ${amount}`);
  const charge = newId();
  const present = await updateOrExisting({
    Key: allowanceKey(account, name, day),
    UpdateExpression: 'ADD used :amount SET #last = :charge, expires_at = :expires',
    ConditionExpression: 'attribute_not_exists(used) OR (used <= :most AND #last <> :charge)',
    ExpressionAttributeNames: { '#last': 'last' },
    ExpressionAttributeValues: {
      ':amount': amount,
      ':most': limit - amount,
      ':charge': charge,
      ':expires': end / 1_000 + KEPT,
    },
  });
  if (present === undefined || present.last === charge) return;
  throw rejection(`${Math.max(limit - Number(present.used), 0)} are left`);
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
