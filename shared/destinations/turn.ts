/** Turn.io, by a channel account (infra/docs/wire-facts.md, "Turn: messages to users"). */
import { createHmac, timingSafeEqual } from 'node:crypto';
import * as v from 'valibot';
import { now } from '../core/clock.ts';
import { isDatafreeUrl } from '../media/media.ts';
import { type Content, type Entry, type PlatformDraft, subjectOf } from '../outbox/event.ts';
import { shownAs } from '../validation/bounded.ts';
import {
  atMost,
  destinationUrl,
  mediaUrl,
  messageText,
  phoneNumberOrPlus,
  text,
  visibleText,
} from '../validation/schemas.ts';
import { type AttemptResult, causeOf, interpretByStatus } from './attempt-result.ts';
import { jsonRequest, type OutboundRequest, type OutboundResponse } from './http/request.ts';
import { retryAfterIn } from './http/retry-after.ts';
import { describePlatform, interpretSettingsError, statusReader, textOf } from './platform.ts';
import type { PlatformSetup } from './setup.ts';

/** Whether a request is an ordinary webhook of Turn, not a message to a user. Turn may send both to the same URL. */
export const isOrdinaryWebhook = (
  { 'x-turn-hook-subscription': subscription }: { 'x-turn-hook-subscription'?: string | undefined },
  { statuses, messages }: Record<string, unknown>,
): boolean => subscription !== undefined || Array.isArray(statuses) || Array.isArray(messages);

const hook = v.object({ hmac_secret: v.optional(visibleText) });

/** Whether the body of a request was signed with the channel's secret; true if no secret is set. */
export const isSigned = (bytes: Buffer, signature: string | undefined, set: object | undefined): boolean => {
  const { hmac_secret: secret } = v.parse(hook, set ?? {});
  if (secret === undefined) return true;
  const given = Buffer.from(signature ?? '', 'base64');
  const right = createHmac('sha256', secret).update(bytes).digest();
  return given.length === right.length && timingSafeEqual(given, right);
};

/** Most characters of a caption: with the URL, it still fits into a message. */
const MAX_CAPTION = 2_000;

const media = v.object({ link: mediaUrl, caption: v.nullish(v.pipe(text, atMost(MAX_CAPTION))) });

const content = v.variant('type', [
  v.object({ type: v.literal('text'), text: v.object({ body: messageText }) }),
  v.object({ type: v.literal('image'), image: media }),
  v.object({ type: v.literal('document'), document: media }),
]);

const to = phoneNumberOrPlus;

/** A message from Turn, in the form of the Channel API or of WhatsApp. Further keys are ignored; many are null. */
export const turnMessage = v.lazy((given) => {
  const { turn: inner, type } = isRecord(given) ? given : {};
  if (isRecord(inner)) return channelMessage;
  return type === undefined || type === null ? plainMessage : whatsappMessage;
});

/** Turn sends further fields, which the description allows by name: a field of one form may occur in another. */
const MORE_FIELDS = { additionalProperties: true };

const channelMessage = shownAs(MORE_FIELDS, v.object({ to, turn: content }));
const plainMessage = shownAs(MORE_FIELDS, v.object({ to, content: messageText }));
const whatsappMessage = v.intersect([shownAs(MORE_FIELDS, v.object({ to })), content]);

/** The forms of a message, for the API description. */
export const turnMessages = [channelMessage, plainMessage, whatsappMessage] as const;

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/**
 * The message for the user. An image or a document with a datafree URL, and without a caption, is delivered as an image
 * or file. Others are delivered as text: the caption, and the URL on a line of its own.
 */
export const fromTurn = (message: v.InferOutput<typeof turnMessage>): PlatformDraft => {
  const recipient = message.to;
  if ('content' in message) return { to: recipient, type: 'text', text: { body: message.content } };
  const [given, index] = 'turn' in message ? [message.turn, '#/turn'] : [message, '#'];
  const content = contentOf(given);
  return { to: recipient, ...content, ...(content.type !== 'text' && { mediaAt: `${index}/${given.type}/link` }) };
};

const contentOf = (given: v.InferOutput<typeof content>): Content => {
  if (given.type === 'text') return { type: 'text', text: { body: given.text.body } };
  const { link, caption } = given.type === 'image' ? given.image : given.document;
  if (caption?.trim()) return { type: 'text', text: { body: `${caption}\n${link}` } };
  if (!isDatafreeUrl(link)) return { type: 'text', text: { body: link } };
  return given.type === 'image' ? { type: 'image', image: { url: link } } : { type: 'file', file: { url: link } };
};

const statusOf = statusReader('turn', {
  delivered_to_server: 'sent',
  delivered_to_user: 'delivered',
  read: 'read',
  delivery_failed: 'failed',
  sending_failed: 'failed',
});

const settings = v.object({
  url: v.optional(
    v.pipe(destinationUrl, v.regex(/^[^?#]*$/, 'must be an address without ? and #')),
    'https://whatsapp.turn.io',
  ),
  channel: v.pipe(v.string(), v.regex(/^[\w-]{1,255}$/, 'must be 1 to 255 letters, digits, hyphens or underscores')),
  // These characters are valid in a header.
  token: v.pipe(v.string(), v.regex(/^[!-~]{1,4096}$/, 'must be 1 to 4096 letters, digits and signs, without spaces')),
});

export const turn = describePlatform({
  settings,
  buildRequest: (entry, given) => {
    const [path, document] = callFor(entry) ?? [];
    return path === undefined ? undefined : requestTo(given, path, document);
  },
  interpret: (response, entry) => {
    if (response.status === 429)
      return { status: 'rate_limited', cause: causeOf(response), wait: untilReset(response) };
    const result = interpretSettingsError(response, entry) ?? interpretByStatus(response);
    // Some versions of Turn reject the status `failed`.
    const settled = result.status === 'rejected' && statusOf(entry.outgoing)?.status === 'failed';
    return settled ? DELIVERED : result;
  },
});

const DELIVERED: AttemptResult = { status: 'delivered' };

const requestTo = (
  { url, channel, token }: v.InferOutput<typeof settings>,
  path: string,
  document: unknown,
): OutboundRequest =>
  jsonRequest(`${url.replace(/\/+$/, '')}/v1/numbers/${channel}/${path}`, document, {
    authorization: `Bearer ${token}`,
  });

/** The path and the body of the request that delivers an entry. */
const callFor = ({ created, outgoing }: Entry): [path: string, document: object] | undefined => {
  const number = `+${subjectOf(outgoing).phone}`;
  if (outgoing.type === 'message.received') {
    const body = { type: 'text', text: { body: textOf(outgoing.content) } };
    const about = { from: number, id: outgoing.message.id, timestamp: seconds(created) };
    return ['messages', { contact: { id: number, profile: { name: number } }, message: { ...body, ...about } }];
  }
  const report = statusOf(outgoing);
  if (report === undefined) return undefined;
  const { id, status } = report;
  return ['statuses', { status: { id, timestamp: seconds(report.created), status, recipient_id: number } }];
};

/** A time in Turn's form: whole seconds since 1970, as a string. */
const seconds = (time: string): string => String(Math.floor(Date.parse(`${time}Z`) / 1000));

/** Milliseconds of a pause if Turn's response contains no time. */
const A_MINUTE = 60_000;

/** Milliseconds until Turn accepts requests again. `x-ratelimit-reset` is in seconds since 1970. */
const untilReset = (response: OutboundResponse): number => {
  const reset = Number(response.headers['x-ratelimit-reset'] || Number.NaN) * 1000 - now();
  return Number.isFinite(reset) ? Math.max(reset, 0) : (retryAfterIn(response) ?? A_MINUTE);
};

/** The fields of the Channel API: whatsapp.turn.io/docs/api/channel_api. */
export const turnSetup: PlatformSetup<typeof settings, typeof hook> = {
  title: 'Turn',
  form: 'POST https://whatsapp.turn.io/v1/numbers',
  steps: [
    'In Turn, open Settings, then API & Webhooks, of a number that you already have, and create an authentication token.',
    'With that token, create the channel by a POST to /v1/numbers with these fields as JSON. If the channel exists, set its endpoint to the URL instead.',
    'Copy uuid and hmac_secret from the response.',
    'Select the new channel in Turn, open Settings, then API & Webhooks, and create its own authentication token.',
  ],
  fields: ({ bridgeUrl, encodedToken, botNumber, name }) => [
    { field: 'backend_type', value: 'channel' },
    { field: 'number_type', value: 'channel_http_api' },
    { field: 'from_addr', value: botNumber },
    { field: 'name', value: name },
    {
      field: 'endpoint',
      value: `${bridgeUrl}/v1/webhook/turn/${encodedToken}`,
      secret: true,
      note: 'The URL contains the encoded token, because Turn sends no Authorization header of ours. Treat it as a secret.',
    },
  ],
  inbound: {
    tokenField: "Turn's URL",
    // An ordinary webhook.
    request: ({ bridgeUrl, encodedToken }) =>
      jsonRequest(`${bridgeUrl}/v1/webhook/turn/${encodedToken}`, { statuses: [] }),
  },
  settings,
  hook,
  options: {
    url: { label: 'Platform URL', description: "Turn's URL (default: https://whatsapp.turn.io)" },
    channel: {
      label: 'Channel',
      description: "the channel's UUID at Turn",
      question: {
        label: 'Channel UUID',
        where: 'In the response to the request that created the channel: number.uuid.',
        example: '8c1a9f0e-4e0b-4c43-9c3f-1f1f0d6f3f5e',
      },
    },
    token: {
      description: 'the authentication token that the customer created at Turn',
      question: {
        label: "Turn's authentication token",
        where: 'In Turn, in Settings, API & Webhooks, of the channel.',
        example: '',
      },
    },
    hmac_secret: {
      description: "the channel's hmac_secret (default: none). If set, unsigned requests are rejected",
      question: {
        label: 'HMAC secret',
        where: 'In the response to the request that created the channel: webhook.hmac_secret.',
        example: '',
      },
    },
  },
  probe: (given) => ({
    request: requestTo(given, 'messages', {}),
    fault: ({ status }) => {
      if ([400, 422, 429].includes(status)) return undefined;
      if (status === 401 || status === 403) {
        return {
          cause: `It refuses the token (${status}).`,
          fix: 'Create an authentication token of this channel in Turn, in Settings, API & Webhooks, and enter it.',
        };
      }
      if (status === 404) {
        return {
          cause: 'It knows no such channel.',
          fix: "Check the channel's UUID: number.uuid in the response that created the channel.",
        };
      }
      return {
        cause: `This is not Turn's API: it should refuse an empty message with 400, but returned ${status}.`,
        fix: "Check Turn's URL. Without a host of your own, leave it out.",
      };
    },
  }),
  proved: 'Token and channel are right: Turn refused an empty message, as it should. Nobody gets a message.',
};
