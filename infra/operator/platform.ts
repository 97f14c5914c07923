/** An account's chat platform as `account` sets and shows it: the options for its settings, and what is said of them. */
import { type Command, Option } from 'commander';
import * as v from 'valibot';
import type { Account } from '../../shared/accounts/accounts.ts';
import type { PlatformName } from '../../shared/accounts/platform-settings.ts';
import { isPublicAddress } from '../../shared/outbound/http-client.ts';
import type { Platform, SettingOption } from '../../shared/platforms/platform.ts';
import { platforms } from '../../shared/platforms/registry.ts';
import { type AccountPlatform, findPlatform, Refusal } from './queries/accounts-admin.ts';

type Settings = Record<string, string>;

const all: [PlatformName, Platform][] = Object.entries(platforms).map(([name, platform]) => [
  name as PlatformName,
  platform,
]);

const optionOf = (setting: string): string => `--platform-${setting.replaceAll('_', '-')}`;

/** What platforms say of the settings of one name, by the name. */
const said = Map.groupBy(
  all.flatMap(([name, { options }]) => Object.entries(options).map(([setting, option]) => ({ name, setting, option }))),
  ({ setting }) => setting,
);

/** The option for each setting, by its name. */
const settingOptions = new Map(
  [...said].map(([setting, uses]) => [
    setting,
    new Option(
      `${optionOf(setting)} <value>`,
      uses.map(({ name, option: { says } }) => `${name}: ${says}`).join('\n'),
    ).helpGroup('Settings of the chat platform:'),
  ]),
);

/** What a command line says of the platform: its name, or `false` for none any more, and settings. */
interface Given {
  name: PlatformName | false | undefined;
  settings: Settings;
}

const names = all.map(([name]) => name);

/** Adds the options about the platform to a command. */
export const addPlatformOptions = (command: Command): void => {
  command
    .addOption(new Option('--platform <name>', "the chat platform that receives its users' messages").choices(names))
    .option('--no-platform', 'remove the platform, and drop its pending messages');
  for (const option of settingOptions.values()) command.addOption(option);
};

/** What is given of the platform; nothing, where nothing is. */
export const platformGivenIn = (command: Command): Given | undefined => {
  const { platform: name } = command.opts<{ platform?: PlatformName | false }>();
  const given = [...settingOptions].flatMap(([setting, option]): [string, string][] => {
    const value: unknown = command.getOptionValue(option.attributeName());
    // What is pasted may have white space around it. White space alone is a mistake, and no empty value.
    return typeof value === 'string' ? [[setting, value.trim() || value]] : [];
  });
  if (name === undefined && given.length === 0) return undefined;
  if (name === false && given.length > 0) command.error('error: --no-platform takes no settings of a platform');
  return { name, settings: Object.fromEntries(given) };
};

/** A platform that an account is to have. */
interface Wanted {
  platform: AccountPlatform | null;
  /** Secrets that were made for it, by their names. */
  made: Settings;
  /** Names of secrets that were made before, and stay as they are. */
  kept: string[];
}

/**
 * The platform that an account is to have: settings that are not given stay, and secrets that are missing are made.
 *
 * @param current - the one that it has, with its settings
 * @throws Refusal — no platform to set anything of, or settings that it does not take
 */
export const platformFrom = (
  account: string,
  current: AccountPlatform | undefined,
  { name, settings: given }: Given,
): Wanted => {
  if (name === false) return { platform: null, made: {}, kept: [] };
  const wanted = name ?? current?.name;
  if (wanted === undefined) {
    throw new Refusal(`Account "${account}" has no platform yet. Choose one with --platform ${names.join('|')}.`);
  }
  const known = { ...(current?.name === wanted && { ...current.settings, ...current.hook }), ...given };
  // An empty value takes a setting away.
  const wanting = Object.fromEntries(Object.entries(known).filter(([, value]) => value !== ''));
  const making = Object.entries(optionsOf(wanted)).flatMap(([setting, { make }]) => (make ? [{ setting, make }] : []));
  const made = Object.fromEntries(
    making.filter(({ setting }) => !(setting in wanting)).map(({ setting, make }) => [setting, make()]),
  );
  const kept = making.map(({ setting }) => setting).filter((setting) => setting in wanting && !(setting in given));
  const settings = { ...wanting, ...made };
  const faults = [...strangersIn(wanted, given), ...faultsIn(wanted, settings), ...privateAddressesIn(given)];
  if (faults.length > 0) throw new Refusal(faults.join(' '));
  return { platform: { name: wanted, ...platforms[wanted].check(settings) }, made, kept };
};

/** What is said of secrets that stay as they are: the command that made them may have ended before they were seen. */
export const notesOnKept = (kept: string[]): string[] =>
  kept.map(
    (setting) =>
      `The ${setting} is unchanged, and is not shown. If nobody knows it, set another one: ${optionOf(setting)}.`,
  );

const optionsOf = (name: PlatformName): Record<string, SettingOption> => platforms[name].options;

/** Settings that a platform does not have, each in a sentence. */
const strangersIn = (name: PlatformName, settings: Settings): string[] =>
  Object.keys(settings)
    .filter((setting) => !(setting in optionsOf(name)))
    .map((setting) => `The platform "${name}" has no ${optionOf(setting)}.`);

/** What a platform does not take of its settings, each fault in a sentence. */
export const faultsIn = (name: PlatformName, settings: object): string[] => {
  try {
    platforms[name].check(settings);
    return [];
  } catch (error) {
    if (!(error instanceof v.ValiError)) throw error;
    return error.issues.map((issue) => faultIn(name, issue));
  }
};

const faultIn = (name: PlatformName, { path, received, message }: v.BaseIssue<unknown>): string => {
  const option = optionOf(String(path?.[0]?.key));
  return received === 'undefined' ? `The platform "${name}" needs ${option}.` : `${option} ${message}.`;
};

/** Addresses in figures that are not public. What a name stands for is looked up by each call, and by "platform check". */
const privateAddressesIn = (settings: Settings): string[] =>
  Object.entries(settings)
    .filter(([, value]) => URL.canParse(value) && !isPublicAddress(new URL(value)))
    .map(([setting]) => `${optionOf(setting)} must be a public URL: the service calls no others.`);

/** The settings of an account's platform that may be shown, by name, in the order of its options. */
export const platformSettings = async ({ id, platform }: Account): Promise<Settings> => {
  const { name, settings, hook } = (platform && (await findPlatform(id))) ?? {};
  if (name === undefined) return {};
  const set = new Map<string, unknown>(Object.entries({ ...settings, ...hook }));
  return Object.fromEntries(
    Object.entries(optionsOf(name)).flatMap(([setting, { label }]) => {
      const value = set.get(setting);
      return label !== undefined && typeof value === 'string' ? [[setting, value]] : [];
    }),
  );
};

/** Settings as programs get them. */
export const settingsInJson = (settings: Settings): Settings =>
  Object.fromEntries(Object.entries(settings).map(([setting, value]) => [`platform_${setting}`, value]));

/** Settings as people get them. */
export const settingsInWords = ({ platform }: Account, settings: Settings): Settings =>
  Object.fromEntries(
    Object.entries(settings).map(([setting, value]) => [
      (platform && optionsOf(platform)[setting]?.label) ?? `Platform ${setting}`,
      value,
    ]),
  );
