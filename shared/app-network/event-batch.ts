/**
 * Batches of events of the app network. Events of one user are applied in their order; events of different users, in
 * parallel. After an event that is rejected or fails, no later event of that user is applied, so that the sender can
 * correct the batch and send it again.
 */
import * as v from 'valibot';
import { inParallel } from '../core/parallel.ts';
import type { ValidationError } from '../core/problems.ts';
import { recordStates, type StateChange } from '../messaging/state-reports.ts';
import { errorInBody, pointerTo } from '../validation/validation-errors.ts';
import { applyEvent, type PrefetchedData, prefetch, type Rejection, stateChangeOf, userOf } from './event-effects.ts';
import { type AppEvent, appEvent, type Subject, subjectOf } from './events.ts';

/** Users whose events are applied in parallel. */
const USERS = 25;
/** Most validation errors of an event in the response: it has at most 1,000, and must list each rejected event. */
const MAX_ERRORS = 10;

/** An event of the request. */
interface Received {
  place: number;
  /** Its place in the body. */
  keys: string[];
  subject: Subject | undefined;
  event: AppEvent | undefined;
  /** Its validation errors. */
  errors: ValidationError[];
}

/**
 * Applies events. Afterwards, the applied events are durable. Besides the costs of each event: 1 read unit for a state,
 * 0.5 for an answer.
 *
 * @param keysOf - returns the place of an event in the body, by its index in the list
 * @returns the validation errors of the events that were not applied
 * @throws Error — a call failed: no later event of that user was applied, and all events can be sent again
 */
export const receiveEvents = async (
  given: unknown[],
  keysOf: (place: number) => string[],
): Promise<ValidationError[]> => {
  const received = given.map((candidate, place) => parse(candidate, place, keysOf(place)));
  const known = await prefetch(received);
  const ownerOf = ownersIn(received);
  // An event of an unknown user is a sequence of its own.
  const sequences = Map.groupBy(received, ({ subject, place }) => ownerOf(userOf(subject, known)) ?? place);
  const errors = new Map<number, ValidationError[]>();
  await inParallel([...sequences.values()], USERS, (sequence) => applyInOrder(sequence, known, errors));
  return [...errors.entries()].sort(([a], [b]) => a - b).flatMap(([, found]) => found);
};

/**
 * Numbers of one user: those that come with the same id. Returns a function from a number to the one that stands for all
 * numbers of its user.
 */
const ownersIn = (received: Received[]): ((phone: string | undefined) => string | undefined) => {
  const next = new Map<string, string>();
  const first = (name: string): string => {
    const before = next.get(name);
    return before === undefined ? name : first(before);
  };
  for (const { event } of received) {
    if (event?.type !== 'user.updated' || event.data.id === undefined) continue;
    const [ofId, ofNumber] = [first(event.data.id), first(event.data.phone_number)];
    if (ofId !== ofNumber) next.set(ofNumber, ofId);
  }
  return (phone) => phone && first(phone);
};

const parse = (candidate: unknown, place: number, keys: string[]): Received => {
  const { success, output, issues = [] } = v.safeParse(appEvent, candidate);
  const errors = firstOf(
    issues.map((issue) => () => errorInBody(issue, keys)),
    keys,
  );
  return { place, keys, subject: subjectOf(candidate), event: success ? output : undefined, errors };
};

/** The first validation errors of an event, and the number of further ones. */
const firstOf = (errors: (() => ValidationError)[], keys: string[]): ValidationError[] => {
  const shown = errors.length > MAX_ERRORS ? MAX_ERRORS - 1 : MAX_ERRORS;
  const more = errors.length - shown;
  const rest = more > 0 ? [{ pointer: pointerTo(keys), detail: `has ${more} more errors` }] : [];
  return [...errors.slice(0, shown).map((error) => error()), ...rest];
};

/**
 * Applies the events of one user, up to the first rejected one. Adds the validation errors of all others to `errors`.
 */
const applyInOrder = async (
  sequence: Received[],
  known: PrefetchedData,
  errors: Map<number, ValidationError[]>,
): Promise<void> => {
  for (let next = 0; next < sequence.length; ) {
    const states = statesFrom(sequence, next, known);
    if (states.length > 0) {
      await recordStates(states);
      next += states.length;
      continue;
    }
    const [one, ...later] = sequence.slice(next);
    if (one === undefined) return;
    const found = one.event ? rejectionsIn(one, await applyEvent(one.event, known)) : one.errors;
    if (found.length > 0) {
      errors.set(one.place, found);
      for (const held of later) errors.set(held.place, held.event ? [heldBack(held)] : held.errors);
      return;
    }
    next += 1;
  }
};

/** The states of consecutive events, from `start`, of messages of one account: they are written together. */
const statesFrom = (sequence: Received[], start: number, known: PrefetchedData): StateChange[] => {
  const changes: StateChange[] = [];
  for (const { event } of sequence.slice(start)) {
    const change = event && stateChangeOf(event, known);
    if (change === undefined || change.message.account !== (changes[0] ?? change).message.account) break;
    changes.push(change);
  }
  return changes;
};

const rejectionsIn = ({ keys }: Received, rejections: Rejection[]): ValidationError[] =>
  firstOf(
    rejections.map((rejection) => () => ({
      pointer: pointerTo([...keys, ...rejection.keys]),
      detail: rejection.detail,
    })),
    keys,
  );

const heldBack = ({ keys }: Received): ValidationError => ({
  pointer: pointerTo(keys),
  detail:
    'was not applied, because an earlier event about the same user was rejected: correct or remove that one, and send both again',
});
