/** RapidPro and TextIt, by a channel of the type "External API" (protocols, "RapidPro / TextIt"; spec §4.11). */
import * as v from 'valibot';
import { listOf, shownAs } from '../bounded.ts';
import { judgeByStatus } from '../outcome.ts';
import { formPosting } from '../posting.ts';
import {
  atMost,
  MAX_QUICK_REPLIES,
  messageText,
  phoneNumberOrPlus,
  quickReplies,
  receiverUrl,
  visibleText,
} from '../text.ts';
import { describePlatform, judgeSettings, type PlatformDraft, statusReader, textOf } from './platform.ts';

const status = (name: string, became: string) => ({
  label: `Address of "${name}"`,
  says: `where it is told of messages that ${became} (default: beside the receive URL)`,
});

/** Times that the field `quick_reply` may come, blank ones included. */
const MAX_FIELDS = 100;

/** What it sends: a message to a user, or a part of one. Other fields are ignored. */
export const rapidproMessage = v.pipe(
  v.object({
    id: v.pipe(visibleText, atMost(255)),
    text: messageText,
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

/** A message as it is delivered. An attachment is its address, on a line at the end of the text. */
export const fromRapidpro = (fields: v.InferOutput<typeof rapidproMessage>): PlatformDraft => ({
  reference: fields.id,
  to: v.parse(phoneNumberOrPlus, recipientIn(fields)),
  type: 'text',
  // A message of attachments alone begins with the end of an empty line.
  text: { body: fields.text.replace(/^\n+(?=https?:)/, '') },
  ...(fields.quick_reply.length > 0 && { quick_replies: fields.quick_reply }),
});

const statusOf = statusReader('rapidpro', {
  delivered_to_server: 'sent',
  delivered_to_user: 'delivered',
  delivery_failed: 'failed',
  sending_failed: 'failed',
});

export const rapidpro = describePlatform({
  settings: v.object({
    url: receiverUrl,
    sent_url: v.optional(receiverUrl),
    delivered_url: v.optional(receiverUrl),
    failed_url: v.optional(receiverUrl),
  }),
  options: {
    url: { label: 'Platform URL', says: "the channel's receive URL, https://HOST/c/ex/CHANNEL/receive" },
    sent_url: status('sent', 'were sent'),
    delivered_url: status('delivered', 'were delivered'),
    failed_url: status('failed', 'have failed'),
  },
  posting: ({ created, outgoing }, settings) => {
    if (outgoing.type === 'message.received') {
      const { message, content } = outgoing;
      return formPosting(settings.url, { from: `+${message.phone}`, text: textOf(content), date: `${created}Z` });
    }
    const told = statusOf(outgoing);
    return told && formPosting(settings[`${told.status}_url`] ?? beside(settings.url, told.status), { id: told.id });
  },
  judge: (answer, entry) => judgeSettings(answer, entry) ?? judgeByStatus(answer),
  // Parts of a message have one id, and nobody tells how many there are: the first one speaks for all.
  telling: ({ outgoing }) => {
    const told = statusOf(outgoing);
    // It takes the later of two statuses for the last one, and the app network may report before it answers.
    const never_after = told?.status === 'sent' ? ['delivered', 'failed'] : [];
    return told && { id: told.id, state: told.status, never_after, expires_at: told.message.expires_at };
  },
  probe: ({ url }) => ({
    posting: formPosting(url, {}),
    fault: (code, body) => {
      if (code === 400 && /'(?:from|sender)'/.test(body)) return undefined;
      if ([400, 404].includes(code) && /channel/i.test(body)) return 'It knows no such channel.';
      return "It should refuse an empty message with 400, as RapidPro's receive URL does.";
    },
  }),
});

/** An address whose last segment is another one. */
const beside = (receiver: string, segment: string): string => {
  const url = new URL(receiver);
  url.pathname = url.pathname.replace(/[^/]*\/?$/, segment);
  return url.href;
};
