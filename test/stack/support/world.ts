/** Accounts, tokens and panelists for tests: new ones for each, so that no test sees another's. */
import { randomInt, randomUUID } from 'node:crypto';
import { createAccount, issueToken } from '../../../shared/accounts.ts';
import { APP_NETWORK, type Permission } from '../../../shared/permissions.ts';
import { registerUser } from '../../../shared/users.ts';

export interface Caller {
  account: string;
  token: string;
  tokenId: string;
}

/** An account's id that no other test uses. */
export const newAccountId = (): string => `test-${randomUUID().slice(0, 30)}`.replace(/-$/, '');

/** A new account with a token. The permission `app` has one account alone. */
export const newCaller = async (...permissions: Permission[]): Promise<Caller> => {
  const account = permissions.includes('app') ? APP_NETWORK : newAccountId();
  if (account !== APP_NETWORK) await createAccount({ name: 'Test account', id: account, bot_number: newPhone() });
  const { token, record } = await issueToken(account, { label: 'test', permissions });
  return { account, token, tokenId: record.id };
};

/** A vendor: an account that may use profilers. */
export const newVendor = (): Promise<Caller> => newCaller('profilers');

/** A number that no other test uses. */
export const newPhone = (): string => `999${randomInt(1e11, 9e11)}`;

/** A registered panelist's number. */
export const newPanelist = async (): Promise<string> => {
  const phone = newPhone();
  await registerUser({ phone_number: phone, panelist: true });
  return phone;
};
