/**
 * How operators connect a chat platform: the settings that they enter, the values for the platform's form, and checks. Each
 * platform's file exports this apart from its requests, as a literal, so that the bundles of functions leave it out.
 */

import * as v from 'valibot';
import type { OutboundRequest } from './http/request.ts';
import type { PlatformSettings, SettingsSchema } from './platform.ts';
import { inUse, type PreviousSecret } from './signing-secrets.ts';

type None = v.ObjectSchema<Record<never, never>, undefined>;

/** What operators need of a chat platform, by the schemas of its settings. */
export interface PlatformSetup<Out extends SettingsSchema, In extends SettingsSchema = None> {
  /** The platform's name for people. */
  title: string;
  /** What the fields belong to: `Add channel: External API`. */
  form: string;
  /** Where to click, in order; each step is a sentence. */
  steps: string[];
  /** The fields of the form, in its order, with those that stay empty. */
  fields(values: ConnectValues): ConnectField[];
  /** How the platform calls the service with a token of the account; missing if it does not. */
  inbound?: Inbound;
  settings: Out;
  /** Settings for requests from the platform. */
  hook?: In;
  /** What operators enter, by the name of the setting: first `settings`, then `hook`. */
  options: Record<keyof Out['entries'] | keyof In['entries'], SettingOption>;
  /**
   * A request that tests an account's settings, and changes nothing on the platform.
   *
   * @param previousSecrets - they also sign, besides the one in the settings
   */
  probe(settings: v.InferOutput<Out>, previousSecrets: string[]): Probe;
  /** What it proves that the test request succeeds, and what the platform got. */
  proved: string;
}

export type AnySetup = PlatformSetup<SettingsSchema, SettingsSchema>;

/** The values of one connection. The documentation passes placeholders, such as `BRIDGE_URL` and `TOKEN`. */
export interface ConnectValues {
  /** The URL of the bridge host, without a slash at the end. */
  bridgeUrl: string;
  /** A token of the account with the permission `bridge`. */
  token: string;
  /** The token as part of a path: `encodeToken(token)`, or a placeholder. */
  encodedToken: string;
  /** The bot's number, without +. */
  botNumber: string;
  /** The name of the business. */
  name: string;
  /** The account's settings, by name. */
  settings?: Record<string, string>;
  /** Secrets that were created now, by the name of their setting: they are shown once. */
  made?: Record<string, string>;
}

/** A token as part of a path: base64url without padding, as the authorizer decodes it. */
export const encodeToken = (token: string): string => Buffer.from(token).toString('base64url');

/** A field of the platform's form. */
export interface ConnectField {
  /** The field as the platform names it. */
  field: string;
  /** What to enter or to choose; empty if the field stays empty. */
  value: string;
  /** Whether the value is a secret, or contains one. */
  secret?: true;
  /** What a person may wonder about the field. One or two sentences. */
  note?: string;
}

interface Inbound {
  /** The field of the form that contains the token. */
  tokenField: string;
  /** A request as the platform would send it, which the service accepts and ignores. */
  request(values: Pick<ConnectValues, 'bridgeUrl' | 'token' | 'encodedToken'>): OutboundRequest;
}

/** A setting that operators enter. */
interface SettingOption {
  /** For help: follows `--platform-name <value>`. */
  description: string;
  /** The name with which the value is shown. A setting without a label is a secret, and never shown. */
  label?: string;
  /** Generates a secret if none is given. */
  make?: () => string;
  /** The value of a new connection if none is given, because the form names it. */
  preset?: string;
  /** How `operator connect` asks for it: its name, and where a person finds it. */
  question?: Pick<PlatformAnswer, 'label' | 'where' | 'example'>;
}

/** A setting that the platform shows after its form is saved, and that the service needs. */
export interface PlatformAnswer {
  /** The name of the setting. */
  setting: string;
  label: string;
  /** Where a person finds it. */
  where: string;
  /** An example, which is not valid. Empty for secrets. */
  example: string;
  required: boolean;
  secret: boolean;
}

/** A request that tests settings. */
interface Probe {
  request: OutboundRequest;
  /** Why a response shows that the settings do not work; undefined if they do. Not for redirects and 5xx. */
  fault(response: CheckedResponse): Explanation | undefined;
}

export interface CheckedResponse {
  status: number;
  body: string;
}

/** Why something failed, in sentences without secrets. */
export interface Explanation {
  cause: string;
  /** What to do, in one or two sentences. */
  fix: string;
}

/** Validates the settings of an account. @throws v.ValiError — with the validation errors */
export const checkSettings = ({ settings, hook }: AnySetup, given: unknown): PlatformSettings => {
  const taken = Object.entries(v.parse(v.object({ ...settings.entries, ...hook?.entries }), given));
  const inward = taken.filter(([name]) => hook !== undefined && name in hook.entries);
  return {
    settings: Object.fromEntries(taken.filter((setting) => !inward.includes(setting))),
    ...(inward.length > 0 && { hook: Object.fromEntries(inward) }),
  };
};

/** The test request of an account's settings, and of its replaced secrets. Undefined if they are invalid. */
export const probeOf = (setup: AnySetup, given: unknown, previous: PreviousSecret[] = []): Probe | undefined => {
  const { success, output } = v.safeParse(setup.settings, given);
  return success ? setup.probe(output, inUse(previous)) : undefined;
};

/** The settings that the platform shows after its form is saved, and that `operator connect` asks for. */
export const answersOf = ({ settings, hook, options }: AnySetup): PlatformAnswer[] =>
  Object.entries(options).flatMap(([setting, { question, label }]) => {
    const required = (settings.entries[setting] ?? hook?.entries[setting])?.type !== 'optional';
    return question ? [{ setting, ...question, required, secret: label === undefined }] : [];
  });
