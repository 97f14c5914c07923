/** The messages between the service and Turn (infra/docs/wire-facts.md, "Turn: messages from users"). */
import * as v from 'valibot';
import { fields, filledText, looseFields, oneOf, phone, text } from '../schemas.ts';

/** A phone number with +, as Turn writes it. The output has no +. */
const plusNumber = v.pipe(
  text,
  v.regex(/^\+[1-9]\d{6,14}$/, 'must be a phone number with +'),
  v.transform((number) => number.slice(1)),
);

const seconds = v.pipe(text, v.regex(/^\d+$/, 'must be seconds since 1970, as text'));

const visibleText = v.pipe(
  text,
  v.check((value) => value.trim() !== '', 'must not be empty'),
);

/** A user's message from the service. */
export const incoming = looseFields({
  contact: looseFields({ id: plusNumber, profile: looseFields({ name: text }) }),
  message: looseFields({
    type: v.literal('text', 'must be text'),
    text: looseFields({ body: visibleText }),
    from: plusNumber,
    id: filledText,
    timestamp: seconds,
  }),
});

export type Incoming = v.InferOutput<typeof incoming>;

/** A status report from the service. */
export const report = looseFields({
  status: looseFields({
    id: filledText,
    timestamp: seconds,
    status: oneOf('sent', 'delivered', 'read', 'failed'),
    recipient_id: plusNumber,
  }),
});

const media = looseFields({ link: text, caption: v.exactOptional(text) });

/** A message that a number is asked to send. */
export const outgoing = v.pipe(
  fields({
    to: phone,
    text: v.exactOptional(text),
    image: v.exactOptional(media),
    document: v.exactOptional(media),
    /** A complete body, sent unchanged. */
    raw: v.exactOptional(v.unknown()),
  }),
  v.check(
    ({ to: _, ...content }) => Object.keys(content).length === 1,
    'must have one of text, image, document and raw',
  ),
);

export type Outgoing = v.InferOutput<typeof outgoing>;

/** The body that Turn posts. */
export const bodyOf = (shape: 'channel' | 'fallback', { to, raw, ...rest }: Outgoing): unknown => {
  if (raw !== undefined) return raw;
  const content = contentOf(rest);
  if (shape === 'channel')
    return {
      block: null,
      resources: null,
      content: rest.text ?? rest.image?.caption ?? rest.document?.caption ?? '',
      to: `+${to}`,
      context: null,
      turn: content,
      waiting_for_user_input: false,
    };
  return { ...(rest.text !== undefined && { preview_url: false }), recipient_type: 'individual', to, ...content };
};

const contentOf = ({ text: body, image, document }: Omit<Outgoing, 'to' | 'raw'>): object => {
  if (image) return { type: 'image', image };
  if (document) return { type: 'document', document };
  return { type: 'text', text: { body } };
};
