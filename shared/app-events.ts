/** Events of the app network: what users write, what became of messages, who registered. */
import * as v from 'valibot';
import { faultInBody, pointerTo } from './faults.ts';
import { receiveMessage, reportState } from './messages.ts';
import type { Fault } from './problems.ts';
import { propertyNames } from './properties.ts';
import { atMost, phoneNumber, text, visibleText } from './text.ts';
import { removeUser, updateUser } from './users.ts';

/** A user may write more than a business; this many characters fit the table in any script. */
const MAX_RECEIVED = 65_536;
/** Longest value of a property, in characters. */
const MAX_VALUE = 1_000;

const id = v.pipe(visibleText, atMost(255));

const property = v.union(
  [
    v.object({ value: v.pipe(text, atMost(MAX_VALUE)), source: v.pipe(text, atMost(255)) }),
    v.object({ value: v.null() }),
  ],
  'must be an object with value and source, or with the value null',
);

const appEvent = v.variant('type', [
  v.object({
    id,
    type: v.literal('message.received'),
    data: v.object({
      from: phoneNumber,
      to: phoneNumber,
      type: v.literal('text'),
      text: v.object({ body: v.pipe(visibleText, atMost(MAX_RECEIVED)) }),
    }),
  }),
  v.object({
    id,
    type: v.literal('message.state'),
    data: v.object({
      id,
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
      properties: v.optional(v.record(v.picklist(propertyNames), property)),
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
      if (unknown) faults.set(place, [{ pointer: pointerTo([...keys, ...unknown.keys]), detail: unknown.detail }]);
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

const takeEvent = async ({ id: event, ...what }: AppEvent): Promise<Unknown | undefined> => {
  switch (what.type) {
    case 'message.received':
      return (await receiveMessage(event, what.data)) ? undefined : UNKNOWN_BOT;
    case 'message.state': {
      const { id: message, state, reason } = what.data;
      return (await reportState(message, state, reason?.slice(0, MAX_REASON))) ? undefined : UNKNOWN_MESSAGE;
    }
    case 'user.updated':
      return void (await updateUser(event, what.data));
    case 'user.removed':
      return void (await removeUser(event, what.data.phone_number));
  }
};

const UNKNOWN_BOT: Unknown = { keys: ['data', 'to'], detail: "is no bot's number" };
const UNKNOWN_MESSAGE: Unknown = { keys: ['data', 'id'], detail: 'is the id of no message that was sent to a user' };

/** What an event is about: events about the same are taken one after the other. */
const sequenceOf = ({ type, data }: AppEvent): string => {
  if (type === 'message.received') return data.from;
  return type === 'message.state' ? data.id : data.phone_number;
};
