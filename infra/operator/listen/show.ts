/** A forwarded event as a line, and explanations of failures. */
import { now } from '../../../shared/core/clock.ts';
import { type Cell, second, shown, tinted } from '../output.ts';
import { clockTime } from '../terminal/times.ts';
import type { Handled } from './listener.ts';

/** Width of the column for types. */
const TYPE = 9;

/** An event as a line: time, type, id, what the program returned, duration, and what follows. */
export const lineOf = ({ event, forwarded: { outcome }, settlement }: Handled): string => {
  const { status_code, error = 'no_connection', duration_ms } = outcome;
  const isGood = settlement.status === 'delivered';
  const cells: Cell[] = [
    tinted('dim', clockTime(now(), now())),
    event.type.padEnd(TYPE),
    event.event_id,
    tinted(isGood ? 'green' : 'red', String(status_code ?? error)),
    `${duration_ms} ms`,
    ...followUp(settlement),
  ];
  return cells.map(shown).join('  ').trimEnd();
};

const followUp = (settlement: Handled['settlement']): string[] => {
  switch (settlement.status) {
    case 'delivered':
      return [];
    case 'pending':
      return [`next attempt ${second(settlement.next_attempt ?? '')}`];
    case 'failed':
      return ['failed permanently'];
    case 'gone':
      return ['was settled before'];
    default:
      return ['not settled in time: it will be delivered again'];
  }
};

/** The same for programs: a JSON object. */
export const jsonOf = ({ event, forwarded, settlement }: Handled): string => {
  const { headers: _headers, body: _body, claim: _claim, claimed_until: _until, ...names } = event;
  const { response: _response, retry_after: _retry, ...outcome } = forwarded.outcome;
  return JSON.stringify({ time: new Date(now()).toISOString(), ...names, ...outcome, result: settlement });
};

/** Explains the first of several failures to reach a program. */
export class Explanations {
  readonly #to: URL;
  #explained: string | undefined;

  constructor(to: URL) {
    this.#to = to;
  }

  /** The explanation of a failure that was not explained since the program last responded. */
  of({ outcome, reason }: Handled['forwarded']): string | undefined {
    const problem = outcome.status_code === undefined ? (reason ?? outcome.error) : undefined;
    const isNew = problem !== this.#explained;
    this.#explained = problem;
    return isNew && problem !== undefined ? explain(problem, this.#to) : undefined;
  }
}

const RETRIES = 'Events are retried as for a webhook: after 1.5 seconds, then after growing pauses.';

const explain = (problem: string, to: URL): string => {
  switch (problem) {
    case 'ECONNREFUSED':
      return `${to.origin} refuses the connection: start your program. ${RETRIES}`;
    case 'timeout':
      return `${to.origin} did not respond within 10 seconds. ${RETRIES}`;
    case 'invalid_response':
      return `${to.origin} does not respond with HTTP${to.protocol === 'https:' ? 'S' : ''}: check --to. ${RETRIES}`;
    default:
      return `${to.origin} cannot be reached (${problem}). ${RETRIES}`;
  }
};
