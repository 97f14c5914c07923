/** Data for scenarios: an account, users and log entries. */
import { randomBytes } from 'node:crypto';
import { type AccountPlatform, createAccount, updateAccount } from '../../../infra/operator/queries/accounts-admin.ts';
import type { LogItem } from '../../../shared/messaging/message.ts';
import { messageKey } from '../../../shared/table/keys.ts';
import { updateUser } from '../../../shared/users/users.ts';
import { newAccountId, newPhone } from '../support/world.ts';
import { itemsInTable } from './table.ts';

/** The URL of the destination that receives all posts. */
export const posts = { url: '' };

/** A new account with a bot and a platform, by default a plain webhook, and the phone number of a user. */
export const newBusiness = async (
  platform: AccountPlatform = { name: 'webhook', settings: { url: posts.url, secret: newSecret() } },
): Promise<{ account: string; bot: string; phone: string }> => {
  const bot = newPhone();
  const { id: account } = await createAccount({ name: 'Test', id: newAccountId(), bot_number: bot });
  await updateAccount(account, { platform });
  return { account, bot, phone: newPhone() };
};

/** A signing secret of Standard Webhooks. */
export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/** The phone number of a new user with a name and a device make. */
export const newUser = async (): Promise<string> => {
  const phone = newPhone();
  const property = (value: string) => ({ value, source: 'self' });
  await updateUser('registered', {
    phone_number: phone,
    properties: { first_name: property('Ben'), last_name: property('Bo'), device_make: property('Acme') },
  });
  return phone;
};

export const textTo = (to: string) => ({ to, type: 'text' as const, text: { body: 'Hello' } });

/** All log entries of the table, as the stream contains them. */
export const entriesOfLog = async (): Promise<LogItem[]> => {
  const items = await itemsInTable();
  return items.filter(({ pk }) => pk.startsWith(messageKey('').pk)) as unknown as LogItem[];
};
