/** The course of `operator connect`: what is given on the command line is not asked, and without a terminal nothing is. */

import { setTimeout as pause } from 'node:timers/promises';
import * as v from 'valibot';
import type { Account } from '../../../shared/accounts/accounts.ts';
import { ENDPOINTS } from '../../../shared/destinations/endpoint-settings.ts';
import { type PlatformName, setups } from '../../../shared/destinations/registry.ts';
import { type AnySetup, answersOf, type ConnectField } from '../../../shared/destinations/setup.ts';
import { phoneNumber } from '../../../shared/validation/schemas.ts';
import { pasted, type Settings, settingsFrom } from '../accounts/platform.ts';
import { noteChanges, noteQuestion } from '../history/record.ts';
import {
  type AccountPlatform,
  findPlatform,
  managesWebhooks,
  showAccount,
  UserError,
  updateAccount,
} from '../queries/accounts-admin.ts';
import { NotConfirmed } from '../terminal/confirm.ts';
import { allGood, type Check, checkFromPlatform, checkNumber, checkToPlatform } from './checks.ts';
import {
  awaitMessage,
  findBridgeToken,
  issueBridgeToken,
  missingSettings,
  type Stored,
  storeConnection,
  valuesFor,
} from './connect.ts';
import type { Questions } from './questions.ts';

export interface ConnectRequest {
  account: string;
  /** The URL of the bridge host, without a slash at the end. */
  bridgeUrl: string;
  platform: PlatformName | undefined;
  settings: Settings;
  botNumber: string | undefined;
  /** The token that the platform already has. */
  token: string | undefined;
  /** Whether to issue a token although there is one. */
  newToken: boolean;
  /** Seconds to wait for a message of the platform; 0 for none. */
  wait: number;
  /** Whether to replace another platform without a question. */
  yes: boolean;
}

export interface ConnectOutcome {
  account: string;
  platform: PlatformName;
  /** What to enter on the other side. */
  enter: ConnectField[];
  /** Required settings that are not known yet: nothing was stored or checked. */
  missing: string[];
  checks: Check[];
  /** Set if the token was not checked, because only its hash is known. */
  unchecked_token?: string;
}

interface Talk {
  /** Undefined without a terminal. */
  questions: Questions | undefined;
  /** Shows progress to a person, a paragraph at a time. */
  show: (what: Shown) => void;
}

/** What a person sees in the course of the command. */
export type Shown =
  | { guide: AnySetup; account: Account; enter: ConnectField[] }
  | { checks: Check[] }
  | { error: string }
  | { note: string };

/**
 * @throws UserError — something is missing or invalid, and there is no terminal to ask
 * @throws NotConfirmed — another platform would be replaced, and nobody confirmed it
 */
export const connect = async (request: ConnectRequest, { questions, show }: Talk): Promise<ConnectOutcome> => {
  const current = await findPlatform(request.account);
  const found = await showAccount(request.account);
  if (found.platform === ENDPOINTS) throw managesWebhooks(request.account);
  const platform = await choosePlatform(request, current, questions);
  const account = await withNumber(found, request.botNumber, questions);
  const guide = setups[platform];
  let settings = withDefaults(platform, current, request.settings);
  const missing = () => missingSettings(platform, current, settings);
  // Invalid settings are refused before a token is issued.
  settingsFrom(platform, current, { ...examplesOf(guide, missing()), ...settings });

  const { token, known } = guide.inbound ? await tokenFor(request, platform, questions) : {};
  const enter = (made: Settings = {}): ConnectField[] => {
    const values = {
      bridgeUrl: request.bridgeUrl,
      token: token ?? `the token that ends in ${known}`,
      settings,
      made,
    };
    const all = valuesFor(account, values);
    return guide.fields(token === undefined ? { ...all, encodedToken: 'ENCODED_TOKEN' } : all);
  };
  const outcome = (rest: Pick<ConnectOutcome, 'enter' | 'checks'>): ConnectOutcome => ({
    account: account.id,
    platform,
    missing: missing(),
    ...rest,
    ...(guide.inbound && token === undefined && known !== undefined && { unchecked_token: known }),
  });

  if (guide.inbound) show({ guide, account, enter: enter() });
  if (missing().length > 0) {
    if (questions === undefined) {
      noteChanges('Stored no platform, and removed none: settings are missing.');
      return outcome({ enter: enter(), checks: [] });
    }
    settings = await askSettings(guide, missing(), settings, questions);
  }
  const store = () => storeAsking({ account: account.id, platform, guide }, settings, { questions, show });
  let stored = await store();
  settings = stored.settings;
  if (!guide.inbound) show({ guide, account, enter: enter(stored.made) });

  const checkAll = () => runChecks({ account: account.id, platform, bridgeUrl: request.bridgeUrl, token }, stored);
  let checks = await checkAll();
  show({ checks });
  while (questions !== undefined && !allGood(checks)) {
    const next = await questions.ask('Check again (Enter), correct the settings (c), or stop (s)');
    if (/^s/i.test(next)) break;
    if (/^c/i.test(next)) {
      settings = await askSettings(guide, requiredOf(guide), settings, questions);
      stored = await store();
      settings = stored.settings;
    }
    checks = await checkAll();
    show({ checks });
  }
  if (guide.inbound && allGood(checks)) {
    const seconds = request.wait || ((await wantsToWait(guide, questions)) ? WAIT_S : 0);
    if (seconds > 0) {
      show({ note: `Waiting ${seconds} s for a message of ${guide.title}.` });
      const awaited = await awaitMessage({ account: account.id, platform, waitMs: seconds * 1_000, pause });
      checks = [...checks, awaited];
      show({ checks: [awaited] });
    }
  }
  return outcome({ enter: enter(stored.made), checks });
};

/** Seconds to wait for a message, if a person wants it. */
const WAIT_S = 120;

const wantsToWait = async ({ title }: AnySetup, questions: Questions | undefined): Promise<boolean> =>
  questions !== undefined && (await questions.confirm(`Send a message from ${title} to a user now, to see it arrive?`));

const names = Object.keys(setups).join('|');

const isPlatform = (name: string): name is PlatformName => Object.hasOwn(setups, name);

const choosePlatform = async (
  { account, platform, yes }: ConnectRequest,
  current: AccountPlatform | undefined,
  questions: Questions | undefined,
): Promise<PlatformName> => {
  let wanted = platform ?? (questions === undefined ? current?.name : undefined);
  while (wanted === undefined) {
    if (questions === undefined) throw new UserError(`Choose a platform with --platform ${names}.`);
    const name = await questions.ask(`Platform (${names})`, current?.name);
    if (isPlatform(name)) wanted = name;
  }
  if (current === undefined || current.name === wanted) return wanted;
  const loss = `Account "${account}" is connected to ${setups[current.name].title}. Its settings are removed.`;
  noteQuestion(loss);
  if (yes) return wanted;
  if (questions === undefined) throw new NotConfirmed(`Nothing was changed. ${loss} Add --yes to replace them.`);
  if (!(await questions.confirm(`${loss} Replace them?`))) throw new NotConfirmed('Nothing was changed.');
  return wanted;
};

/** The account with its bot's number, which is set if it has none. */
const withNumber = async (
  account: Account,
  given: string | undefined,
  questions: Questions | undefined,
): Promise<Account> => {
  const { id, bot_number: number } = account;
  if (number !== undefined) {
    if (given === undefined || given === number) return account;
    throw new UserError(
      `Account "${id}" has the number ${number}. Change it with "account update ${id} --bot-number ${given}".`,
    );
  }
  let wanted = given;
  while (wanted === undefined) {
    if (questions === undefined) throw new UserError(`Account "${id}" has no number of its bot: give --bot-number.`);
    const answer = await questions.ask("Phone number of the account's bot, 7 to 15 digits without +");
    if (v.is(phoneNumber, answer)) wanted = answer;
  }
  const updated = await updateAccount(id, { bot_number: wanted });
  noteChanges("Set the bot's number.");
  return updated;
};

/**
 * The settings with those that the values name if none are given: a new connection gets the presets. Of an older one,
 * only what is stored is known.
 */
const withDefaults = (platform: PlatformName, current: AccountPlatform | undefined, given: Settings): Settings => {
  const stored = new Map<string, unknown>(Object.entries({ ...current?.settings, ...current?.hook }));
  const presets = Object.entries(setups[platform].options).flatMap(([setting, { preset }]) => {
    const value = current?.name === platform ? stored.get(setting) : preset;
    return preset !== undefined && typeof value === 'string' ? [[setting, value]] : [];
  });
  return { ...Object.fromEntries(presets), ...given };
};

/** The token that the platform calls with; if an earlier one exists, its last characters, because only its hash is stored. */
const tokenFor = async (
  { account, token, newToken }: ConnectRequest,
  platform: PlatformName,
  questions: Questions | undefined,
): Promise<{ token?: string; known?: string }> => {
  if (token !== undefined) return { token };
  const earlier = newToken ? undefined : await findBridgeToken(account, platform);
  if (earlier === undefined) return { token: await issueBridgeToken(account, platform) };
  const known = `…${earlier.last_four}`;
  if (questions === undefined) return { known };
  if (await questions.confirm(`A token that ends in ${known} was issued before. Issue another one?`)) {
    return { token: await issueBridgeToken(account, platform) };
  }
  const entered = await questions.askSecret('That token, to check it; empty to skip the check');
  return entered === '' ? { known } : { token: entered };
};

/** Valid values in the place of settings that are not known yet. */
const examplesOf = (guide: AnySetup, missing: string[]): Settings =>
  Object.fromEntries(
    answersOf(guide)
      .filter(({ setting }) => missing.includes(setting))
      .map(({ setting, example }) => [setting, example || 'unknown']),
  );

const requiredOf = (guide: AnySetup): string[] =>
  answersOf(guide)
    .filter(({ required }) => required)
    .map(({ setting }) => setting);

/** Asks for required settings, and for optional ones that are not known. */
const askSettings = async (
  guide: AnySetup,
  wanted: string[],
  known: Settings,
  questions: Questions,
): Promise<Settings> => {
  const settings = { ...known };
  for (const { setting, label, where, secret, required } of answersOf(guide)) {
    if (!wanted.includes(setting) && (required || setting in known)) continue;
    const question = `${where}\n${label}${required ? '' : ' (optional)'}`;
    const answer = secret ? await questions.askSecret(question) : await questions.ask(question, known[setting]);
    if (answer !== '') settings[setting] = pasted(answer);
  }
  return settings;
};

/** Stores the settings. If they are invalid, a terminal asks for them again. */
const storeAsking = async (
  { account, platform, guide }: { account: string; platform: PlatformName; guide: AnySetup },
  settings: Settings,
  { questions, show }: Talk,
): Promise<Stored & { settings: Settings }> => {
  let wanted = settings;
  for (;;) {
    try {
      return { ...(await storeConnection(account, platform, wanted)), settings: wanted };
    } catch (error) {
      if (questions === undefined || !(error instanceof UserError)) throw error;
      show({ error: error.message });
      wanted = await askSettings(guide, requiredOf(guide), wanted, questions);
    }
  }
};

interface Checked {
  account: string;
  platform: PlatformName;
  bridgeUrl: string;
  token: string | undefined;
}

/** All checks of a connection, one after the other. The number is part of the result only if it is wrong. */
const runChecks = async (
  { account, platform, bridgeUrl, token }: Checked,
  { platform: stored }: Stored,
): Promise<Check[]> => {
  const from = token === undefined ? undefined : await checkFromPlatform({ account, platform, bridgeUrl, token });
  const to = await checkToPlatform(stored);
  const number = await checkNumber(account);
  return [from, to, number].filter((check) => check !== undefined);
};
