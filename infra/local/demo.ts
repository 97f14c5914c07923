/** Something to begin with: a demo account with its token and bot, the app network's token, a panelist. */
import { createAccount, issueToken, listAccounts } from '../../shared/accounts.ts';
import { APP_NETWORK, permissions } from '../../shared/permissions.ts';
import { registerUser } from '../../shared/users.ts';

export interface Demo {
  token: string;
  app_token: string;
  bot_phone_number: string;
  panelist: string;
}

const ACCOUNT = { id: 'demo', name: 'Demo', bot_number: '447700900000' };
const PANELIST = '447700900001';

/** Fills the table that the environment names. Where the demo account is there already, it gets new tokens. */
export const seedDemo = async (): Promise<Demo> => {
  const accounts = await listAccounts();
  if (!accounts.some(({ id }) => id === ACCOUNT.id)) await createAccount(ACCOUNT);
  const everything = permissions.filter((permission) => permission !== 'app');
  const [demo, app] = await Promise.all([
    issueToken(ACCOUNT.id, { label: 'npm start', permissions: everything }),
    issueToken(APP_NETWORK, { label: 'npm start', permissions: ['app'] }),
    registerUser({ phone_number: PANELIST, panelist: true }),
  ]);
  return {
    token: demo.token,
    app_token: app.token,
    bot_phone_number: ACCOUNT.bot_number,
    panelist: PANELIST,
  };
};
