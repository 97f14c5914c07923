/** The interface of chat platforms. Each platform is a file in this folder; `registry.ts` lists them. */
import * as v from 'valibot';
import type { PlatformSettings, PreviousSecret } from '../accounts/platform-settings.ts';
import { now } from '../core/clock.ts';
import type { Content, Entry, Outgoing } from '../outbox/event.ts';
import type { Message, State } from '../outbox/message.ts';
import { type AttemptResult, retryResult } from './attempt-result.ts';
import type { Destination } from './destination.ts';
import { notSetUp, type OutboundRequest, type OutboundResponse } from './http/request.ts';

/** A chat platform: its settings, and its requests. */
export interface Platform {
  /** The operator's settings, by name: first those for requests to the platform, then those for requests from it. */
  options: Record<string, SettingOption>;
  /** Validates the settings of an account. @throws v.ValiError — with the validation errors */
  check(given: unknown): PlatformSettings;
  /** The destination of an account's conversations, by the account's settings and its replaced secrets. */
  destination(settings: unknown, previousSecrets?: PreviousSecret[]): Omit<Destination, 'name'>;
  /** A request that tests an account's settings, and changes nothing on the platform. */
  probe(settings: unknown, previousSecrets?: PreviousSecret[]): Probe | undefined;
}

/** A setting that operators enter. */
export interface SettingOption {
  /** For help: follows `--platform-name <value>`. */
  description: string;
  /** The name with which the value is shown. A setting without a label is a secret, and never shown. */
  label?: string;
  /** Generates a secret if none is given. */
  make?: () => string;
}

/** A request that tests settings. `problem` returns the error as a sentence, or undefined if the settings work. */
interface Probe {
  request: OutboundRequest;
  problem(status: number, body: string): string | undefined;
}

type Settings = v.ObjectSchema<v.ObjectEntries, undefined>;

type Options<Schema extends Settings> = Record<keyof Schema['entries'], SettingOption>;

interface Description<Out extends Settings, In extends Settings> {
  settings: Out;
  /** Settings for requests from the platform. */
  hook?: In;
  options: Options<Out> & Options<In>;
  /** `previousSecrets` also sign, besides the one in the settings. `status` replaces the one that the entry reports. */
  buildRequest: (
    entry: Entry,
    settings: v.InferOutput<Out>,
    previousSecrets: string[],
    status?: string,
  ) => OutboundRequest | undefined;
  interpret?: Destination['interpret'];
  receiptFor?: Destination['receiptFor'];
  spacing?: Destination['spacing'];
  hasHistory?: Destination['hasHistory'];
  probe: (settings: v.InferOutput<Out>, previousSecrets: string[]) => Probe;
}

type None = v.ObjectSchema<Record<never, never>, undefined>;

/** Defines a platform by the schemas of its settings, and the requests that deliver entries to it. */
export const describePlatform = <const Out extends Settings, const In extends Settings = None>({
  settings,
  hook,
  options,
  buildRequest,
  interpret,
  receiptFor,
  spacing,
  hasHistory,
  probe,
}: Description<Out, In>): Platform => ({
  options,
  check: (given) => {
    const all: Settings = v.object({ ...settings.entries, ...hook?.entries });
    const taken = Object.entries(v.parse(all, given));
    const inward = taken.filter(([name]) => hook !== undefined && name in hook.entries);
    return {
      settings: Object.fromEntries(taken.filter((setting) => !inward.includes(setting))),
      ...(inward.length > 0 && { hook: Object.fromEntries(inward) }),
    };
  },
  destination: (given, previous = []) => {
    const { success, output } = v.safeParse(settings, given);
    if (!success) return { buildRequest: notSetUp, ...(hasHistory && { hasHistory }) };
    return {
      buildRequest: (entry, status) => buildRequest(entry, output, inUse(previous), status),
      ...(interpret && { interpret }),
      ...(receiptFor && { receiptFor }),
      ...(spacing && { spacing }),
      ...(hasHistory && { hasHistory }),
    };
  },
  probe: (given, previous = []) => {
    const { success, output } = v.safeParse(settings, given);
    return success ? probe(output, inUse(previous)) : undefined;
  },
});

/** The previous secrets that have not expired. */
const inUse = (previous: PreviousSecret[]): string[] =>
  previous.filter(({ until }) => until > now()).map(({ secret }) => secret);

/**
 * Returns a function that makes a status of an entry's content, if the entry reports a state of a message that the
 * platform sent.
 *
 * @param names - the platform's names of the states that are reported
 */
export const statusReader =
  <Status extends string>(platform: string, names: Partial<Record<State, Status>>) =>
  (outgoing: Outgoing): PlatformStatus<Status> | undefined => {
    if (outgoing.type !== 'message.state') return undefined;
    const { message, created } = outgoing;
    if (message.origin?.platform !== platform) return undefined;
    const status = names[outgoing.state];
    const { id, generation = 0 } = message.origin;
    return status && { id, generation, status, created, message };
  };

/** A status of a message that the platform sent. */
interface PlatformStatus<Status> {
  /** The platform's id of the message, and how often the platform has resent it. */
  id: string;
  generation: number;
  status: Status;
  /** When the message reached the state. */
  created: string;
  message: Message;
}

/** A user's message as a text, for platforms that accept only texts: media become their URL. */
export const textOf = (content: Content): string => {
  if (content.type === 'text') return content.text.body;
  return content.type === 'image' ? content.image.url : content.file.url;
};

/**
 * A retry, if the response shows that the settings are wrong: the platform rejects the token, or the URL does not
 * exist. Users' messages are also retried after 404, until the settings are corrected. Statuses are not, because a 404
 * may mean an unknown message.
 */
export const interpretSettingsError = (answer: OutboundResponse, { outgoing }: Entry): AttemptResult | undefined => {
  const mistaken = outgoing.type === 'message.received' ? [401, 403, 404] : [401, 403];
  return mistaken.includes(answer.status) ? retryResult(answer) : undefined;
};
