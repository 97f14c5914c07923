/**
 * Batches of events of the app network. Events about one user are applied in their order, whatever they concern; those about
 * different users side by side. After an event that is rejected or fails, no later one of that user is applied, so that the
 * sender can correct the batch and send it again.
 */
import * as v from 'valibot';
import { inParallel } from '../core/parallel.ts';
import type { ValidationError } from '../core/problems.ts';
import { recordStates, type StateChange } from '../messaging/state-reports.ts';
import { errorInBody, pointerTo } from '../validation/validation-errors.ts';
import { applyEvent, type PrefetchedData, prefetch, type Rejection, stateChangeOf, userOf } from './event-effects.ts';
import { type AppEvent, appEvent, type Subject, subjectOf } from './events.ts';

/** Users whose events are applied at a time. */
const USERS = 25;
/** Faults of one event that are named: a response names 1,000, and every event that is not applied. */
const MAX_FAULTS = 10;

/** An event as it came. */
interface Received {
  place: number;
  /** Where it is in the body. */
  keys: string[];
  subject: Subject | undefined;
  event: AppEvent | undefined;
  /** What is wrong with it. */
  faults: ValidationError[];
}

/**
 * Applies events, each of which is durable when this is done. Beside what each of them costs: 1 read unit for a state, 0.5
 * for an answer.
 *
 * @param keysOf - where an event is in the body, by its place in the list
 * @returns what is wrong with the events that were not applied
 * @throws Error — something failed on our side: no later event of that user was applied, and all can be sent again
 */
export const receiveEvents = async (
  given: unknown[],
  keysOf: (place: number) => string[],
): Promise<ValidationError[]> => {
  const received = given.map((candidate, place) => parse(candidate, place, keysOf(place)));
  const known = await prefetch(received);
  // An event whose user is unknown is a sequence of its own.
  const sequences = Map.groupBy(received, ({ subject, place }) => userOf(subject, known) ?? place);
  const faults = new Map<number, ValidationError[]>();
  await inParallel([...sequences.values()], USERS, (sequence) => applyInOrder(sequence, known, faults));
  return [...faults.entries()].sort(([a], [b]) => a - b).flatMap(([, found]) => found);
};

const parse = (candidate: unknown, place: number, keys: string[]): Received => {
  const { success, output, issues = [] } = v.safeParse(appEvent, candidate);
  const faults = firstOf(
    issues.map((issue) => () => errorInBody(issue, keys)),
    keys,
  );
  return { place, keys, subject: subjectOf(candidate), event: success ? output : undefined, faults };
};

/** The faults of an event: the first ones, and how many more there are, where there are too many. */
const firstOf = (faults: (() => ValidationError)[], keys: string[]): ValidationError[] => {
  const shown = faults.length > MAX_FAULTS ? MAX_FAULTS - 1 : MAX_FAULTS;
  const more = faults.length - shown;
  const rest = more > 0 ? [{ pointer: pointerTo(keys), detail: `has ${more} more faults` }] : [];
  return [...faults.slice(0, shown).map((fault) => fault()), ...rest];
};

/** Applies the events of one user up to the first that is rejected. Adds the faults of all that are not applied. */
const applyInOrder = async (
  sequence: Received[],
  known: PrefetchedData,
  faults: Map<number, ValidationError[]>,
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
    const found = one.event ? rejectionsIn(one, await applyEvent(one.event, known)) : one.faults;
    if (found.length > 0) {
      faults.set(one.place, found);
      for (const held of later) faults.set(held.place, held.event ? [heldBack(held)] : held.faults);
      return;
    }
    next += 1;
  }
};

/** States that follow one another from a place on, of messages of one account: they are written together. */
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
