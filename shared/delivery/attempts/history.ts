/** The attempts of an entry, for the history of a destination that has one. */
import { now } from '../../core/clock.ts';
import type { AttemptResult } from '../../destinations/attempt-result.ts';
import { triesBefore } from '../../outbox/outbox.ts';
import type { Attempt } from '../history/attempt-item.ts';
import type { AttemptContext } from './attempt-entry.ts';

/** How the attempts ended: with a result that settles the entry, with the time of the next attempt, or with a wait without one. */
type Ending = { result: AttemptResult } | { next: number } | { waits: true };

/**
 * The requests with an entry. An entry that fails permanently without one, because the circuit was open until its last
 * day was over, also has an attempt in the history: so customers see it, and can recover it.
 */
export const attemptsOf = (
  { destination, head, entry, exchanges }: Omit<AttemptContext, 'breaker' | 'circuit'>,
  ending: Ending,
): Attempt[] => {
  if (!destination.hasHistory) return [];
  const before = triesBefore(head, entry);
  const result = 'result' in ending ? ending.result : undefined;
  const next = 'next' in ending ? ending.next : undefined;
  const cause = result && 'cause' in result ? result.cause : undefined;
  if (exchanges.length === 0) {
    if (cause === undefined) return [];
    return [{ entry, number: before, hasSucceeded: false, cause, at: now(), isFinal: true }];
  }
  return exchanges.map((exchange, place): Attempt => {
    const following = exchanges[place + 1];
    const due = following?.started ?? next;
    return {
      entry,
      number: before + place + 1,
      hasSucceeded: following === undefined && result?.status === 'delivered',
      exchange,
      at: exchange.started,
      isFinal: following === undefined && result !== undefined,
      ...(due !== undefined && { next: due }),
    };
  });
};
