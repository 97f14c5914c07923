/** Events of the app network: what users write, what became of messages, who registered. */
import * as v from 'valibot';
import { recordOf } from './bounded.ts';
import { removeUser } from './erasure.ts';
import { faultInBody, pointerTo } from './faults.ts';
import { receiveMessage, reportState } from './messages.ts';
import type { Fault } from './problems.ts';
import { propertyNames } from './properties.ts';
import { atMost, idOfAnything, phoneNumber, receivedText, text, visibleText } from './text.ts';
import { answerRequest } from './user-data.ts';
import { updateUser } from './users.ts';

/** Longest value of a property, in characters. */
const MAX_VALUE = 1_000;

/** Properties in one event. */
const MAX_NAMES = 100;

const id = v.pipe(visibleText, atMost(255));

/** The id of a message or a request of ours. */
const ourId = v.pipe(id, idOfAnything);

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
    id,
    type: v.literal('message.received'),
    data: v.object({
      from: phoneNumber,
      to: phoneNumber,
      type: v.literal('text'),
      text: v.object({ body: receivedText }),
    }),
  }),
  v.object({
    id,
    type: v.literal('message.state'),
    data: v.object({
      id: ourId,
      state: v.picklist(['delivered_to_user', 'read', 'delivery_failed']),
      reason: v.optional(text),
    }),
  }),
  v.object({
    id,
    type: v.literal('user.updated'),
    data: v.object({
      phone_number: phoneNumber,
      panelist: v.optional(v.boolean()),
      properties: v.optional(recordOf(v.picklist(propertyNames), property, { max: MAX_NAMES })),
    }),
  }),
  v.object({
    id,
    type: v.literal('user_data.answered'),
    data: v.object({
      id: ourId,
      answers: recordOf(v.string(), v.picklist(['approved', 'denied']), { max: MAX_NAMES }),
    }),
  }),
  v.object({ id, type: v.literal('user.removed'), data: v.object({ phone_number: phoneNumber }) }),
]);

type AppEvent = v.InferOutput<typeof appEvent>;

/** Longest part of a reason that is kept, in characters. */
const MAX_REASON = 500;

/**
 * Takes events, those of one user or message in their order; each is durable when this is done. Answers what is wrong
 * with those that were not taken: below `keysOf` their places in the list.
 */
export const takeEvents = async (given: unknown[], keysOf: (place: number) => string[]): Promise<Fault[]> => {
  const faults = new Map<number, Fault[]>();
  const sequences = new Map<string, Promise<void>>();
  for (const [place, candidate] of given.entries()) {
    const keys = keysOf(place);
    const { success, output, issues } = v.safeParse(appEvent, candidate);
    if (!success) {
      faults.set(
        place,
        issues.map((issue) => faultInBody(issue, keys)),
      );
      continue;
    }
    const name = sequenceOf(output);
    const turn = (sequences.get(name) ?? Promise.resolve()).then(async () => {
      const unknown = await takeEvent(output);
      if (unknown.length === 0) return;
      faults.set(
        place,
        unknown.map((one) => ({ pointer: pointerTo([...keys, ...one.keys]), detail: one.detail })),
      );
    });
    sequences.set(name, turn);
  }
  await Promise.all(sequences.values());
  return [...faults.entries()].sort(([a], [b]) => a - b).flatMap(([, found]) => found);
};

/** Something that an event names and nobody knows, by its place in the event. */
interface Unknown {
  keys: string[];
  detail: string;
}

const takeEvent = async ({ id: event, ...what }: AppEvent): Promise<Unknown[]> => {
  switch (what.type) {
    case 'message.received':
      return (await receiveMessage(event, what.data)) ? [] : [UNKNOWN_BOT];
    case 'message.state': {
      const { id: message, state, reason } = what.data;
      return (await reportState(message, state, reason?.slice(0, MAX_REASON))) ? [] : [UNKNOWN_MESSAGE];
    }
    case 'user_data.answered': {
      const refused = await answerRequest(what.data.id, what.data.answers);
      if (refused === undefined) return [];
      return 'unknown' in refused ? [UNKNOWN_REQUEST] : refused.strangers.map(notAsked);
    }
    case 'user.updated':
      await updateUser(event, what.data);
      return [];
    case 'user.removed':
      await removeUser(event, what.data.phone_number);
      return [];
  }
};

const UNKNOWN_BOT: Unknown = { keys: ['data', 'to'], detail: "is no bot's number" };
const UNKNOWN_MESSAGE: Unknown = { keys: ['data', 'id'], detail: 'is the id of no message that was sent to a user' };
const UNKNOWN_REQUEST: Unknown = {
  keys: ['data', 'id'],
  detail: 'is the id of no request, or of one that has expired',
};

const notAsked = (name: string): Unknown => ({
  keys: ['data', 'answers', name],
  detail: 'is not among the properties that this request asks for',
});

/** What an event is about: events about the same are taken one after the other. */
const sequenceOf = ({ type, data }: AppEvent): string => {
  // Stryker disable next-line ConditionalExpression,EqualityOperator: More events are processed in order.
  if (type === 'message.received') return data.from;
  return 'phone_number' in data ? data.phone_number : data.id;
};
