/**
 * The log lines of a deployed stack, from CloudWatch Logs.
 *
 * It polls `FilterLogEvents`. `StartLiveTail` would lose lines: it samples them above 500 in a second, ends after three
 * hours, and has no lines of the past.
 * https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_StartLiveTail.html
 *
 * `FilterLogEvents` allows five calls in a second for an AWS account and region. Pages may be empty although there are
 * more. https://repost.aws/knowledge-center/cloudwatch-logs-throttling,
 * https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_FilterLogEvents.html
 */
import { setTimeout as pause } from 'node:timers/promises';
import type {
  CloudWatchLogsClient,
  FilteredLogEvent,
  FilterLogEventsCommandOutput,
} from '@aws-sdk/client-cloudwatch-logs';
import { isRetryable } from '../../../shared/core/retryable-errors.ts';
import { describeError } from '../../../shared/telemetry/log.ts';
import { printNote } from '../output.ts';
import { UserError } from '../queries/accounts-admin.ts';
import { type Entry, sourceIn } from './entry.ts';
import type { Tailing } from './tailing.ts';

/**
 * Times in milliseconds.
 *
 * @internal Tests use shorter ones.
 */
export interface Pace {
  /** Attempts of the SDK at a call: the second one corrects for a clock that is wrong. */
  attempts: number;
  /** Between two calls: four in a second leave one of the five for other users. */
  call: number;
  /** Between two polls of a log group: after new lines, and the most, to which it doubles without them. */
  poll: { min: number; max: number };
  /** Before a failed call is repeated: at first, and the most. */
  retry: { min: number; max: number };
  /**
   * CloudWatch receives lines late, and out of order, because each environment of a function has a stream of its own. AWS
   * states no limit. So each poll begins before the begin of the previous one by `quick`, and every `deepEvery` by `deep`.
   * Names of events show which lines are new.
   */
  overlap: { quick: number; deep: number; deepEvery: number };
}

const PACE: Pace = {
  attempts: 2,
  call: 250,
  poll: { min: 1_000, max: 10_000 },
  retry: { min: 1_000, max: 30_000 },
  overlap: { quick: 15_000, deep: 300_000, deepEvery: 60_000 },
};

/** How often a call is repeated in a row without `follow`, before the command fails. */
const MOST_FAILURES = 5;

/** A log group while its lines are read. */
interface Polled {
  name: string;
  /** When its last complete poll began, and the last that went back far. */
  polled: number;
  deep: number;
  /** When it is polled again, and after how many milliseconds this will be. */
  due: number;
  interval: number;
  /** Times of the events that were shown, by their names. */
  seen: Map<string, number>;
}

interface CloudWatchOptions extends Tailing {
  /** Names of log groups. */
  groups: string[];
  /** A filter pattern, so that CloudWatch sends fewer lines. */
  pattern: string | undefined;
  pace?: Pace;
}

/**
 * The lines of log groups. Without `follow`, those until now. With it, also new ones until the signal. The first lines
 * are sorted over all log groups; later ones come as CloudWatch has them.
 */
export async function* cloudWatchEntries(options: CloudWatchOptions): AsyncGenerator<Entry[]> {
  const { groups, follow, signal, pace = PACE } = options;
  const { CloudWatchLogsClient } = await import('@aws-sdk/client-cloudwatch-logs');
  const client = new CloudWatchLogsClient({ maxAttempts: pace.attempts });
  const polled = groups.map(
    (name): Polled => ({
      name,
      polled: Number.NEGATIVE_INFINITY,
      deep: Number.NEGATIVE_INFINITY,
      due: 0,
      interval: pace.poll.min,
      seen: new Map(),
    }),
  );
  const reader = new Reader(client, options, pace);
  try {
    const first: Entry[] = [];
    for (const group of polled) for await (const entries of reader.poll(group)) first.push(...entries);
    yield first.sort((one, other) => one.time - other.time);
    while (follow && !signal.aborted) {
      const next = polled.reduce((one, other) => (other.due < one.due ? other : one));
      await rest(next.due - Date.now(), signal);
      yield* reader.poll(next);
    }
  } finally {
    client.destroy();
  }
}

/** Ends early with the signal. */
const rest = (ms: number, signal: AbortSignal): Promise<unknown> =>
  ms > 0 ? pause(ms, undefined, { signal }).catch(() => undefined) : Promise.resolve();

class Reader {
  readonly #client: CloudWatchLogsClient;
  readonly #options: CloudWatchOptions;
  readonly #pace: Pace;
  /** When the next call may be made. */
  #nextCall = 0;
  /** Failed calls in a row. */
  #failures = 0;

  constructor(client: CloudWatchLogsClient, options: CloudWatchOptions, pace: Pace) {
    this.#client = client;
    this.#options = options;
    this.#pace = pace;
  }

  /** Reads the new lines of a log group, page by page. */
  async *poll(group: Polled): AsyncGenerator<Entry[]> {
    const { since, signal } = this.#options;
    const { poll, overlap } = this.#pace;
    const began = Date.now();
    const isDeep = began - group.deep >= overlap.deepEvery;
    const startTime = Math.max(since, isDeep ? group.deep - overlap.deep : group.polled - overlap.quick);
    let isNew = false;
    const namesOf = eventNames();
    let nextToken: string | undefined;
    do {
      const page = await this.#call(group.name, startTime, nextToken);
      if (page === undefined || signal.aborted) return;
      const entries = newEntries(group, page, namesOf);
      isNew ||= entries.length > 0;
      if (entries.length > 0) yield entries;
      ({ nextToken } = page);
    } while (nextToken !== undefined);

    group.interval = isNew ? poll.min : Math.min(group.interval * 2, poll.max);
    group.due = Date.now() + group.interval;
    group.polled = began;
    if (isDeep) group.deep = began;
    // No later poll goes further back.
    const forgotten = group.deep - overlap.deep;
    for (const [id, time] of group.seen) if (time < forgotten) group.seen.delete(id);
  }

  /** Calls CloudWatch until it answers; undefined if the signal came first. */
  async #call(
    logGroupName: string,
    startTime: number,
    nextToken: string | undefined,
  ): Promise<FilterLogEventsCommandOutput | undefined> {
    const { pattern, signal } = this.#options;
    const { FilterLogEventsCommand } = await import('@aws-sdk/client-cloudwatch-logs');
    const command = new FilterLogEventsCommand({ logGroupName, startTime, nextToken, filterPattern: pattern });
    for (;;) {
      await rest(this.#nextCall - Date.now(), signal);
      if (signal.aborted) return undefined;
      this.#nextCall = Date.now() + this.#pace.call;
      try {
        const page = await this.#client.send(command, { abortSignal: signal });
        if (this.#failures > 0) printNote('CloudWatch answers again.');
        this.#failures = 0;
        return page;
      } catch (error) {
        if (signal.aborted) return undefined;
        // It was removed by hand. Lambda creates it with the next line.
        if (hasName(error, 'ResourceNotFoundException')) return { events: [], $metadata: {} };
        if (hasName(error, 'AccessDeniedException')) {
          throw new UserError(`These credentials may not read the log group ${logGroupName} (logs:FilterLogEvents).`);
        }
        this.#retryLater(error);
      }
    }
  }

  /** @throws the error, if a repeat cannot succeed, or did not for long enough */
  #retryLater(error: unknown): void {
    const { min, max } = this.#pace.retry;
    if (!isRetryable(error) || (!this.#options.follow && this.#failures >= MOST_FAILURES)) throw error;
    if (this.#failures === 0)
      printNote(
        `CloudWatch does not answer (${describeError(error).error}). The command repeats the call until it does.`,
      );
    const longest = Math.min(min * 2 ** this.#failures, max);
    this.#failures += 1;
    this.#nextCall = Date.now() + longest * (0.5 + Math.random() / 2);
  }
}

const hasName = (error: unknown, name: string): boolean => error instanceof Error && error.name === name;

/** The events of a page that were not shown before, which then count as shown. */
const newEntries = (
  { seen }: Polled,
  { events = [] }: FilterLogEventsCommandOutput,
  nameOf: (event: FilteredLogEvent) => string,
): Entry[] =>
  events.flatMap((event) => {
    const name = nameOf(event);
    if (seen.has(name)) return [];
    const { timestamp = 0, message = '', logStreamName = '' } = event;
    seen.set(name, timestamp);
    return [{ time: timestamp, source: sourceIn(logStreamName, message), text: message }];
  });

/**
 * Names the events of one poll: by their ids, which are optional in `FilteredLogEvent`, else by the place and the text, and
 * their number among equal ones.
 */
const eventNames = (): ((event: FilteredLogEvent) => string) => {
  const equal = new Map<string, number>();
  return ({ eventId, logStreamName, timestamp, message }) => {
    if (eventId) return eventId;
    const name = `${logStreamName} ${timestamp} ${message}`;
    const number = (equal.get(name) ?? 0) + 1;
    equal.set(name, number);
    return `${name} ${number}`;
  };
};
