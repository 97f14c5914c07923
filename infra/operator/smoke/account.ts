/** The temporary account of a smoke test, and its tokens. */
import { now } from '../../../shared/core/clock.ts';
import { createAccount, UserError } from '../queries/accounts-admin.ts';
import { isEmpty, personalDataOf } from '../queries/personal-data-export.ts';
import { issueAppNetworkToken, issueToken } from '../queries/tokens-admin.ts';
import type { Tokens } from './day.ts';
import { ACCOUNT_NAME, API_PERMISSIONS, type Run, TOKEN_LABEL } from './run.ts';

/** Milliseconds after which the tokens expire, even if nobody removes them. */
const LIFETIME = 3_600_000;

/**
 * Creates the account with its bot's number, and issues tokens: one like a customer's, one for chat platforms, and one of
 * the app network. The account keeps the record of all three.
 */
export const createTemporaryAccount = async ({ account, bot }: Run): Promise<Tokens> => {
  await createAccount({ name: ACCOUNT_NAME, id: account, bot_number: bot });
  const draft = { label: TOKEN_LABEL, expires: now() + LIFETIME };
  const [api, bridge, app] = await Promise.all([
    issueToken(account, { ...draft, permissions: [...API_PERMISSIONS] }),
    issueToken(account, { ...draft, permissions: ['bridge'] }),
    issueAppNetworkToken(account, draft),
  ]);
  return { api: api.token, bridge: bridge.token, app: app.token };
};

/**
 * Checks that nothing is known of the user, because the test erases the user at its end.
 *
 * @throws UserError — there is data about the number
 */
export const requireStranger = async (phone: string): Promise<void> => {
  if (isEmpty(await personalDataOf(phone))) return;
  throw new UserError(
    'There is data about this number. The test erases its user at the end: choose a number without data. "user erase" shows what there is.',
  );
};
