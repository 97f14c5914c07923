/** Changes of an account that are safe beside other changes at the same time. */
import { updateWrite, type Write } from '../table/transactions.ts';
import type { Account, AccountItem } from './accounts.ts';

/** An attribute that a change may remove, with `null`. */
type Removable =
  | 'platform'
  | 'endpoints'
  | 'bot_number'
  | 'rate'
  | 'burst'
  | 'suspended'
  | 'pending_name'
  | 'avatar'
  | 'sending_hours'
  | 'opt_out_keywords';

/** The attributes of an account's item that change; `null` removes one. */
export type AccountAttributes = Pick<Partial<AccountItem>, 'name' | 'announced' | 'name_decisions'> & {
  [Name in Removable]?: NonNullable<Account[Name]> | null;
};

/**
 * Changes attributes of an account, in a transaction that fails if the account has changed since it was read. 2 write
 * units.
 */
export const accountChangeWrite = ({ pk, sk, version }: AccountItem, attributes: AccountAttributes): Write => {
  const given = Object.entries(attributes);
  const set = given.filter(([, value]) => value !== null);
  const removed = given.filter(([, value]) => value === null);
  return updateWrite({
    Key: { pk, sk },
    UpdateExpression: [
      'ADD #version :one',
      ...(set.length > 0 ? [`SET ${set.map(([name]) => `#${name} = :${name}`).join(', ')}`] : []),
      ...(removed.length > 0 ? [`REMOVE ${removed.map(([name]) => `#${name}`).join(', ')}`] : []),
    ].join(' '),
    ConditionExpression: `attribute_exists(pk) AND ${version === undefined ? 'attribute_not_exists(#version)' : '#version = :version'}`,
    ExpressionAttributeNames: {
      '#version': 'version',
      ...Object.fromEntries(given.map(([name]) => [`#${name}`, name])),
    },
    ExpressionAttributeValues: {
      ':one': 1,
      ...(version !== undefined && { ':version': version }),
      ...Object.fromEntries(set.map(([name, value]) => [`:${name}`, value])),
    },
  });
};
