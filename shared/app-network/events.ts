/** Events of the app network: what users write, what became of messages, who registered. */
import * as v from 'valibot';
import { propertyNames } from '../users/profile-properties.ts';
import { recordOf } from '../validation/bounded.ts';
import { pointInTime } from '../validation/point-in-time.ts';
import { atMost, idOfAnything, phoneNumber, receivedText, text, visibleText } from '../validation/schemas.ts';

/** Longest value of a property, in characters. */
const MAX_VALUE = 1_000;

/** Properties in one event. */
const MAX_NAMES = 100;

const id = v.pipe(visibleText, atMost(255));

/** The id of a message or a request of ours. */
const ourId = v.pipe(id, idOfAnything);

/** What every event has. */
const head = { id, timestamp: v.optional(pointInTime) };

const property = v.union(
  [
    v.object({ value: v.pipe(text, atMost(MAX_VALUE)), source: v.pipe(text, atMost(255)) }),
    v.object({ value: v.null() }),
  ],
  'must be an object with value and source, or with the value null',
);

/** What the app network may report (protocols, "The app network"). */
export const appEvent = v.variant('type', [
  v.object({
    ...head,
    type: v.literal('message.received'),
    data: v.object({
      from: phoneNumber,
      to: phoneNumber,
      type: v.literal('text'),
      text: v.object({ body: receivedText }),
    }),
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
      panelist: v.optional(v.boolean()),
      properties: v.optional(recordOf(v.picklist(propertyNames), property, { max: MAX_NAMES })),
    }),
  }),
  v.object({
    ...head,
    type: v.literal('user_data.answered'),
    data: v.object({
      id: ourId,
      answers: recordOf(v.string(), v.picklist(['approved', 'denied']), { max: MAX_NAMES }),
    }),
  }),
  v.object({ ...head, type: v.literal('user.removed'), data: v.object({ phone_number: phoneNumber }) }),
]);

export type AppEvent = v.InferOutput<typeof appEvent>;

const subject = v.variant('type', [
  v.object({ type: v.literal('message.received'), data: v.object({ from: phoneNumber }) }),
  v.object({ type: v.literal('message.state'), data: v.object({ id: ourId }) }),
  v.object({ type: v.literal('user.updated'), data: v.object({ phone_number: phoneNumber }) }),
  v.object({ type: v.literal('user_data.answered'), data: v.object({ id: ourId }) }),
  v.object({ type: v.literal('user.removed'), data: v.object({ phone_number: phoneNumber }) }),
]);

/** The user of an event: by number, or by a message or request of theirs. */
export type Subject = { phone: string } | { message: string } | { request: string };

/** The user of an event that may be invalid otherwise; nothing, where it names none. */
export const subjectOf = (candidate: unknown): Subject | undefined => {
  const { success, output } = v.safeParse(subject, candidate);
  if (!success) return undefined;
  switch (output.type) {
    case 'message.received':
      return { phone: output.data.from };
    case 'message.state':
      return { message: output.data.id };
    case 'user_data.answered':
      return { request: output.data.id };
    default:
      return { phone: output.data.phone_number };
  }
};
