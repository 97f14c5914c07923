/**
 * The name and the avatar by which users see a business, and the settings that it changes itself. The app network is notified of
 * each change of the first two.
 */

import { isDeepStrictEqual } from 'node:util';
import { invalidRequest, Problem } from '../core/problems.ts';
import { approveNames } from '../core/settings.ts';
import { avatarObject } from '../media/media.ts';
import { getObject } from '../media/object-store.ts';
import { type After, enqueueWrites, transactInOrder } from '../outbox/entries.ts';
import type { OutboxEvent } from '../outbox/event.ts';
import { getConsistent } from '../table/client.ts';
import { putWrite, transact, type Write } from '../table/transactions.ts';
import { log } from '../telemetry/log.ts';
import { measure } from '../telemetry/metrics.ts';
import { type AccountAttributes, accountChangeWrite } from './account-change.ts';
import { type Account, type AccountItem, toAccount } from './accounts.ts';
import { accountKey, accountListKey } from './entities.ts';
import { type Author, historyWrite } from './history.ts';

/**
 * The writes that notify the app network of an account's name and avatar; none without a bot, which users would see. 4
 * write units.
 *
 * @param after - the id of the entry that it follows, for `transactInOrder`
 */
export const announcementWrites = (
  {
    id: account,
    name,
    bot_number: bot,
    avatar,
  }: Pick<Account, 'id' | 'name' | 'bot_number'> & Pick<AccountAttributes, 'avatar'>,
  after: After,
): Write[] => {
  if (bot === undefined) return [];
  const outgoing: OutboxEvent = {
    type: 'account.updated',
    account,
    bot,
    name,
    avatar: avatar?.id ?? null,
  };
  return enqueueWrites({ direction: 'app', account, phone: '' }, outgoing, after);
};

/**
 * Changes the profile of an account in one transaction, which also notifies the app network. 1 read unit and 6 write
 * units, and those of `more`.
 *
 * @param change - returns the new name or avatar for the present account, `null` for none; undefined if nothing changes
 * @param more - returns further writes for the present account
 */
export const changeProfile = async (
  account: string,
  change: (present: Account) => Pick<AccountAttributes, 'name' | 'avatar'> | undefined,
  more: (present: Account) => Write[],
): Promise<Account> => {
  for (;;) {
    const item = await getConsistent<AccountItem>(accountKey(account));
    if (item === undefined) throw new Error('The account does not exist.');
    const present = toAccount(item);
    const changed = change(present);
    if (changed === undefined) return present;
    const failed = await transactInOrder((after) => [
      accountChangeWrite(item, { ...changed, announced: true }),
      ...more(present),
      ...announcementWrites({ ...present, ...changed }, after),
    ]);
    if (failed.length === 0) {
      measure('info', 'accepted', { type: 'account.updated', account, accepted: 1 });
      return present;
    }
    // The account was changed in the meantime: read again.
  }
};

/** The settings that a business changes itself. */
type OwnSettings = Pick<Account, 'sending_hours' | 'opt_out_keywords'>;

/** What a business changes of its account; `null` removes a setting. */
export type ProfileChange = { name?: string | undefined } & {
  [Setting in keyof OwnSettings]?: OwnSettings[Setting] | null | undefined;
};

/**
 * Changes the name of an account, as `rename`, and its settings. 1 read unit, and 2 write units in a transaction for the
 * settings.
 *
 * @returns the names, and the settings that were given
 * @throws invalid_request — nothing is given
 */
export const changeAccount = async (by: Author, { name, ...settings }: ProfileChange): Promise<Names & OwnSettings> => {
  const given = Object.entries(settings).filter(([, setting]) => setting !== undefined);
  if (given.length === 0) {
    if (name === undefined) throw invalidRequest([{ pointer: '#/name', detail: 'is required' }]);
    return rename(by, name);
  }
  const { name: present, pending_name } = await changeSettings(by, Object.fromEntries(given));
  const names = { name: present, ...(pending_name !== undefined && { pending_name }) };
  return {
    ...(name === undefined ? names : await rename(by, name)),
    ...Object.fromEntries(given.filter(([, setting]) => setting !== null)),
  };
};

const changeSettings = async (by: Author, settings: AccountAttributes): Promise<Account> => {
  for (;;) {
    const item = await getConsistent<AccountItem>(accountKey(by.account));
    if (item === undefined) throw new Error('The account does not exist.');
    const present = toAccount(item);
    const given = Object.entries(settings);
    if (given.every(([name, setting]) => isDeepStrictEqual(Reflect.get(item, name) ?? null, setting))) return present;
    const record = historyWrite(by, { type: 'account.updated', fields: given.map(([field]) => field) });
    if ((await transact([accountChangeWrite(item, settings), record])).length === 0) return present;
    // The account was changed in the meantime: read again.
  }
};

/** The names of an account: the one that users see, and one that waits for an operator's decision. */
interface Names {
  name: string;
  pending_name?: string;
}

/**
 * Changes the name of an account, or asks for the change: until an operator approves it, users see the present name. For
 * anybody could otherwise ask users for personal data in the name of another business. The present name withdraws a
 * pending one. 1 read unit, and 6 write units in one transaction; 10 without approval.
 *
 * @internal Tests use it, too.
 */
export const rename = async (by: Author, name: string): Promise<Names> => {
  const { account } = by;
  const record = () => historyWrite(by, { type: 'account.updated', fields: ['name'] });
  if (!approveNames()) {
    await changeProfile(
      account,
      (present) => (present.name === name ? undefined : { name }),
      () => [putWrite({ ...accountListKey(account), id: account, name }), record()],
    );
    return { name };
  }
  for (;;) {
    const item = await getConsistent<AccountItem>(accountKey(account));
    if (item === undefined) throw new Error('The account does not exist.');
    const wanted = item.name === name ? undefined : name;
    const names = { name: item.name, ...(wanted !== undefined && { pending_name: wanted }) };
    if (item.pending_name === wanted) return names;
    const failed = await transact([
      accountChangeWrite(item, { pending_name: wanted ?? null }),
      putWrite({ ...accountListKey(account), id: account, ...names }),
      record(),
    ]);
    if (failed.length === 0) {
      if (wanted !== undefined) log('info', 'name requested', { account });
      return names;
    }
    // The account was changed in the meantime: read again.
  }
};

/**
 * The bytes of an account's avatar, with their media type. 1 read unit and a read of the bucket.
 *
 * @throws avatar_not_set — the account has none, or an operator has deleted it
 */
export const readAvatar = async (account: string): Promise<{ bytes: Uint8Array<ArrayBuffer>; type: string }> => {
  for (let last: string | undefined; ; ) {
    const { avatar } = (await getConsistent<AccountItem>(accountKey(account))) ?? {};
    // If the bytes are missing, the avatar was replaced since it was read, or it was deleted.
    if (avatar === undefined || avatar.id === last) {
      throw new Problem('avatar_not_set', 'Your account has no avatar. Set one with PUT /v1/avatar.');
    }
    const bytes = await getObject(avatarObject(avatar.id));
    if (bytes !== undefined) return { bytes, type: avatar.type };
    last = avatar.id;
  }
};
