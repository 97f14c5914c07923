/** What there is before a handler is called: a business, users, and what has gone on between them. */
import { randomBytes } from 'node:crypto';
import { type AccountPlatform, createAccount, updateAccount } from '../../../infra/operator/queries/accounts-admin.ts';
import type { LogItem } from '../../../shared/messaging/message.ts';
import { messageKey } from '../../../shared/table/keys.ts';
import { updateUser } from '../../../shared/users/users.ts';
import { newAccountId, newPhone } from '../support/world.ts';
import { itemsInTable } from './table.ts';

/** Where everything is posted to. */
export const posts = { url: '' };

/** An account with a bot and a platform, a plain webhook unless another is given; and a user's number. */
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

/** The number of a user who has a name and a phone of some make. */
export const newUser = async (): Promise<string> => {
  const phone = newPhone();
  const said = (value: string) => ({ value, source: 'self' });
  await updateUser('registered', {
    phone_number: phone,
    properties: { first_name: said('Ben'), last_name: said('Bo'), device_make: said('Acme') },
  });
  return phone;
};

export const textTo = (to: string) => ({ to, type: 'text' as const, text: { body: 'Hello' } });

/** All log entries, as the stream brings them. */
export const entriesOfLog = async (): Promise<LogItem[]> => {
  const items = await itemsInTable();
  return items.filter(({ pk }) => pk.startsWith(messageKey('').pk)) as unknown as LogItem[];
};
