/** What a chat platform is to the service. One file for each, in this folder; `registry.ts` lists them. */
import * as v from 'valibot';
import type { PlatformSettings, PreviousSecret } from '../accounts/platform-settings.ts';
import { now } from '../core/clock.ts';
import type { Content, Entry, Outgoing } from '../messaging/events.ts';
import type { Message, State } from '../messaging/message.ts';
import { type AttemptResult, retryResult } from '../outbound/attempt-result.ts';
import type { Destination } from '../outbound/destination.ts';
import { notSetUp, type OutboundRequest, type OutboundResponse } from '../outbound/request.ts';

/** How the service talks to an account's platform. */
export interface Platform {
  /** The settings of an operator, by name: first for notifications, then for the platform's own requests. */
  options: Record<string, SettingOption>;
  /** What an operator sets for an account, checked. @throws v.ValiError — with what is wrong */
  check(given: unknown): PlatformSettings;
  /** The destination of an account's conversations, by the account's settings and the secrets that it had lately. */
  destination(settings: unknown, previousSecrets?: PreviousSecret[]): Omit<Destination, 'name'>;
  /** A call that shows whether an account's settings are good, and changes nothing over there. */
  probe(settings: unknown, previousSecrets?: PreviousSecret[]): Probe | undefined;
}

/** A setting as an operator gives it. */
export interface SettingOption {
  /** What it is, for help: follows `--platform-name <value>`. */
  says: string;
  /** What it is called where it is shown. Without one it is a secret: never shown. */
  label?: string;
  /** Makes a secret where none is given. */
  make?: () => string;
}

/** A call, and what its answer means: what is wrong, as a sentence, or nothing. */
interface Probe {
  request: OutboundRequest;
  problem(status: number, body: string): string | undefined;
}

type Settings = v.ObjectSchema<v.ObjectEntries, undefined>;

type Options<Schema extends Settings> = Record<keyof Schema['entries'], SettingOption>;

interface Description<Out extends Settings, In extends Settings> {
  settings: Out;
  /** How its own requests are authenticated, if it signs them. */
  hook?: In;
  options: Options<Out> & Options<In>;
  /** `previousSecrets` sign beside the one in the settings. */
  buildRequest: (entry: Entry, settings: v.InferOutput<Out>, previousSecrets: string[]) => OutboundRequest | undefined;
  interpret?: Destination['interpret'];
  receiptFor?: Destination['receiptFor'];
  spacing?: Destination['spacing'];
  probe: (settings: v.InferOutput<Out>, previousSecrets: string[]) => Probe;
}

type None = v.ObjectSchema<Record<never, never>, undefined>;

/** Describes a platform by the form of its settings, and the requests that notify it. */
export const describePlatform = <const Out extends Settings, const In extends Settings = None>({
  settings,
  hook,
  options,
  buildRequest,
  interpret,
  receiptFor,
  spacing,
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
    if (!success) return { buildRequest: notSetUp };
    return {
      buildRequest: (entry) => buildRequest(entry, output, inUse(previous)),
      ...(interpret && { interpret }),
      ...(receiptFor && { receiptFor }),
      ...(spacing && { spacing }),
    };
  },
  probe: (given, previous = []) => {
    const { success, output } = v.safeParse(settings, given);
    return success ? probe(output, inUse(previous)) : undefined;
  },
});

/** The previous secrets that sign at this moment. */
const inUse = (previous: PreviousSecret[]): string[] =>
  previous.filter(({ until }) => until > now()).map(({ secret }) => secret);

/**
 * Returns a function that reads a platform's status of one of its own messages from an entry: the platform's id of the
 * message, the status by the platform's name, its time, and the message. `names` contains the states that are reported.
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

/** A status of one of a platform's own messages. */
interface PlatformStatus<Status> {
  /** The platform's id of the message, and how often the platform has resent it. */
  id: string;
  generation: number;
  status: Status;
  /** Since when. */
  created: string;
  message: Message;
}

/** A user's message for a platform that accepts only texts: media become their URL. */
export const textOf = (content: Content): string => {
  if (content.type === 'text') return content.text.body;
  return content.type === 'image' ? content.image.url : content.file.url;
};

/**
 * A retry, if the response shows that the settings are wrong: the platform rejects the token, or the URL does not exist.
 * Users' messages are retried until the settings are corrected. States of a message that the platform does not know are not.
 */
export const interpretSettingsError = (answer: OutboundResponse, { outgoing }: Entry): AttemptResult | undefined => {
  const mistaken = outgoing.type === 'message.received' ? [401, 403, 404] : [401, 403];
  return mistaken.includes(answer.status) ? retryResult(answer) : undefined;
};
