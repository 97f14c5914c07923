/** What a campaign sends: the content of each message, the requests that send them, and what is wrong with a draft. */

import { instantOf } from '../times.ts';
import type { Draft } from './draft.ts';
import type { People, Person } from './people.ts';
import { findTextFaults, lengthOf, type Template, type TextFaults, templateOf } from './template.ts';

/** The limits of the service. */
export const limits = {
  people: 10_000,
  text: 4_096,
  caption: 1_024,
  replies: 10,
  name: 64,
  fileBytes: 4 * 1_024 * 1_024,
} as const;

/** Messages and bytes of a request. A request has less than 6 MB, and JSON writes some characters longer. */
const PORTION = { messages: 1_000, bytes: 2_000_000 };

type Replies = { quick_replies?: string[] };

export type Content = Replies &
  (
    | { type: 'text'; text: { body: string } }
    | { type: 'image'; image: Captioned }
    | { type: 'video'; video: Captioned }
    | { type: 'file'; file: Captioned }
    | { type: 'audio'; audio: { url: string } }
  );

interface Captioned {
  url: string;
  caption?: string;
}

/** The texts of a draft, with its placeholders. */
export interface Written {
  text: Template;
  replies: Template[];
  /** Whether people get different messages. */
  isPersonal: boolean;
}

export const writtenIn = (draft: Draft, columns: string[]): Written => {
  const text = templateOf(textOf(draft), columns);
  const replies = draft.replies.filter((reply) => reply.trim() !== '').map((reply) => templateOf(reply, columns));
  return { text, replies, isPersonal: [text, ...replies].some(({ used }) => used.length > 0) };
};

/** A sound has no caption: the text is kept for another file. */
const textOf = ({ text, attachment }: Draft): string => (attachment?.type === 'audio' ? '' : text);

export const maxText = ({ attachment }: Draft): number => (attachment ? limits.caption : limits.text);

/** What a person gets. */
export const contentFor = ({ attachment }: Draft, { text, replies }: Written, values: string[]): Content => {
  const body = text.fill(values);
  const filled = replies.map(({ fill }) => fill(values));
  const offered = filled.length > 0 ? { quick_replies: filled } : {};
  if (attachment === undefined) return { type: 'text', text: { body }, ...offered };
  const { url, type } = attachment;
  const captioned = { url, ...(body.trim() !== '' && { caption: body }) };
  if (type === 'audio') return { type, audio: { url }, ...offered };
  if (type === 'image') return { type, image: captioned, ...offered };
  if (type === 'video') return { type, video: captioned, ...offered };
  return { type, file: captioned, ...offered };
};

/** When messages are sent, as requests say it. */
export const timingOf = ({ isLater, at, hours, open, close, zone }: Draft) => ({
  ...(isLater && { send_at: instantOf(at)?.toISOString() ?? '' }),
  ...(hours === 'own' && { between: [open, close], time_zone: zone }),
  ...(hours === 'any' && { urgent: true }),
});

type Common = ReturnType<typeof timingOf>;

/** A request of a campaign. */
export type Portion = { people: number } & (
  | { endpoint: 'sendMessage'; body: { to: string[] } & Content & Common }
  | { endpoint: 'sendMessages'; body: ({ to: string } & Content & Common)[] }
);

/** The requests that send a draft: one if all people get the same. */
export const portionsOf = (draft: Draft, written: Written, people: Person[]): Portion[] => {
  const timing = timingOf(draft);
  if (!written.isPersonal) {
    const body = { to: people.map(({ phone }) => phone), ...contentFor(draft, written, []), ...timing };
    return [{ endpoint: 'sendMessage', body, people: people.length }];
  }
  const portions: Extract<Portion, { endpoint: 'sendMessages' }>[] = [];
  let bytes = 0;
  for (const { phone, values } of people) {
    const message = { to: phone, ...contentFor(draft, written, values), ...timing };
    const size = new TextEncoder().encode(JSON.stringify(message)).length;
    const last = portions.at(-1);
    if (last === undefined || last.people >= PORTION.messages || bytes + size > PORTION.bytes) {
      portions.push({ endpoint: 'sendMessages', body: [message], people: 1 });
      bytes = size;
    } else {
      last.body.push(message);
      last.people += 1;
      bytes += size;
    }
  }
  return portions;
};

/** What must be changed before a draft can be sent, by the part that contains it. */
export interface DraftFaults {
  who: 'none' | 'many' | undefined;
  /** `blank`: there is neither a text nor a file. */
  text: 'blank' | 'long' | 'unknown' | undefined;
  /** Placeholders of no column. */
  unknown: string[];
  /** What concerns some people. */
  people: TextFaults;
  replies: ('blank' | 'long' | 'unknown' | undefined)[];
  when: 'none' | 'soon' | 'far' | undefined;
  hours: 'same' | undefined;
  name: 'none' | 'long' | undefined;
}

/** How far ahead a campaign may be, in milliseconds. The service needs a minute, which the check takes, too. */
const AHEAD = { min: 2 * 60_000, max: 35 * 86_400_000 };

export const findFaults = (draft: Draft, written: Written, { people, columns }: People, now: number): DraftFaults => {
  const max = maxText(draft);
  const mayBeBlank = draft.attachment !== undefined;
  const { text } = written;
  // Without people, the text is judged as it is.
  const judged = people.length > 0 ? people : [{ phone: '', line: 0, values: [] }];
  const found = findTextFaults(text, judged, { columns, max, mayBeBlank });
  const isBlank = !mayBeBlank && textOf(draft).trim() === '';
  const ahead = (instantOf(draft.at)?.getTime() ?? Number.NaN) - now;
  const when = Number.isNaN(ahead) ? 'none' : ahead < AHEAD.min ? 'soon' : ahead > AHEAD.max ? 'far' : undefined;
  const replyFault = (reply: string): DraftFaults['replies'][number] => {
    const { unknown, fill } = templateOf(reply, columns);
    if (reply.trim() === '') return 'blank';
    if (unknown.length > 0) return 'unknown';
    if (judged.some(({ values }) => fill(values).trim() === '')) return 'blank';
    return judged.some(({ values }) => lengthOf(fill(values)) > limits.text / limits.replies) ? 'long' : undefined;
  };
  return {
    who: people.length === 0 ? 'none' : people.length > limits.people ? 'many' : undefined,
    text: isBlank
      ? 'blank'
      : text.unknown.length > 0
        ? 'unknown'
        : found.tooLong.length === judged.length
          ? 'long'
          : undefined,
    unknown: text.unknown,
    people: isBlank || people.length === 0 ? { empty: [], tooLong: [], blank: [] } : found,
    replies: draft.replies.map(replyFault),
    when: draft.isLater ? when : undefined,
    hours: draft.hours === 'own' && draft.open === draft.close ? 'same' : undefined,
    name: draft.name.trim() === '' ? 'none' : lengthOf(draft.name.trim()) > limits.name ? 'long' : undefined,
  };
};

/** Whether a draft cannot be sent. People without a value are only shown. */
export const hasFaults = ({ people, replies, unknown: _, ...parts }: DraftFaults): boolean =>
  Object.values(parts).some(Boolean) ||
  people.tooLong.length > 0 ||
  people.blank.length > 0 ||
  replies.some((fault) => fault !== undefined);
