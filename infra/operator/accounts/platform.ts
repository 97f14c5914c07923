/** The options of `operator account` for chat platforms: how they are parsed, validated and shown. */

import { type Command, Option } from 'commander';
import * as v from 'valibot';
import type { Account } from '../../../shared/accounts/accounts.ts';
import { now, timestampOf } from '../../../shared/core/clock.ts';
import { inDays, RETRY_DAYS } from '../../../shared/core/lifetimes.ts';
import { ENDPOINTS, type Endpoint } from '../../../shared/destinations/endpoint-settings.ts';
import { isPublicAddress } from '../../../shared/destinations/http/public-address.ts';
import { type PlatformName, setups } from '../../../shared/destinations/registry.ts';
import { checkSettings } from '../../../shared/destinations/setup.ts';
import { previousSecrets } from '../../../shared/destinations/signing-secrets.ts';
import { minute } from '../output.ts';
import { type AccountPlatform, findEndpoints, findPlatform, UserError } from '../queries/accounts-admin.ts';

export type Settings = Record<string, string>;

const names = Object.keys(setups) as PlatformName[];

/** The command-line option of a setting. */
export const optionOf = (setting: string): string => `--platform-${setting.replaceAll('_', '-')}`;

/** The platforms that have a setting, by the setting's name. */
const platformsBySetting = Map.groupBy(
  names.flatMap((name) => Object.entries(setups[name].options).map(([setting, option]) => ({ name, setting, option }))),
  ({ setting }) => setting,
);

/** The command-line options, by the setting's name. */
const settingOptions = new Map(
  [...platformsBySetting].map(([setting, uses]) => [
    setting,
    new Option(
      `${optionOf(setting)} <value>`,
      uses.map(({ name, option: { description } }) => `${name}: ${description}`).join('\n'),
    ).helpGroup('Settings of the chat platform:'),
  ]),
);

/** The platform options of a command line. A name of `false` removes the platform. */
interface Given {
  name: PlatformName | false | undefined;
  settings: Settings;
}

/** Adds the platform options to a command that changes an account. */
export const addPlatformOptions = (command: Command): void => {
  addPlatformSettings(command);
  command.option(
    '--no-platform',
    `remove the platform. Its pending messages wait for another one for ${inDays(RETRY_DAYS)}`,
  );
};

/** Adds the options that choose a platform and its settings. */
export const addPlatformSettings = (command: Command): void => {
  command.addOption(
    new Option('--platform <name>', "the chat platform that receives its users' messages").choices(names),
  );
  for (const option of settingOptions.values()) command.addOption(option);
};

/** The platform options of a command line; undefined if it has none. */
export const platformGivenIn = (command: Command): Given | undefined => {
  const { platform: name } = command.opts<{ platform?: PlatformName | false }>();
  const given = [...settingOptions].flatMap(([setting, option]): [string, string][] => {
    const value: unknown = command.getOptionValue(option.attributeName());
    return typeof value === 'string' ? [[setting, pasted(value)]] : [];
  });
  if (name === undefined && given.length === 0) return undefined;
  if (name === false && given.length > 0) command.error('error: --no-platform takes no settings of a platform');
  return { name, settings: Object.fromEntries(given) };
};

/** A value without white space around it, which pasted ones may have. White space alone is a mistake, not an empty value. */
export const pasted = (value: string): string => value.trim() || value;

/** The platform of an account after the change. */
interface Wanted {
  platform: AccountPlatform | null;
  /** Newly generated secrets, by name. */
  made: Settings;
  /** Names of secrets that were generated before, and stay unchanged. */
  kept: string[];
}

/**
 * The platform of an account after the change. Settings that are not given stay unchanged; missing secrets are
 * generated.
 *
 * @param current - the platform before the change
 * @throws UserError — the account has no platform and none is given, or a setting is invalid
 */
export const platformFrom = (
  account: string,
  current: AccountPlatform | undefined,
  { name, settings: given }: Given,
): Wanted => {
  if (name === false) return { platform: null, made: {}, kept: [] };
  const wanted = name ?? current?.name;
  if (wanted === undefined) {
    throw new UserError(`Account "${account}" has no platform yet. Choose one with --platform ${names.join('|')}.`);
  }
  return settingsFrom(wanted, current, given);
};

/** How messages name a set of settings, and the command-line option of each. */
export interface Wording {
  subject: string;
  optionOf: (setting: string) => string;
}

const wordingOf = (platform: PlatformName): Wording => ({ subject: `The platform "${platform}"`, optionOf });

/**
 * The settings of a platform after a change: as `platformFrom`.
 *
 * @throws UserError — a setting is invalid
 */
export const settingsFrom = (
  wanted: PlatformName,
  current: AccountPlatform | undefined,
  given: Settings,
  wording: Wording = wordingOf(wanted),
): Wanted & { platform: AccountPlatform } => {
  const known = { ...(current?.name === wanted && { ...current.settings, ...current.hook }), ...given };
  // An empty value removes a setting.
  const wanting = Object.fromEntries(Object.entries(known).filter(([, value]) => value !== ''));
  const making = Object.entries(setups[wanted].options).flatMap(([setting, { make }]) =>
    make ? [{ setting, make }] : [],
  );
  const made = Object.fromEntries(
    making.filter(({ setting }) => !(setting in wanting)).map(({ setting, make }) => [setting, make()]),
  );
  const kept = making.map(({ setting }) => setting).filter((setting) => setting in wanting && !(setting in given));
  const settings = { ...wanting, ...made };
  const errors = [
    ...unknownSettings(wanted, given),
    ...settingErrors(wanted, settings, wording),
    ...privateUrls(given, wording),
  ];
  if (errors.length > 0) throw new UserError(errors.join(' '));
  const before = current?.name === wanted ? current : undefined;
  const previous = making.flatMap(({ setting }) => {
    const secret: unknown = before && Reflect.get(before.settings, setting);
    return previousSecrets(
      { secret: typeof secret === 'string' ? secret : undefined, previous_secrets: before?.previous_secrets },
      settings[setting],
    );
  });
  return {
    platform: {
      name: wanted,
      ...checkSettings(setups[wanted], settings),
      ...(previous.length > 0 && { previous_secrets: previous }),
      // A change of the settings does not send the events elsewhere.
      ...(before?.listening !== undefined && { listening: before.listening }),
    },
    made,
    kept,
  };
};

/** Notes on unchanged secrets: a command that generated a secret may have ended before the operator saw it. */
export const notesOnKept = (kept: string[], option = optionOf): string[] =>
  kept.map(
    (setting) => `The ${setting} is unchanged, and is not shown. If it is lost, set another one: ${option(setting)}.`,
  );

/** An error message for each setting that the platform does not have. */
const unknownSettings = (name: PlatformName, settings: Settings): string[] =>
  Object.keys(settings)
    .filter((setting) => !(setting in setups[name].options))
    .map((setting) => `The platform "${name}" has no ${optionOf(setting)}.`);

/** An error message for each setting that is invalid or missing. */
export const settingErrors = (name: PlatformName, settings: object, wording = wordingOf(name)): string[] => {
  try {
    checkSettings(setups[name], settings);
    return [];
  } catch (error) {
    if (!(error instanceof v.ValiError)) throw error;
    return error.issues.map((issue) => settingError(wording, issue));
  }
};

const settingError = ({ subject, optionOf }: Wording, { path, received, message }: v.BaseIssue<unknown>): string => {
  const option = optionOf(String(path?.[0]?.key));
  return received === 'undefined' ? `${subject} needs ${option}.` : `${option} ${message}.`;
};

/**
 * An error message for each URL with a private IP address. Host names are resolved by each call, and by "platform
 * check".
 */
const privateUrls = (settings: Settings, { optionOf }: Wording): string[] =>
  Object.entries(settings)
    .filter(([, value]) => URL.canParse(value) && !isPublicAddress(new URL(value)))
    .map(([setting]) => `${optionOf(setting)} must be a public URL: the service calls no others.`);

/** The settings of an account's platform without secrets, by name, in the order of its options. */
export const platformSettings = async ({ id, platform }: Account): Promise<Settings> => {
  if (platform === ENDPOINTS) return endpointSettings(await findEndpoints(id));
  const set = platform === undefined ? undefined : await findPlatform(id);
  return set === undefined ? {} : withoutSecrets(set);
};

/** The webhooks that an account manages itself, by their numbers. */
const endpointSettings = (endpoints: Endpoint[]): Settings =>
  Object.fromEntries(
    endpoints.map(({ number, url, version, types }) => [
      `${WEBHOOK}${number}`,
      `${url} (version ${version}, ${types ? types.join(', ') : 'all types'})`,
    ]),
  );

/** The beginning of the names under which such webhooks are shown. */
const WEBHOOK = 'webhook_';

/** Settings without secrets, by name, in the order of their options. */
export const withoutSecrets = ({
  name,
  settings,
  hook,
  previous_secrets = [],
  listening,
}: AccountPlatform): Settings => {
  const set = new Map<string, unknown>(Object.entries({ ...settings, ...hook }));
  const until = Math.max(...previous_secrets.map((previous) => previous.until));
  return Object.fromEntries([
    ...Object.entries(setups[name].options).flatMap(([setting, { label }]) => {
      const value = set.get(setting);
      return label !== undefined && typeof value === 'string' ? [[setting, value]] : [];
    }),
    ...(until > now() ? [[PREVIOUS_UNTIL, timestampOf(until)]] : []),
    ...(listening === undefined ? [] : [[LISTENING, listening]]),
  ]);
};

/** The name under which the end of the overlap is shown, when only the present secret signs again. */
export const PREVIOUS_UNTIL = 'previous_secret_until';

/** The name under which is shown since when events wait for listeners. */
const LISTENING = 'listening_since';

/** Settings with the names of their JSON fields, which begin with `kind`. */
export const settingsInJson = (settings: Settings, kind: 'platform' | 'consent_webhook' = 'platform'): Settings =>
  Object.fromEntries(Object.entries(settings).map(([setting, value]) => [`${kind}_${setting}`, value]));

/** Settings with their labels. */
export const settingsInWords = ({ platform }: Account, settings: Settings): Settings =>
  Object.fromEntries(
    Object.entries(settings).map(([setting, value]) => {
      if (setting === PREVIOUS_UNTIL) return ['Previous secret', alsoSignsUntil(value)];
      if (setting.startsWith(WEBHOOK)) return [`Webhook ${setting.slice(WEBHOOK.length)}`, value];
      if (setting === LISTENING) return ['Listening', `events wait for "operator listen" since ${minute(value)}`];
      const use = platformsBySetting.get(setting)?.find(({ name }) => name === platform);
      return [use?.option.label ?? `Platform ${setting}`, value];
    }),
  );

export const alsoSignsUntil = (time: string): string => `also signs until ${minute(time)}`;
