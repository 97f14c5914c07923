/** Events of the app network: users' messages, answers and opt-outs, states of messages, registrations and removals. */
import * as v from 'valibot';
import { propertyNames } from '../users/profile-properties.ts';
import { listOf, recordOf, shownAs } from '../validation/bounded.ts';
import { pointInTime } from '../validation/point-in-time.ts';
import {
  atMost,
  degrees,
  idOfAnything,
  MAX_QUICK_REPLIES,
  phoneNumber,
  receivedText,
  sourceUrl,
  text,
  uuid,
  visibleText,
  wholeValue,
} from '../validation/schemas.ts';

/** Most characters of a property's value. */
const MAX_VALUE = 1_000;

/** Most characters of the name of its source. */
const MAX_SOURCE = 255;

/** Most properties of an event. */
const MAX_NAMES = 100;

const id = v.pipe(visibleText, atMost(255));

/** The service's id of a message or request. */
const ourId = v.pipe(id, idOfAnything);

/** What a user sends besides texts: at a URL of the app network, or encrypted. It is passed on. */
const receivedMedia = v.object({
  url: sourceUrl,
  caption: v.optional(receivedText),
  filename: v.optional(v.pipe(text, atMost(255))),
  mime_type: v.optional(v.pipe(text, atMost(255))),
  size: v.optional(wholeValue(0, Number.MAX_SAFE_INTEGER, ' of bytes')),
});

/** A place. */
const location = v.object({
  latitude: degrees(90),
  longitude: degrees(180),
  name: v.optional(v.pipe(text, atMost(1_000))),
  address: v.optional(v.pipe(text, atMost(1_000))),
});

/** The common fields of events. */
const head = { id, timestamp: v.optional(pointInTime) };

const property = shownAs(
  {
    type: 'object',
    properties: {
      value: { type: ['string', 'null'], maxLength: MAX_VALUE },
      source: { type: 'string', maxLength: MAX_SOURCE },
    },
    required: ['value'],
  },
  v.union(
    [
      v.object({ value: v.pipe(text, atMost(MAX_VALUE)), source: v.pipe(text, atMost(MAX_SOURCE)) }),
      v.object({ value: v.null() }),
    ],
    'must be an object with value and source, or with the value null',
  ),
);

/** A user, and the bot of the business that the user stops or starts. */
const optOut = v.object({ from: phoneNumber, to: phoneNumber });

/** The schema of an event. */
export const appEvent = v.variant('type', [
  v.object({
    ...head,
    type: v.literal('message.received'),
    data: v.intersect([
      v.object({
        from: phoneNumber,
        to: phoneNumber,
        in_reply_to: v.optional(ourId),
        quick_reply: v.optional(v.object({ index: wholeValue(0, MAX_QUICK_REPLIES - 1) })),
      }),
      v.variant('type', [
        v.object({ type: v.literal('text'), text: v.object({ body: receivedText }) }),
        v.object({ type: v.literal('image'), image: receivedMedia }),
        v.object({ type: v.literal('file'), file: receivedMedia }),
        v.object({ type: v.literal('audio'), audio: receivedMedia }),
        v.object({ type: v.literal('video'), video: receivedMedia }),
        v.object({ type: v.literal('location'), location }),
      ]),
    ]),
  }),
  v.object({
    ...head,
    type: v.literal('message.state'),
    data: v.object({
      id: ourId,
      state: v.picklist(['delivered_to_user', 'read', 'delivery_failed']),
      reason: v.optional(text),
    }),
  }),
  v.object({
    ...head,
    type: v.literal('user.updated'),
    data: v.object({
      phone_number: phoneNumber,
      id: v.optional(uuid),
      panelist: v.optional(v.boolean()),
      properties: v.optional(recordOf(v.picklist(propertyNames), property, { max: MAX_NAMES })),
    }),
  }),
  v.object({
    ...head,
    type: v.literal('user_data.answered'),
    data: v.object({
      id: ourId,
      answers: recordOf(text, v.picklist(['approved', 'denied']), { max: MAX_NAMES }),
    }),
  }),
  v.object({
    ...head,
    type: v.literal('user_data.withdrawn'),
    data: v.object({
      id: ourId,
      properties: listOf(text, {
        min: 1,
        tooFew: 'must name at least one property',
        max: MAX_NAMES,
        of: 'properties',
      }),
    }),
  }),
  v.object({ ...head, type: v.literal('user.removed'), data: v.object({ phone_number: phoneNumber }) }),
  v.object({ ...head, type: v.literal('user.stopped'), data: optOut }),
  v.object({ ...head, type: v.literal('user.started'), data: optOut }),
]);

export type AppEvent = v.InferOutput<typeof appEvent>;

const subject = v.variant('type', [
  v.object({ type: v.literal('message.received'), data: v.object({ from: phoneNumber }) }),
  v.object({ type: v.literal('message.state'), data: v.object({ id: ourId }) }),
  v.object({ type: v.literal('user.updated'), data: v.object({ phone_number: phoneNumber }) }),
  v.object({ type: v.literal('user_data.answered'), data: v.object({ id: ourId }) }),
  v.object({ type: v.literal('user_data.withdrawn'), data: v.object({ id: ourId }) }),
  v.object({ type: v.literal('user.removed'), data: v.object({ phone_number: phoneNumber }) }),
  v.object({ type: v.literal('user.stopped'), data: v.object({ from: phoneNumber }) }),
  v.object({ type: v.literal('user.started'), data: v.object({ from: phoneNumber }) }),
]);

/** The user of an event: by phone number, or by the id of a message or request. */
export type Subject = { phone: string } | { message: string } | { request: string };

/** The user of an event, which may have other validation errors; undefined if it names no user. */
export const subjectOf = (candidate: unknown): Subject | undefined => {
  const { success, output } = v.safeParse(subject, candidate);
  if (!success) return undefined;
  switch (output.type) {
    case 'message.received':
    case 'user.stopped':
    case 'user.started':
      return { phone: output.data.from };
    case 'message.state':
      return { message: output.data.id };
    case 'user_data.answered':
    case 'user_data.withdrawn':
      return { request: output.data.id };
    default:
      return { phone: output.data.phone_number };
  }
};
