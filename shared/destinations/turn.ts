/** Turn.io, by a channel account (infra/docs/wire-facts.md, "Turn: messages to users"). */
import { createHmac, timingSafeEqual } from 'node:crypto';
import * as v from 'valibot';
import { now } from '../core/clock.ts';
import { type Entry, mediaOf, type OutboxEvent, type PlatformDraft, subjectOf } from '../outbox/event.ts';
import { listOf, shownAs } from '../validation/bounded.ts';
import {
  atMost,
  degrees,
  destinationUrl,
  MAX_QUICK_REPLIES,
  MAX_TEXT,
  mediaUrl,
  messageText,
  phoneNumberOrPlus,
  text,
  visibleText,
} from '../validation/schemas.ts';
import { type AttemptResult, causeOf, interpretByStatus } from './attempt-result.ts';
import { jsonRequest, type OutboundRequest, type OutboundResponse } from './http/request.ts';
import { retryAfterIn } from './http/retry-after.ts';
import { describePlatform, interpretSettingsError, linesOf, statusReader } from './platform.ts';
import type { PlatformSetup } from './setup.ts';

/** Whether a request is an ordinary webhook of Turn, not a message to a user. Turn may send both to the same URL. */
export const isOrdinaryWebhook = (
  headers: { 'x-turn-hook-subscription'?: string | undefined; 'x-whatsapp-id'?: string | undefined },
  { statuses, messages, _vnd: vendor }: Record<string, unknown>,
): boolean =>
  headers['x-turn-hook-subscription'] !== undefined ||
  // A copy of a message that was sent to a user: it would be sent again.
  headers['x-whatsapp-id'] !== undefined ||
  Object(Object(vendor).v1).direction === 'outbound' ||
  Array.isArray(statuses) ||
  Array.isArray(messages);

const hook = v.object({ hmac_secret: v.optional(visibleText) });

/** Whether the body of a request was signed with the channel's secret; true if no secret is set. */
export const isSigned = (bytes: Buffer, signature: string | undefined, set: object | undefined): boolean => {
  const { hmac_secret: secret } = v.parse(hook, set ?? {});
  if (secret === undefined) return true;
  const given = Buffer.from(signature ?? '', 'base64');
  const right = createHmac('sha256', secret).update(bytes).digest();
  return given.length === right.length && timingSafeEqual(given, right);
};

/** Most characters of a caption. */
const MAX_CAPTION = 2_000;

const shortText = v.pipe(text, atMost(MAX_TEXT));

const media = v.object({
  link: mediaUrl,
  caption: v.nullish(v.pipe(text, atMost(MAX_CAPTION))),
  filename: v.nullish(shortText),
});

const button = v.object({ reply: v.object({ title: messageText }) });
const row = v.object({ title: messageText, description: v.nullish(shortText) });

const section = v.object({ rows: listOf(row, { max: MAX_QUICK_REPLIES, of: 'rows' }) });

/** Buttons, or a list of which the user chooses one row. */
const interactive = v.object({
  header: v.nullish(
    v.object({
      text: v.nullish(shortText),
      image: v.nullish(media),
      video: v.nullish(media),
      document: v.nullish(media),
    }),
  ),
  body: v.object({ text: messageText }),
  footer: v.nullish(v.object({ text: v.nullish(shortText) })),
  action: v.pipe(
    v.object({
      buttons: v.optional(listOf(button, { max: MAX_QUICK_REPLIES, of: 'buttons' }), []),
      sections: v.optional(listOf(section, { max: MAX_QUICK_REPLIES, of: 'sections' }), []),
    }),
    v.check(({ buttons, sections }) => buttons.length + sections.length > 0, 'must have buttons or sections'),
  ),
});

const location = v.object({
  latitude: degrees(90),
  longitude: degrees(180),
  name: v.nullish(shortText),
  address: v.nullish(shortText),
});

const content = v.variant('type', [
  v.object({ type: v.literal('text'), text: v.object({ body: messageText }) }),
  v.object({ type: v.literal('image'), image: media }),
  v.object({ type: v.literal('document'), document: media }),
  v.object({ type: v.literal('audio'), audio: media }),
  v.object({ type: v.literal('video'), video: media }),
  v.object({ type: v.literal('sticker'), sticker: media }),
  v.object({ type: v.literal('location'), location }),
  v.object({ type: v.literal('interactive'), interactive }),
]);

const to = phoneNumberOrPlus;

/**
 * A message from Turn, in the form of the Channel API or of WhatsApp. Further keys are ignored; many are null. What has no form
 * that the app shows, such as a template, is sent as the text in `content`.
 */
export const turnMessage = v.lazy((given) => {
  const { turn: inner, type, content: fallback } = isRecord(given) ? given : {};
  const isShown = (shape: unknown): boolean =>
    Object(shape).type === 'text' || v.is(content, shape) || !v.is(messageText, fallback);
  if (isRecord(inner)) return isShown(inner) ? channelMessage : plainMessage;
  if (type === undefined || type === null) return plainMessage;
  return isShown(given) ? whatsappMessage : plainMessage;
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
 * The message for the user, as a text. A datafree URL on the last line of its own becomes an image or a file with a caption:
 * `sendFromPlatform`.
 */
export const fromTurn = (message: v.InferOutput<typeof turnMessage>): PlatformDraft => {
  if ('content' in message) return { to: message.to, type: 'text', text: { body: message.content } };
  const given = 'turn' in message ? message.turn : message;
  const { body, quick_replies } = textIn(given);
  return {
    ...{ to: message.to, type: 'text', text: { body } },
    ...(quick_replies && { quick_replies }),
    ...(given.type === 'document' && { asFile: true }),
  };
};

const textIn = (given: v.InferOutput<typeof content>): { body: string; quick_replies?: string[] } => {
  switch (given.type) {
    case 'text':
      return { body: given.text.body };
    case 'image':
      return { body: captioned(given.image) };
    case 'document':
      return { body: captioned(given.document) };
    case 'audio':
      return { body: captioned(given.audio) };
    case 'video':
      return { body: captioned(given.video) };
    case 'sticker':
      return { body: captioned(given.sticker) };
    case 'location': {
      const { name, address, latitude, longitude } = given.location;
      return { body: linesOf(name, address, `geo:${latitude},${longitude}`) };
    }
    case 'interactive':
      return choicesIn(given.interactive);
  }
};

const captioned = ({ caption, link }: v.InferOutput<typeof media>): string => linesOf(caption, link);

/** Buttons and rows become quick replies, as many as the app shows. Descriptions, and further rows, become lines of the text. */
const choicesIn = ({
  header,
  body,
  footer,
  action,
}: v.InferOutput<typeof interactive>): { body: string; quick_replies: string[] } => {
  const rows = action.sections.flatMap((section) => section.rows);
  const titles = [...action.buttons.map(({ reply }) => reply.title), ...rows.map(({ title }) => title)];
  const choices = [...new Set(titles)];
  const explained = rows
    .filter(({ title, description }) => description?.trim() || choices.indexOf(title) >= MAX_QUICK_REPLIES)
    .map(({ title, description }) => (description?.trim() ? `${title}: ${description}` : title));
  const link = header?.image?.link ?? header?.video?.link ?? header?.document?.link;
  return {
    body: linesOf(header?.text, body.text, ...explained, footer?.text, link),
    quick_replies: choices.slice(0, MAX_QUICK_REPLIES),
  };
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
    const about = { from: number, id: outgoing.message.id, timestamp: seconds(created) };
    const message = { ...contentIn(outgoing), ...about };
    return ['messages', { contact: { id: number, profile: { name: number } }, message }];
  }
  const report = statusOf(outgoing);
  if (report === undefined) return undefined;
  const { id, status } = report;
  return ['statuses', { status: { id, timestamp: seconds(report.created), status, recipient_id: number } }];
};

/** A user's message in WhatsApp's shape: a file is a document, and a URL is a link. */
const contentIn = ({ content, in_reply_to }: Extract<OutboxEvent, { type: 'message.received' }>): object => {
  const context = in_reply_to === undefined ? undefined : { id: in_reply_to };
  if (content.type === 'text') return { type: 'text', text: { body: content.text.body }, context };
  if (content.type === 'location') {
    const { latitude, longitude, name, address } = content.location;
    return { type: 'location', location: { latitude, longitude, name, address }, context };
  }
  const type = content.type === 'file' ? 'document' : content.type;
  const { url: link, caption, filename, mime_type } = mediaOf(content) ?? {};
  return { type, [type]: { link, caption, filename, mime_type }, context };
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
