/**
 * The wizard that connects accounts to chat platforms. It does what the operator's command `connect` does. The simulators
 * take the place of RapidPro and Turn.
 */
import { randomBytes } from 'node:crypto';
import { findAccount } from '../../../../shared/accounts/accounts.ts';
import { newId } from '../../../../shared/core/ids.ts';
import { APP_NETWORK } from '../../../../shared/core/permissions.ts';
import { healthOf, type PlatformHealth } from '../../../../shared/delivery/platform-health.ts';
import { type PlatformName, setups } from '../../../../shared/destinations/registry.ts';
import { answersOf } from '../../../../shared/destinations/setup.ts';
import type { Settings, Wording } from '../../../operator/accounts/platform.ts';
import { type Check, checkFromPlatform, checkNumber, checkToPlatform } from '../../../operator/connect/checks.ts';
import { issueBridgeToken, storeConnection, valuesFor } from '../../../operator/connect/connect.ts';
import {
  createAccount,
  findPlatform,
  listAccounts,
  Refusal,
  updateAccount,
} from '../../../operator/queries/accounts-admin.ts';
import { httpError } from '../../simulators/http.ts';
import type { Simulators } from '../../simulators/simulators.ts';
import { isoOf } from '../times.ts';
import type { KnownBot } from '../views.ts';
import type { AccountView, CheckView, ConnectionView } from './views.ts';

/** A connection that is being set up. It is forgotten when the wizard ends, with its token. */
interface Session {
  platform: PlatformName;
  /** The token that the platform calls with; missing for a webhook. */
  token?: string;
  /** The secret of a webhook, if it was created by the wizard. */
  secret?: string;
  checks?: Check[];
}

const MAX_LENGTH = '4096';

type Outside = Pick<Simulators, 'rapidpro' | 'turn'>;

export class Wizard {
  readonly #outside: Outside;
  readonly #bridgeUrl: string;
  readonly #sessions = new Map<string, Session>();

  constructor(outside: Outside, bridgeUrl: string) {
    this.#outside = outside;
    this.#bridgeUrl = bridgeUrl;
  }

  /** All accounts by name, without the app network's, which has no platform. */
  async accounts(): Promise<AccountView[]> {
    const found: AccountView[] = [];
    // One after the other: a table may have thousands of accounts, and all at once would time out.
    for (const { id } of await listAccounts()) {
      const account = await this.#describe(id);
      if (account !== undefined) found.push(account);
    }
    return found.sort((a, b) => Number(b.state === 'connecting') - Number(a.state === 'connecting'));
  }

  /** Creates an account. @throws HTTPException — 422, the name or the number is taken */
  async createAccount(name: string, botNumber: string): Promise<{ id: string }> {
    return refusing(async () => ({ id: (await createAccount({ name, bot_number: botNumber })).id }));
  }

  /**
   * Begins to connect an account, or goes on with it. A token is issued when a platform is chosen first.
   *
   * @throws HTTPException — 404, there is no such account; 422, its bot needs a number, or the number is taken
   */
  async begin(id: string, platform: PlatformName, botNumber: string | undefined): Promise<ConnectionView> {
    const account = await this.#find(id);
    if (account.bot_number === undefined) {
      if (botNumber === undefined) throw httpError(422, 'The account needs the number of its bot.');
      await refusing(() => updateAccount(id, { bot_number: botNumber }));
    }
    if (this.#sessions.get(id)?.platform !== platform) {
      const token = setups[platform].inbound ? await issueBridgeToken(id, platform) : undefined;
      this.#sessions.set(id, { platform, ...(token !== undefined && { token }) });
    }
    return this.view(id);
  }

  /** A connection that is being set up. @throws HTTPException — 404, the wizard is not open for the account */
  async view(id: string): Promise<ConnectionView> {
    const { platform, token = '', secret, checks } = this.#session(id);
    const account = await this.#find(id);
    const current = await findPlatform(id);
    const guide = setups[platform];
    const values = valuesFor(account, {
      bridgeUrl: this.#bridgeUrl,
      token,
      ...(secret !== undefined && { made: { secret } }),
    });
    const known: Settings =
      current?.name === platform
        ? Object.fromEntries(Object.entries({ ...current.settings, ...current.hook }).map(([k, v]) => [k, String(v)]))
        : {};
    return {
      account: { id, name: account.name, bot_number: account.bot_number ?? '' },
      platform,
      title: guide.title,
      form: guide.form,
      steps: guide.steps,
      fields: guide
        .fields(values)
        .map(({ field, value, secret = false, note = null }) => ({ field, value, secret, note })),
      settings: answersOf(guide).map(({ secret = false, ...answer }) => ({
        ...answer,
        secret,
        value: secret ? '' : (known[answer.setting] ?? ''),
        known: answer.setting in known,
      })),
      simulated: platform !== 'webhook',
      replaces: current && current.name !== platform ? setups[current.name].title : null,
      checks: checks?.map(toView) ?? null,
    };
  }

  /**
   * Enters the values in the simulated platform, as a person would in the real one.
   *
   * @returns what the platform then shows: the settings that the service needs
   */
  async simulate(id: string): Promise<Settings> {
    const { platform, token = '' } = this.#session(id);
    const { rapidpro, turn } = this.#outside;
    if (platform === 'webhook')
      throw httpError(422, 'A webhook is a server of your own: no simulator takes its place.');
    if (platform === 'rapidpro') {
      rapidpro.addChannel(id, { token, bot: 'echo', max_length: Number(MAX_LENGTH) });
      return { url: `${rapidpro.url}/c/ex/${id}/receive` };
    }
    const secrets = { token: `turn_${randomBytes(12).toString('hex')}`, hmac_secret: newId() };
    turn.addNumber(id, { ...secrets, bridge_token: token, bot: 'echo' });
    return { channel: id, url: turn.url, ...secrets };
  }

  /**
   * Stores the settings, and checks both directions. Empty settings stay as they are.
   *
   * @throws HTTPException — 422, a setting is invalid or missing
   */
  async check(id: string, given: Settings): Promise<ConnectionView> {
    const session = this.#session(id);
    const { platform, token } = session;
    const settings = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''));
    const hasMaxLength = platform === 'rapidpro' && (await findPlatform(id))?.name !== 'rapidpro';
    const wanted = { ...(hasMaxLength && { max_length: MAX_LENGTH }), ...settings };
    const stored = await refusing(() => storeConnection(id, platform, wanted, wordingOf(platform)));
    if (stored.made.secret !== undefined) session.secret = stored.made.secret;
    const bridgeUrl = this.#bridgeUrl;
    const from = token === undefined ? undefined : await checkFromPlatform({ account: id, platform, bridgeUrl, token });
    const to = await checkToPlatform(stored.platform);
    const number = await checkNumber(id);
    session.checks = [from, to, number].filter((check) => check !== undefined);
    return this.view(id);
  }

  /** Ends the wizard: its token is not shown again. */
  end(id: string): void {
    this.#sessions.delete(id);
  }

  async #describe(id: string): Promise<AccountView | undefined> {
    const account = await findAccount(id);
    if (account === undefined || id === APP_NETWORK) return undefined;
    const { name, bot_number = null } = account;
    const platform = (account.platform ?? null) as PlatformName | null;
    const session = this.#sessions.get(id);
    const health = platform === null ? undefined : await healthOf(id);
    const since = health?.failing_since;
    return {
      id,
      name,
      bot_number,
      platform: session?.platform ?? platform,
      state: session ? 'connecting' : stateOf(health),
      failing_since: since === undefined ? null : isoOf(since),
    };
  }

  /** @throws HTTPException — 404, there is no such account */
  async #find(id: string) {
    const account = await findAccount(id);
    if (account === undefined) throw httpError(404, `There is no account ${id}.`);
    return account;
  }

  /** @throws HTTPException — 404, the wizard is not open for the account */
  #session(id: string): Session {
    const session = this.#sessions.get(id);
    if (session === undefined) throw httpError(404, `The wizard is not open for the account ${id}.`);
    return session;
  }
}

/** The bots of accounts other than these. Users can write to them; the page has no tokens of them. */
export const otherBots = async (known: readonly { id: string }[]): Promise<KnownBot[]> => {
  const listed = await listAccounts();
  const others = listed.filter(({ id }) => !known.some((one) => one.id === id));
  const accounts = await Promise.all(others.map(({ id }) => findAccount(id)));
  return accounts.flatMap((account) => {
    if (account?.bot_number === undefined) return [];
    const { id, name, bot_number: number, platform } = account;
    return [
      { id, name, number, platform: platform ? setups[platform as PlatformName].title : 'no platform', sends: false },
    ];
  });
};

/** How messages name the settings: as the wizard labels them. */
const wordingOf = (platform: PlatformName): Wording => {
  const { title } = setups[platform];
  const answers = answersOf(setups[platform]);
  return {
    subject: title.replace(/^t/, 'T'),
    optionOf: (setting) => answers.find((answer) => answer.setting === setting)?.label ?? setting,
  };
};

const toView = ({ fix, status, ms, ...check }: Check): CheckView => ({
  ...check,
  fix: fix ?? null,
  status: status ?? null,
  ms: ms ?? null,
});

/** Does some work; a refusal becomes a response with its reason. @throws HTTPException — 422 */
const refusing = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refusal) throw httpError(422, error.message);
    throw error;
  }
};

/** Whether a connection works. A disabled webhook is shown as one that fails. */
const stateOf = (health: PlatformHealth | undefined): 'working' | 'failing' | 'not connected' => {
  if (health === undefined) return 'not connected';
  return health.status === 'working' ? 'working' : 'failing';
};
