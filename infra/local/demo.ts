/**
 * The demo data: two accounts, one on RapidPro and one on Turn, each with a bot that replies; a token, the app
 * network's token, and a panelist.
 */
import { newId } from '../../shared/core/ids.ts';
import { APP_NETWORK, permissions } from '../../shared/core/permissions.ts';
import { updateUser } from '../../shared/users/users.ts';
import {
  type AccountPlatform,
  createAccount,
  listAccounts,
  updateAccount,
} from '../operator/queries/accounts-admin.ts';
import { issueToken, stateOfToken } from '../operator/queries/tokens-admin.ts';
import type { DemoTokens } from './launch/demo-tokens.ts';
import type { Simulators } from './simulators/simulators.ts';

export interface Demo {
  token: string;
  app_token: string;
  /** A token of the other demo account. */
  turn_token: string;
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
/** The panelist's id in the app. */
export const PANELIST_ID = '0f4b1c9e-5d2a-4f7e-8b36-9c1d7e2a4b58';

/** The panelist's profile, as the app reports it. */
const PROFILE = {
  first_name: { value: 'Thandi', source: 'user' },
  last_name: { value: 'Example', source: 'user' },
  citizenship: { value: 'South Africa', source: 'user' },
  device_platform: { value: 'android', source: 'device' },
  app_version: { value: '7.4.1', source: 'device' },
};

export const demoBots: [DemoBot, DemoBot] = [
  { id: RAPIDPRO.id, name: RAPIDPRO.name, number: RAPIDPRO.bot_number, platform: 'RapidPro' },
  { id: TURN.id, name: TURN.name, number: TURN.bot_number, platform: 'Turn' },
];

/** The name of the demo accounts' channels in the simulated chat platforms. */
const CHANNEL = 'demo';
const TURN_TOKEN = 'token-of-the-simulated-turn';

/**
 * Adds the demo data to the table that the environment names.
 *
 * @param tokens - the tokens of earlier starts by name; missing and revoked ones are issued and added
 */
export const seedDemo = async ({ app, rapidpro, turn }: Simulators, tokens: DemoTokens = new Map()): Promise<Demo> => {
  const accounts = await listAccounts();
  for (const account of [RAPIDPRO, TURN]) {
    if (!accounts.some(({ id }) => id === account.id)) await createAccount(account);
  }
  const tokenOf = async (name: string, account: string, draft: Parameters<typeof issueToken>[1]): Promise<string> => {
    const known = tokens.get(name);
    const state = known === undefined ? 'revoked' : await stateOfToken(known);
    if (known !== undefined && state === 'works') return known;
    const kept = known !== undefined && state === undefined ? { token: known } : {};
    const { token } = await issueToken(account, { ...draft, ...kept });
    tokens.set(name, token);
    return token;
  };
  const everything = permissions.filter((permission) => permission !== 'app');
  const [demo, ofNetwork, other, ofRapidpro, ofTurn] = await Promise.all([
    tokenOf('demo', RAPIDPRO.id, { label: 'npm start', permissions: everything }),
    tokenOf('app_network', APP_NETWORK, { label: 'npm start', permissions: ['app'] }),
    tokenOf('demo_turn', TURN.id, { label: 'npm start', permissions: everything }),
    tokenOf('simulated_rapidpro', RAPIDPRO.id, { label: 'simulated RapidPro', permissions: ['bridge'] }),
    tokenOf('simulated_turn', TURN.id, { label: 'simulated Turn', permissions: ['bridge'] }),
    updateUser(newId(), { phone_number: PANELIST, id: PANELIST_ID, panelist: true, properties: PROFILE }),
  ]);
  app.reportedEvents.introduce(PANELIST, { panelist: true, properties: PROFILE });
  rapidpro.addChannel(CHANNEL, { token: ofRapidpro, bot: 'echo' });
  turn.addNumber(CHANNEL, { token: TURN_TOKEN, bridge_token: ofTurn, bot: 'echo' });
  await Promise.all([
    updateAccount(RAPIDPRO.id, {
      platform: unlessReal({ name: 'rapidpro', settings: { url: `${rapidpro.url}/c/ex/${CHANNEL}/receive` } }),
    }),
    updateAccount(TURN.id, {
      platform: unlessReal({ name: 'turn', settings: { url: turn.url, channel: CHANNEL, token: TURN_TOKEN } }),
    }),
  ]);
  return {
    token: demo,
    app_token: ofNetwork,
    turn_token: other,
    bot_phone_number: RAPIDPRO.bot_number,
    turn_bot_phone_number: TURN.bot_number,
    panelist: PANELIST,
  };
};

/** The simulated platform, whose port may have changed, unless kept data has another one: somebody has connected it. */
const unlessReal =
  (simulated: AccountPlatform) =>
  (current: AccountPlatform | undefined): AccountPlatform => {
    const { url } = Object(current?.settings);
    return current === undefined || String(url).startsWith('http://127.0.0.1:') ? simulated : current;
  };
