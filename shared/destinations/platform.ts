/** The interface of chat platforms. Each platform is a file in this folder; `registry.ts` lists them. */
import * as v from 'valibot';
import { type Entry, mediaOf, type OutboxEvent, type ReceivedContent } from '../outbox/event.ts';
import type { Message, State } from '../outbox/message.ts';
import { type AttemptResult, retryResult } from './attempt-result.ts';
import type { Destination } from './destination.ts';
import { notSetUp, type OutboundRequest, type OutboundResponse } from './http/request.ts';
import { inUse, type PreviousSecret } from './signing-secrets.ts';

/** The settings of an account, as its rows in the table contain them. */
export interface PlatformSettings {
  /** For requests to the platform. Contains secrets. */
  settings: object;
  /** For requests of the platform: the secret that signs them, or the channel's Max length. */
  hook?: object;
}

/** A chat platform: the destination of an account's conversations, by the account's settings and its replaced secrets. */
export type Platform = (settings: unknown, previousSecrets?: PreviousSecret[]) => Omit<Destination, 'name'>;

export type SettingsSchema = v.ObjectSchema<v.ObjectEntries, undefined>;

interface Description<Schema extends SettingsSchema>
  extends Pick<Destination, 'interpret' | 'receiptFor' | 'minInterval' | 'hasHistory'> {
  settings: Schema;
  /** `previousSecrets` also sign, besides the one in the settings. `status` replaces the one that the entry reports. */
  buildRequest: (
    entry: Entry,
    settings: v.InferOutput<Schema>,
    previousSecrets: string[],
    status?: string,
  ) => OutboundRequest | undefined;
}

/** Defines a platform by the schema of its settings, and the requests that deliver entries to it. */
export const describePlatform =
  <const Schema extends SettingsSchema>({ settings, buildRequest, ...rest }: Description<Schema>): Platform =>
  (given, previous = []) => {
    const { success, output } = v.safeParse(settings, given);
    if (!success) return { buildRequest: notSetUp, ...(rest.hasHistory && { hasHistory: rest.hasHistory }) };
    return { buildRequest: (entry, status) => buildRequest(entry, output, inUse(previous), status), ...rest };
  };

/**
 * Returns a function that makes a status of an entry's content, if the entry reports a state of a message that the
 * platform sent.
 *
 * @param names - the platform's names of the states that are reported
 */
export const statusReader =
  <Status extends string>(platform: string, names: Partial<Record<State, Status>>) =>
  (outgoing: OutboxEvent): PlatformStatus<Status> | undefined => {
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

/**
 * A user's message as a text, for platforms that accept only texts: the caption, and the URL on a line of its own. A place is its
 * name, its address and a `geo` URI (RFC 5870).
 */
export const textOf = (content: ReceivedContent): string => {
  if (content.type === 'text') return content.text.body;
  if (content.type === 'location') {
    const { name, address, latitude, longitude } = content.location;
    return linesOf(name, address, `geo:${latitude},${longitude}`);
  }
  const { caption, url } = mediaOf(content) ?? {};
  return linesOf(caption, url);
};

/** Texts on lines of their own, without missing ones. */
export const linesOf = (...lines: (string | null | undefined)[]): string =>
  lines.filter((line) => line !== undefined && line !== null && line.trim() !== '').join('\n');

/**
 * A retry, if the response shows that the settings are wrong: the platform rejects the token, or the URL does not
 * exist. Users' messages are also retried after 404, until the settings are corrected. Statuses are not, because a 404
 * may mean an unknown message.
 */
export const interpretSettingsError = (answer: OutboundResponse, { outgoing }: Entry): AttemptResult | undefined => {
  const mistaken = outgoing.type === 'message.received' ? [401, 403, 404] : [401, 403];
  return mistaken.includes(answer.status) ? retryResult(answer) : undefined;
};
