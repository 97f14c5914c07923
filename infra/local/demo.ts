/**
 * The demo data: two accounts, one on RapidPro and one on Turn, each with a bot that replies; a token, the app
 * network's token, and a panelist.
 */
import { newId } from '../../shared/core/ids.ts';
import { APP_NETWORK, permissions } from '../../shared/core/permissions.ts';
import { updateUser } from '../../shared/users/users.ts';
import { createAccount, listAccounts, updateAccount } from '../operator/queries/accounts-admin.ts';
import { issueToken } from '../operator/queries/tokens-admin.ts';
import type { Simulators } from './simulators/simulators.ts';

export interface Demo {
  token: string;
  app_token: string;
  /** The bot of the token's account, on RapidPro. */
  bot_phone_number: string;
  /** The bot of the other demo account, on Turn. */
  turn_bot_phone_number: string;
  panelist: string;
}

/** A demo account, with its bot. */
export interface DemoBot {
  id: string;
  name: string;
  number: string;
  platform: string;
}

const RAPIDPRO = { id: 'demo', name: 'Demo', bot_number: '447700900000' };
const TURN = { id: 'demo-turn', name: 'Demo on Turn', bot_number: '447700900010' };
const PANELIST = '447700900001';

/** The panelist's profile, as the app reports it. */
const PROFILE = {
  first_name: { value: 'Thandi', source: 'user' },
  last_name: { value: 'Example', source: 'user' },
  citizenship: { value: 'South Africa', source: 'user' },
  device_platform: { value: 'android', source: 'device' },
  app_version: { value: '7.4.1', source: 'device' },
};

export const demoBots: DemoBot[] = [
  { id: RAPIDPRO.id, name: RAPIDPRO.name, number: RAPIDPRO.bot_number, platform: 'RapidPro' },
  { id: TURN.id, name: TURN.name, number: TURN.bot_number, platform: 'Turn' },
];

/** The name of the demo accounts' channels in the simulated chat platforms. */
const CHANNEL = 'demo';
const TURN_TOKEN = 'token-of-the-simulated-turn';

/** Adds the demo data to the table that the environment names. Existing demo accounts get new tokens. */
export const seedDemo = async ({ app, rapidpro, turn }: Simulators): Promise<Demo> => {
  const accounts = await listAccounts();
  for (const account of [RAPIDPRO, TURN]) {
    if (!accounts.some(({ id }) => id === account.id)) await createAccount(account);
  }
  const everything = permissions.filter((permission) => permission !== 'app');
  const [demo, ofNetwork, ofRapidpro, ofTurn] = await Promise.all([
    issueToken(RAPIDPRO.id, { label: 'npm start', permissions: everything }),
    issueToken(APP_NETWORK, { label: 'npm start', permissions: ['app'] }),
    issueToken(RAPIDPRO.id, { label: 'simulated RapidPro', permissions: ['bridge'] }),
    issueToken(TURN.id, { label: 'simulated Turn', permissions: ['bridge'] }),
    updateUser(newId(), { phone_number: PANELIST, panelist: true, properties: PROFILE }),
  ]);
  app.reportedEvents.introduce(PANELIST, { panelist: true, properties: PROFILE });
  rapidpro.addChannel(CHANNEL, { token: ofRapidpro.token, bot: 'echo' });
  turn.addNumber(CHANNEL, { token: TURN_TOKEN, bridge_token: ofTurn.token, bot: 'echo' });
  await Promise.all([
    updateAccount(RAPIDPRO.id, {
      platform: { name: 'rapidpro', settings: { url: `${rapidpro.url}/c/ex/${CHANNEL}/receive` } },
    }),
    updateAccount(TURN.id, {
      platform: { name: 'turn', settings: { url: turn.url, channel: CHANNEL, token: TURN_TOKEN } },
    }),
  ]);
  return {
    token: demo.token,
    app_token: ofNetwork.token,
    bot_phone_number: RAPIDPRO.bot_number,
    turn_bot_phone_number: TURN.bot_number,
    panelist: PANELIST,
  };
};
