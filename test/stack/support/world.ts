/** New accounts, tokens and panelists for each test, so that tests do not affect each other. */
import { randomInt, randomUUID } from 'node:crypto';
import { type AccountPlatform, createAccount, updateAccount } from '../../../infra/operator/queries/accounts-admin.ts';
import { issueToken } from '../../../infra/operator/queries/tokens-admin.ts';
import { registerUser } from '../../../infra/operator/queries/users-admin.ts';
import type { Author } from '../../../shared/accounts/history.ts';
import { timestampOf } from '../../../shared/core/clock.ts';
import { newUnguessableId } from '../../../shared/core/ids.ts';
import { APP_NETWORK, type Permission } from '../../../shared/core/permissions.ts';
import { mediaKey, ofMediaOwner } from '../../../shared/media/entities.ts';
import type { MediaItem } from '../../../shared/media/media.ts';
import { putIfAbsent } from '../../../shared/table/client.ts';
import { UNLIMITED } from '../../support/unlimited.ts';

export interface Caller {
  account: string;
  token: string;
  tokenId: string;
}

/** A new id of an account. */
export const newAccountId = (): string => `test-${randomUUID().slice(0, 30)}`.replace(/-$/, '');

/** The id of a new account with a bot. */
export const newAccount = async (): Promise<string> =>
  (await createAccount({ name: 'Test', id: newAccountId(), bot_number: newPhone() })).id;

/** A new account with a bot, on a platform if one is given, and the phone number of a user. */
export const newBusiness = async (
  platform?: AccountPlatform,
): Promise<{ account: string; bot: string; phone: string }> => {
  const bot = newPhone();
  const { id: account } = await createAccount({ name: 'Test', id: newAccountId(), bot_number: bot });
  if (platform) await updateAccount(account, { platform });
  return { account, bot, phone: newPhone() };
};

/** A new account with a token. With the permission `app`, the account is always the app network's. */
export const newCaller = async (...permissions: Permission[]): Promise<Caller> => {
  const account = permissions.includes('app') ? APP_NETWORK : newAccountId();
  if (account !== APP_NETWORK)
    await createAccount({ name: 'Test account', id: account, bot_number: newPhone(), ...UNLIMITED });
  const { token, record } = await issueToken(account, { label: 'test', permissions });
  return { account, token, tokenId: record.id };
};

/** Whoever changes an account, without a token. */
export const authorOf = (account: string): Author => ({ account, token: 'token-1', label: 'test' });

/** A new account with the permission for profilers. */
export const newVendor = (): Promise<Caller> => newCaller('profilers');

/** A new random phone number. */
export const newPhone = (): string => `999${randomInt(1e11, 9e11)}`;

/** New random phone numbers. */
export const newPhones = (count: number): string[] => Array.from({ length: count }, newPhone);

/** Registers a panelist and returns the number. */
export const newPanelist = async (): Promise<string> => {
  const phone = newPhone();
  await registerUser({ phone_number: phone, panelist: true });
  return phone;
};

/**
 * The id of an image that an account can send, for a day or the given milliseconds. Its URL does not work, because the
 * image is in no bucket.
 */
export const newMedia = async (account: string, lifetimeMs = 86_400_000): Promise<string> => {
  const id = newUnguessableId();
  const created = timestampOf(Date.now());
  const item: MediaItem = {
    ...mediaKey(id),
    account,
    type: 'image/png',
    size: 1,
    sha256: '',
    bucket: '',
    created,
    until: timestampOf(Date.now() + lifetimeMs),
    expires_at: Math.ceil(Date.now() / 1_000) + 86_400,
    ...ofMediaOwner(account, { created, id }),
  };
  await putIfAbsent(item);
  return id;
};
