/**
 * RapidPro and TextIt, by a channel of the type "External API" (infra/docs/wire-facts.md, "RapidPro: messages to
 * users").
 */
import * as v from 'valibot';
import { now, scaled } from '../core/clock.ts';
import { hashOf } from '../core/idempotency.ts';
import { newId } from '../core/ids.ts';
import type { Entry, PlatformDraft } from '../outbox/event.ts';
import { listOf, shownAs } from '../validation/bounded.ts';
import { numberError } from '../validation/phone-numbers.ts';
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
import { type AttemptResult, interpretByStatus, retryResult } from './attempt-result.ts';
import { formRequest, type OutboundResponse } from './http/request.ts';
import { describePlatform, interpretSettingsError, statusReader, textOf } from './platform.ts';
import type { PlatformSetup } from './setup.ts';

/** Most repetitions of the field `quick_reply`, including blank ones. */
const MAX_FIELDS = 100;

/** A request of RapidPro: a message to a user, or a part of one. Further fields are ignored. */
export const rapidproMessage = v.pipe(
  v.object({
    id: v.pipe(visibleText, atMost(255)),
    text: v.pipe(text, atMost(MAX_TEXT)),
    to_no_plus: v.optional(v.string(), ''),
    to: v.optional(v.string(), ''),
    quick_reply: v.optional(
      v.pipe(
        // All fields of a form are texts, so the union fails only if there are too many.
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
      ({ input }) =>
        numberError(
          'must be a phone number in international format, here or in the field to: 7 to 15 digits',
          recipientIn(input),
          true,
        ),
    ),
    ['to_no_plus'],
  ),
);

/** A channel's template contains one of the two fields. */
const recipientIn = ({ to_no_plus, to }: { to_no_plus: string; to: string }): string => to_no_plus || to;

/**
 * The message for the user; undefined for a blank part of a longer text. The text ends with the URLs of attachments,
 * each on a line of its own.
 */
export const fromRapidpro = (fields: v.InferOutput<typeof rapidproMessage>): PlatformDraft | undefined => {
  if (fields.text.trim() === '') return undefined;
  return {
    reference: fields.id,
    to: v.parse(phoneNumberOrPlus, recipientIn(fields)),
    type: 'text',
    // A message that has only attachments begins with an empty line.
    text: { body: fields.text.replace(/^\n+(?=https?:)/, '') },
    ...(fields.quick_reply.length > 0 && { quick_replies: fields.quick_reply }),
  };
};

/** Bounds of a channel's max length, in bytes. */
const MAX_LENGTH = { min: 60, most: 6_400 };

const hook = v.object({
  // Operators enter it as a text.
  max_length: v.optional(
    v.pipe(
      v.string(),
      v.check(
        (value) => /^[1-9]\d{1,3}$/.test(value) && Number(value) >= MAX_LENGTH.min && Number(value) <= MAX_LENGTH.most,
        `must be a whole number from ${MAX_LENGTH.min} to ${MAX_LENGTH.most}`,
      ),
    ),
  ),
});

/** RapidPro may split at a space up to this many bytes before the Max length, and removes the space. */
const SPLIT_MARGIN = 6;

/**
 * Least bytes of a text that can be an equal part: all parts except the last one are almost as long as the Max length.
 */
export const leastPartOf = (set: object | undefined): number =>
  Number(v.parse(hook, set ?? {}).max_length ?? MAX_LENGTH.min) - SPLIT_MARGIN;

const statusOf = statusReader('rapidpro', {
  delivered_to_server: 'sent',
  delivered_to_user: 'delivered',
  // RapidPro has no status for it. A message that was read was delivered.
  read: 'delivered',
  delivery_failed: 'failed',
  sending_failed: 'failed',
});

const settings = v.object({
  url: destinationUrl,
  sent_url: v.optional(destinationUrl),
  delivered_url: v.optional(destinationUrl),
  failed_url: v.optional(destinationUrl),
  stopped_url: v.optional(destinationUrl),
});

export const rapidpro = describePlatform({
  settings,
  buildRequest: ({ created, outgoing }, { url, ...urls }, _, status) => {
    if (outgoing.type === 'message.received') {
      const { message, content } = outgoing;
      return formRequest(url, { from: `+${message.phone}`, text: textOf(content), date: `${created}Z` });
    }
    // RapidPro has no request for a user who starts again.
    if (outgoing.type === 'user.stopped' || (outgoing.type === 'user.state' && outgoing.state === 'stopped')) {
      return formRequest(urls.stopped_url ?? beside(url, 'stopped'), { from: `+${outgoing.user.phone}` });
    }
    const report = statusOf(outgoing);
    if (report === undefined) return undefined;
    const name = statuses.find((one) => one === status) ?? report.status;
    return formRequest(urls[`${name}_url`] ?? beside(url, name), { id: report.id });
  },
  interpret: (response, entry) =>
    (response.status === 400 ? interpret400(response, entry) : interpretSettingsError(response, entry)) ??
    interpretByStatus(response),
  // Parts of a message share one id, and their number is unknown: the status follows the first part.
  receiptFor: ({ outgoing }) => {
    const report = statusOf(outgoing);
    if (report === undefined) return undefined;
    const { id, status: state, generation, message } = report;
    const { id: message_id, accepted, expires_at } = message;
    return {
      id,
      generation,
      message: message_id,
      state,
      neverAfter: NEVER_AFTER[state],
      accepted,
      pauseMs: STATUS_PAUSE_MS,
      expires_at,
    };
  },
  minInterval: ({ outgoing }) => {
    if (outgoing.type !== 'message.received') return undefined;
    const { message, content } = outgoing;
    return { subject: hashOf([message.account, message.phone, textOf(content)]), pauseMs: TEXT_PAUSE_MS };
  },
});

/** Milliseconds between the statuses of a message (infra/docs/wire-facts.md, "RapidPro: messages from users"). */
const STATUS_PAUSE_MS = 1_000;

/** Milliseconds between equal texts of a user, which courier would take for a repeat. */
const TEXT_PAUSE_MS = 4_000;

/** The statuses of RapidPro. */
const statuses = ['sent', 'delivered', 'failed'] as const;

/**
 * For each status, the statuses after which it is not reported, in their order: RapidPro shows the last one that it receives.
 * A message has failed if one of its parts has.
 */
const NEVER_AFTER = { sent: ['delivered', 'failed'], delivered: ['failed'], failed: [] };

/** The text of courier's 400 if the request is invalid: a retry would fail again. */
const REQUEST_ERROR =
  /not a possible number|phone number|must have one of|field '\w+' required|invalid date|converting value/i;

/** The text of courier's 400 if every request of the channel fails: it is inactive, or the database is down. */
const CHANNEL_ERROR = /channel|dial tcp|connection|timeout|database/i;

/** Milliseconds for which a status is retried after another 400. Longer retries would block the states of the user's later messages. */
const STATUS_PATIENCE_MS = 600_000;

/**
 * The meaning of courier's 400. Courier returns it for invalid requests, but also if the channel is inactive or its
 * database is down. So users' messages are retried, unless the response shows that the request is invalid. Statuses are
 * retried without a time limit of their own only if the response shows that the channel fails.
 */
const interpret400 = (response: OutboundResponse, { outgoing, created }: Entry): AttemptResult | undefined => {
  const { body = '' } = response;
  if (REQUEST_ERROR.test(body)) return undefined;
  const isYoung = now() < Date.parse(`${created}Z`) + scaled(STATUS_PATIENCE_MS);
  return outgoing.type === 'message.received' || isYoung || CHANNEL_ERROR.test(body)
    ? retryResult(response)
    : undefined;
};

/** The receive URL with another last segment of the path. */
const beside = (receiveUrl: string, segment: string): string => {
  const url = new URL(receiveUrl);
  url.pathname = url.pathname.replace(/[^/]*\/?$/, segment);
  return url.href;
};

/** The Max length of a new channel: the longest text of a message. */
const DEFAULT_MAX_LENGTH = '4096';

/** The form of an External API channel: rapidpro/rapidpro, temba/channels/types/external/views.py. */
export const rapidproSetup: PlatformSetup<typeof settings, typeof hook> = {
  title: 'RapidPro',
  form: 'Add channel: External API',
  steps: [
    'Open Settings, then Add Channel.',
    'Choose External API.',
    'Enter the values. Leave the other fields as they are.',
    'Save. RapidPro shows the receive URL.',
  ],
  fields: ({ bridgeUrl, token, botNumber, settings: { max_length = DEFAULT_MAX_LENGTH } = {} }) => [
    { field: 'URN type', value: 'Phone number' },
    { field: 'Number', value: botNumber },
    { field: 'Country', value: '' },
    { field: 'Method', value: 'HTTP POST', note: 'The service rejects GET and PUT.' },
    { field: 'Encoding', value: 'Default Encoding' },
    { field: 'Content type', value: 'URL Encoded', note: 'The service rejects JSON and XML.' },
    { field: 'Max length', value: max_length, note: 'In bytes, not characters. RapidPro splits longer texts.' },
    {
      field: 'Authorization header value',
      value: token,
      secret: true,
      note: 'The token alone, without "Bearer" or "Token" before it.',
    },
    { field: 'Send URL', value: `${bridgeUrl}/v1/webhook/rapidpro/` },
    {
      field: 'Request body',
      value: 'id={{id}}&text={{text}}&to_no_plus={{to_no_plus}}{{quick_replies}}',
      note: 'Replaces the body that the form suggests, which has no quick replies.',
    },
    { field: 'MT Response check', value: '' },
  ],
  inbound: {
    tokenField: "RapidPro's Authorization header",
    // A blank part of a longer text.
    request: ({ bridgeUrl, token }) => {
      const form = formRequest(`${bridgeUrl}/v1/webhook/rapidpro/`, { id: newId(), text: ' ', to_no_plus: '10000000' });
      return { ...form, headers: { ...form.headers, authorization: token } };
    },
  },
  settings,
  hook,
  options: {
    url: {
      label: 'Platform URL',
      description: "the channel's receive URL: https://HOST/c/ex/CHANNEL/receive",
      question: {
        label: 'Receive URL',
        where: 'RapidPro shows it on the page of the channel after you save the form. It ends with /receive.',
        example: 'https://HOST/c/ex/CHANNEL/receive',
      },
    },
    sent_url: {
      label: 'URL of "sent"',
      description: 'URL for messages that were sent (default: the receive URL, with the last segment "sent")',
    },
    delivered_url: {
      label: 'URL of "delivered"',
      description: 'URL for messages that were delivered (default: the receive URL, with the last segment "delivered")',
    },
    failed_url: {
      label: 'URL of "failed"',
      description: 'URL for messages that have failed (default: the receive URL, with the last segment "failed")',
    },
    stopped_url: {
      label: 'URL of "stopped"',
      description:
        'URL for users who stop the business or are removed (default: the receive URL, with the last segment "stopped")',
    },
    max_length: {
      label: 'Max length',
      description: "the channel's Max length in bytes (default: unknown). Repeats of shorter texts are never sent",
      preset: DEFAULT_MAX_LENGTH,
    },
  },
  probe: ({ url }) => ({
    request: formRequest(url, {}),
    fault: ({ status, body }) => {
      const last = new URL(url).pathname.split('/').findLast((part) => part !== '') ?? '';
      if (status === 400 && /'(?:from|sender)'/.test(body)) return undefined;
      if ([404, 405].includes(status) && last !== 'receive') {
        return {
          cause: `No channel has this URL. It should end with /receive; yours ends with /${last}.`,
          fix: "Copy the receive URL from the channel's page in RapidPro.",
        };
      }
      if ([400, 404].includes(status) && /channel/i.test(body)) {
        return {
          cause: 'It knows no such channel: the channel is inactive or deleted, or its id is wrong.',
          fix: "Check in RapidPro that the channel exists. Copy the receive URL from the channel's page.",
        };
      }
      if (status === 400 && CHANNEL_ERROR.test(body)) {
        return {
          cause: "RapidPro's database cannot be reached.",
          fix: 'Check again in some minutes. If it goes on, ask those who run RapidPro.',
        };
      }
      if (status === 404) return { cause: 'No channel has this URL.', fix: 'Copy the receive URL from RapidPro.' };
      if (status === 401 || status === 403) {
        return {
          cause: `A server before RapidPro asks for a password, or blocks the service (${status}).`,
          fix: 'Let requests to /c/ex/ pass without a password.',
        };
      }
      return {
        cause: `This is not a receive URL: it should refuse an empty message with 400, but returned ${status}.`,
        fix: "Copy the receive URL from the channel's page in RapidPro. It ends with /receive.",
      };
    },
  }),
  proved: 'The channel is active: it refused an empty message, as it should. Nobody gets a message.',
};
