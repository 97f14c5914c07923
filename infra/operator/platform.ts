/** An account's chat platform as `account` sets and shows it: the options for its settings, and what is said of them. */
import { randomBytes } from 'node:crypto';
import { type Command, Option } from 'commander';
import * as v from 'valibot';
import { type Account, type AccountPlatform, findPlatform, Refusal, showAccount } from '../../shared/accounts.ts';
import { type PlatformName, platforms } from '../../shared/platforms/platforms.ts';

type Settings = Record<string, string>;

/** How a setting is given, and what it is called where it is shown. Those without a label are secrets: never shown. */
interface SettingOption {
  option: Option;
  label?: string;
}

/** Every setting that a platform may have, by its name there; `check` of each platform says which ones it takes. */
const settingOptions: Record<string, SettingOption> = {
  url: {
    option: new Option('--platform-url <url>', 'where its webhook posts to: an https address'),
    label: 'Platform URL',
  },
  secret: {
    option: new Option(
      '--platform-secret <secret>',
      'what its webhook signs with: whsec_ and 24 to 64 bytes in base64 (default: the one it has, else a new one, which is shown once)',
    ),
  },
};

/** Secrets that are made where a platform has none and none is given. */
const makers: Partial<Record<PlatformName, Record<string, () => string>>> = {
  webhook: { secret: () => `whsec_${randomBytes(32).toString('base64')}` },
};

/** What a command line says of the platform: its name, or `false` for none any more, and settings. */
interface Given {
  name: PlatformName | false | undefined;
  settings: Settings;
}

const names = Object.keys(platforms);

/** Adds the options about the platform to a command. */
export const addPlatformOptions = (command: Command): void => {
  command
    .addOption(new Option('--platform <name>', "the chat platform that its users' messages go to").choices(names))
    .option('--no-platform', 'it has no platform any more: what waits for it is dropped');
  for (const { option } of Object.values(settingOptions)) command.addOption(option);
};

/** What is given of the platform; nothing, where nothing is. */
export const platformGivenIn = (command: Command): Given | undefined => {
  const { platform: name } = command.opts<{ platform?: PlatformName | false }>();
  const given = Object.entries(settingOptions).flatMap(([setting, { option }]): [string, string][] => {
    const value: unknown = command.getOptionValue(option.attributeName());
    return typeof value === 'string' ? [[setting, value]] : [];
  });
  if (name === undefined && given.length === 0) return undefined;
  if (name === false && given.length > 0) command.error('error: --no-platform takes no settings of a platform');
  return { name, settings: Object.fromEntries(given) };
};

/**
 * The platform that an account is to have: settings that are not given stay, and secrets that are missing are made.
 *
 * @returns the platform, and the secrets that were made
 * @throws Refusal — no such account, no platform to set anything of, or settings that it does not take
 */
export const platformFrom = async (
  account: string,
  { name, settings: given }: Given,
): Promise<{ platform: AccountPlatform | null; made: Settings }> => {
  if (name === false) return { platform: null, made: {} };
  const [current] = await Promise.all([findPlatform(account), showAccount(account)]);
  const wanted = name ?? current?.name;
  if (wanted === undefined) {
    throw new Refusal(
      `Account "${account}" has no platform yet. Say which one it has with --platform ${names.join('|')}.`,
    );
  }
  const known = { ...(current?.name === wanted && current.settings), ...given };
  const missing = Object.entries(makers[wanted] ?? {}).filter(([setting]) => !(setting in known));
  const made = Object.fromEntries(missing.map(([setting, make]) => [setting, make()]));
  return { platform: { name: wanted, settings: check(wanted, { ...known, ...made }) }, made };
};

const check = (name: PlatformName, settings: object): object => {
  try {
    const taken = platforms[name].check(settings);
    const [strange] = Object.keys(settings).filter((setting) => !(setting in taken));
    if (strange !== undefined) throw new Refusal(`The platform "${name}" has no ${optionOf(strange)}.`);
    return taken;
  } catch (error) {
    if (!(error instanceof v.ValiError)) throw error;
    throw new Refusal(error.issues.map((issue) => faultIn(name, issue)).join(' '));
  }
};

const faultIn = (name: PlatformName, { path, received, message }: v.BaseIssue<unknown>): string => {
  const option = optionOf(String(path?.[0]?.key));
  return received === 'undefined' ? `The platform "${name}" needs ${option}.` : `${option} ${message}.`;
};

const optionOf = (setting: string): string => settingOptions[setting]?.option.long ?? setting;

/** The settings of an account's platform that may be shown, by name. */
export const platformSettings = async ({ id, platform }: Account): Promise<Settings> => {
  const { settings } = (platform && (await findPlatform(id))) ?? { settings: {} };
  return Object.fromEntries(
    Object.entries(settings).flatMap(([setting, value]: [string, unknown]) =>
      settingOptions[setting]?.label !== undefined && typeof value === 'string' ? [[setting, value]] : [],
    ),
  );
};

/** Settings as programs get them. */
export const settingsInJson = (settings: Settings): Settings =>
  Object.fromEntries(Object.entries(settings).map(([setting, value]) => [`platform_${setting}`, value]));

/** Settings as people get them. */
export const settingsInWords = (settings: Settings): Settings =>
  Object.fromEntries(
    Object.entries(settings).map(([setting, value]) => [
      settingOptions[setting]?.label ?? `Platform ${setting}`,
      value,
    ]),
  );
