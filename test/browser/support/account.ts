/** Accounts that a test has for itself: what it changes concerns no other test. */
import { randomInt } from 'node:crypto';
import { callTableOf } from '../../../infra/operator/local-stack/call-table.ts';
import { createAccount } from '../../../infra/operator/queries/accounts-admin.ts';
import { issuePortalCode } from '../../../infra/operator/queries/portal-codes.ts';
import { issueToken } from '../../../infra/operator/queries/tokens-admin.ts';
import type { Permission } from '../../../shared/core/permissions.ts';
import { stack } from './browser.ts';

const useTable = (): void => void callTableOf({ dynamodbEndpoint: stack.dynamodb_endpoint, table: stack.table });

/** The code of a link with which a person of an account signs in to the portal. */
export const newCode = async (account: string, ...permissions: Permission[]): Promise<string> => {
  useTable();
  return (await issuePortalCode({ account, label: 'Ben', permissions })).code;
};

/** A new account with a bot and a token. */
export const newAccount = async (...permissions: Permission[]): Promise<{ id: string; bot: string; token: string }> => {
  useTable();
  const bot = `4477008${randomInt(10_000, 100_000)}`;
  const { id } = await createAccount({ name: `Clinic ${bot}`, bot_number: bot });
  return { id, bot, token: (await issueToken(id, { label: 'Of a test', permissions })).token };
};

/** A user writes to a bot. The token needs the permission `bridge`. */
export const writeTo = async (bot: string, from: string, token: string): Promise<void> => {
  const response = await fetch(`${stack.bridge_url}/webhook/${bot}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ message: { type: 'text', from, text: { body: 'Hello' } } }),
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
};
