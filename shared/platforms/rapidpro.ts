/** RapidPro and TextIt, by a channel of the type "External API" (protocols, "RapidPro / TextIt"; spec §4.11). */
import * as v from 'valibot';
import { now, scaled } from '../core/clock.ts';
import { hashOf } from '../core/idempotency.ts';
import type { Entry, PlatformDraft } from '../messaging/events.ts';
import { type AttemptResult, interpretByStatus, retryResult } from '../outbound/attempt-result.ts';
import { formRequest, type OutboundResponse } from '../outbound/request.ts';
import { listOf, shownAs } from '../validation/bounded.ts';
import {
  atMost,
  destinationUrl,
  MAX_QUICK_REPLIES,
  MAX_TEXT,
  phoneNumberOrPlus,
  quickReplies,
  text,
  visibleText,
} from '../validation/schemas.ts';
import { describePlatform, interpretSettingsError, statusReader, textOf } from './platform.ts';

const status = (name: string, became: string) => ({
  label: `Address of "${name}"`,
  says: `where it is notified of messages that ${became} (default: beside the receive URL)`,
});

/** Times that the field `quick_reply` may come, blank ones included. */
const MAX_FIELDS = 100;

/** What it sends: a message to a user, or a part of one. Other fields are ignored. */
export const rapidproMessage = v.pipe(
  v.object({
    id: v.pipe(visibleText, atMost(255)),
    text: v.pipe(text, atMost(MAX_TEXT)),
    to_no_plus: v.optional(v.string(), ''),
    to: v.optional(v.string(), ''),
    quick_reply: v.optional(
      v.pipe(
        // Fields of a form are texts: the union fails only if there are too many.
        v.union(
          [shownAs({ maxItems: MAX_QUICK_REPLIES }, listOf(v.string(), { max: MAX_FIELDS, of: 'fields' })), v.string()],
          `must hold at most ${MAX_QUICK_REPLIES} quick replies`,
        ),
        v.transform((given) => [given].flat().filter((reply) => reply.trim() !== '')),
        quickReplies,
      ),
      [],
    ),
  }),
  v.forward(
    v.partialCheck(
      [['to_no_plus'], ['to']],
      (fields) => v.is(phoneNumberOrPlus, recipientIn(fields)),
      'must be a phone number in international format, here or in the field to: 7 to 15 digits',
    ),
    ['to_no_plus'],
  ),
);

/** Templates name the number either way. */
const recipientIn = ({ to_no_plus, to }: { to_no_plus: string; to: string }): string => to_no_plus || to;

/**
 * A message as it is delivered; nothing, where it is a blank part of a longer text. An attachment is its address, on a
 * line at the end of the text.
 */
export const fromRapidpro = (fields: v.InferOutput<typeof rapidproMessage>): PlatformDraft | undefined => {
  if (fields.text.trim() === '') return undefined;
  return {
    reference: fields.id,
    to: v.parse(phoneNumberOrPlus, recipientIn(fields)),
    type: 'text',
    // A message of attachments alone begins with the end of an empty line.
    text: { body: fields.text.replace(/^\n+(?=https?:)/, '') },
    ...(fields.quick_reply.length > 0 && { quick_replies: fields.quick_reply }),
  };
};

/** Bounds of a channel's max length, in bytes. */
const MAX_LENGTH = { least: 60, most: 6_400 };

const hook = v.object({
  // As an operator gives it: a text.
  max_length: v.optional(
    v.pipe(
      v.string(),
      v.check(
        (value) =>
          /^[1-9]\d{1,3}$/.test(value) && Number(value) >= MAX_LENGTH.least && Number(value) <= MAX_LENGTH.most,
        `must be a whole number from ${MAX_LENGTH.least} to ${MAX_LENGTH.most}`,
      ),
    ),
  ),
});

/** A part may end at a space so many bytes before the channel's max length, and the space is removed. */
const SPLIT_MARGIN = 6;

/** Bytes that a text has at least that can be an equal part of a longer one: all parts but the last one are about as long. */
export const leastPartOf = (set: object | undefined): number =>
  Number(v.parse(hook, set ?? {}).max_length ?? MAX_LENGTH.least) - SPLIT_MARGIN;

const statusOf = statusReader('rapidpro', {
  delivered_to_server: 'sent',
  delivered_to_user: 'delivered',
  delivery_failed: 'failed',
  sending_failed: 'failed',
});

export const rapidpro = describePlatform({
  settings: v.object({
    url: destinationUrl,
    sent_url: v.optional(destinationUrl),
    delivered_url: v.optional(destinationUrl),
    failed_url: v.optional(destinationUrl),
    stopped_url: v.optional(destinationUrl),
  }),
  options: {
    url: { label: 'Platform URL', says: "the channel's receive URL, https://HOST/c/ex/CHANNEL/receive" },
    sent_url: status('sent', 'were sent'),
    delivered_url: status('delivered', 'were delivered'),
    failed_url: status('failed', 'have failed'),
    stopped_url: {
      label: 'Address of "stopped"',
      says: 'where it is notified of users who are removed (default: beside the receive URL)',
    },
    max_length: {
      label: 'Max length',
      says: "the channel's Max length in bytes (default: unknown): a repeat of a shorter text is never sent again",
    },
  },
  hook,
  buildRequest: ({ created, outgoing }, settings) => {
    if (outgoing.type === 'message.received') {
      const { message, content } = outgoing;
      return formRequest(settings.url, { from: `+${message.phone}`, text: textOf(content), date: `${created}Z` });
    }
    if (outgoing.type === 'user.stopped') {
      return formRequest(settings.stopped_url ?? beside(settings.url, 'stopped'), { from: `+${outgoing.user.phone}` });
    }
    const report = statusOf(outgoing);
    return (
      report && formRequest(settings[`${report.status}_url`] ?? beside(settings.url, report.status), { id: report.id })
    );
  },
  interpret: (response, entry) =>
    (response.status === 400 ? interpret400(response, entry) : interpretSettingsError(response, entry)) ??
    interpretByStatus(response),
  // Parts of a message share one id, and their number is unknown: the status follows the first part.
  receiptFor: ({ outgoing }) => {
    const report = statusOf(outgoing);
    if (report === undefined) return undefined;
    const { id, status: state, generation, message } = report;
    const { accepted, expires_at } = message;
    return { id, generation, state, neverAfter: NEVER_AFTER[state], accepted, pauseMs: STATUS_PAUSE_MS, expires_at };
  },
  spacing: ({ outgoing }) => {
    if (outgoing.type !== 'message.received') return undefined;
    const { message, content } = outgoing;
    return { subject: hashOf([message.account, message.phone, textOf(content)]), pauseMs: TEXT_PAUSE_MS };
  },
  probe: ({ url }) => ({
    request: formRequest(url, {}),
    problem: (code, body) => {
      if (code === 400 && /'(?:from|sender)'/.test(body)) return undefined;
      if ([400, 404].includes(code) && /channel/i.test(body)) return 'It knows no such channel.';
      return "It should refuse an empty message with 400, as RapidPro's receive URL does.";
    },
  }),
});

/**
 * Milliseconds between the statuses of a message. Courier writes statuses in batches of half a second, with its own status
 * of a message that we have just accepted; of two in one batch it loses one.
 */
const STATUS_PAUSE_MS = 1_000;

/** Milliseconds between equal texts of a user. Courier takes the same text for a repeat for 2 to 4 s. */
const TEXT_PAUSE_MS = 4_000;

/** Statuses after which another one is not reported: RapidPro shows the last one that it receives. */
const NEVER_AFTER = { sent: ['delivered', 'failed'], delivered: ['failed'], failed: [] };

/** The text of courier's 400 if the request is wrong: the same request fails again. */
const REQUEST_ERROR =
  /not a possible number|phone number|must have one of|field '\w+' required|invalid date|converting value/i;

/** The text of courier's 400 if every request of the channel fails: it is inactive, or the database is down. */
const CHANNEL_ERROR = /channel|dial tcp|connection|timeout|database/i;

/** Milliseconds for which a status is retried after a 400 of another kind, so that it blocks users' messages no longer. */
const STATUS_PATIENCE_MS = 600_000;

/**
 * The meaning of courier's 400. Courier returns it for errors in the request, but also if the channel is inactive or its
 * database is down. So users' messages are retried, unless the response names the request. Statuses are retried as
 * long only where the response names the channel.
 */
const interpret400 = (response: OutboundResponse, { outgoing, created }: Entry): AttemptResult | undefined => {
  const { body = '' } = response;
  if (REQUEST_ERROR.test(body)) return undefined;
  const isYoung = now() < Date.parse(`${created}Z`) + scaled(STATUS_PATIENCE_MS);
  return outgoing.type === 'message.received' || isYoung || CHANNEL_ERROR.test(body)
    ? retryResult(response)
    : undefined;
};

/** The URL with another last segment. */
const beside = (receiveUrl: string, segment: string): string => {
  const url = new URL(receiveUrl);
  url.pathname = url.pathname.replace(/[^/]*\/?$/, segment);
  return url.href;
};
