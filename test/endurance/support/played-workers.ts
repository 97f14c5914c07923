/**
 * The workers of a deployment on a simulated clock: their handlers run in this process, on a real table, one invocation after
 * the other in the order in which they begin. Only the clock is simulated:
 *
 *     a call of the table takes a fifth of a second; calls at the same time overlap
 *     a pause, and a slow server's response, take their time
 *     an invocation of a schedule begins at each whole minute, one for each step
 *     an invocation of a queue begins when a worker is free, and no other one has its message group
 *     at its function's time limit, an invocation ends at its next call of the table
 *
 * A call takes forty times as long as it does on AWS, but all time limits are those of a deployment. So an attack of a
 * fortieth of the size, at a fortieth of the default rate, fills them as well.
 */
import { marshall } from '@aws-sdk/util-dynamodb';
import type { DynamoDBRecord, DynamoDBStreamEvent, SQSEvent } from 'aws-lambda';
import { vi } from 'vitest';
import { handler as deliver } from '../../../functions/workers/deliver.ts';
import { handler as erase } from '../../../functions/workers/erase.ts';
import { handler as expand } from '../../../functions/workers/expand.ts';
import { handler as relay } from '../../../functions/workers/relay.ts';
import { handler as sweep } from '../../../functions/workers/sweep.ts';
import { eraseSteps, sweepSteps, workers } from '../../../shared/api/workers.ts';
import { batchKey, isBatchKey } from '../../../shared/campaigns/entities.ts';
import { isEntryKey } from '../../../shared/outbox/entities.ts';
import { documents } from '../../../shared/table/client.ts';
import type { Key } from '../../../shared/table/keys.ts';
import { consumedBy, consumedSoFar } from '../../stack/support/consumed.ts';
import type { useFakeQueue } from '../../unit/support/fake-queue.ts';

/** Milliseconds of a call of the table, and how many times longer than on AWS that is. */
const CALL_MS = 200;
export const SLOWNESS = 40;

const MINUTE = 60_000;
/** Milliseconds for which a queue drops messages with the same deduplication id. */
const DEDUPLICATION = 5 * MINUTE;

/** An invocation of a worker. */
export interface Run {
  /** The worker, and the step of a scheduled one: `sweep expansions`. */
  worker: string;
  /** The message group of one that a queue invokes. */
  group?: string;
}

/** Work of a customer: how many runs of the workers that it needs, and units of these runs, are between due and started. */
export class Piece {
  readonly kind: string;
  readonly due: number;
  readonly #needs: (run: Run) => boolean;
  runs = 0;
  units = 0;
  /** When it started, in milliseconds since 1970, and the units of the run until then. */
  #started: { at: number; units: number } | undefined;

  constructor(kind: string, due: number, needs: (run: Run) => boolean) {
    [this.kind, this.due, this.#needs] = [kind, due, needs];
  }

  isWaitingFor(run: Run): boolean {
    return this.#started === undefined && this.due <= Date.now() && this.#needs(run);
  }

  start(): void {
    this.#started ??= { at: Date.now(), units: unitsSoFar() };
  }

  /** Notes a run of which it was a part. */
  add(units: number): void {
    this.runs += 1;
    this.units += this.#started?.units ?? units;
  }

  /** Seconds of the simulated clock from due to started. */
  get seconds(): number {
    return this.#started === undefined ? Number.POSITIVE_INFINITY : (this.#started.at - this.due) / 1_000;
  }
}

const unitsSoFar = (): number => {
  const { table, indexes } = consumedSoFar();
  return table + indexes;
};

/** The parts of calls of the table that matter here. */
interface Input {
  Key?: Key;
  Item?: Key;
  UpdateExpression?: string;
  ConditionExpression?: string;
  TransactItems?: { Put?: { Item?: Key } }[];
}

interface Message {
  id: string;
  body: string;
  group: string;
  sent: number;
  visible: number;
  receives: number;
}

interface Queue {
  handler: (event: SQSEvent, context: Context) => Promise<{ batchItemFailures: unknown[] } | undefined>;
  worker: 'deliver' | 'expand';
  free: number;
  messages: Message[];
  /** When the invocation with a group ends. */
  busy: Map<string, number>;
  /** When each deduplication id was first sent. */
  sent: Map<string, number>;
}

interface Context {
  awsRequestId: string;
  getRemainingTimeInMillis: () => number;
}

type Work = () => unknown;

export class PlayedWorkers {
  readonly pieces: Piece[] = [];
  /** The invocations that failed, or took too long. */
  readonly failures: string[] = [];
  /** Sees each call of the table before it is made. */
  watch: (input: Input) => void = () => undefined;
  /** Whether the wake-up for a new item is lost. */
  loses: (item: Key) => boolean = () => false;
  readonly #events: { at: number; work: Work }[] = [];
  readonly #deliveries: Queue;
  readonly #expansions: Queue;
  readonly #fake: ReturnType<typeof useFakeQueue>;
  /** When the present invocation ends at the latest, in milliseconds since 1970. */
  #limit = Number.POSITIVE_INFINITY;
  #messages = 0;

  /** @param free - the greatest number of workers */
  constructor(fake: ReturnType<typeof useFakeQueue>, free: { deliver: number; expand: number }) {
    const queueOf = (worker: Queue['worker'], handler: Queue['handler']): Queue => ({
      ...{ handler, worker, free: free[worker], messages: [], busy: new Map(), sent: new Map() },
    });
    this.#fake = fake;
    this.#deliveries = queueOf('deliver', deliver);
    this.#expansions = queueOf('expand', expand);
    fake.takes = ({ MessageBody, MessageGroupId, MessageDeduplicationId }) => {
      const isExpansion = 'at' in JSON.parse(MessageBody);
      const once = `${MessageGroupId} ${MessageDeduplicationId}`;
      this.#send(isExpansion ? this.#expansions : this.#deliveries, MessageBody, MessageGroupId, once);
      return true;
    };
  }

  /** Does something at a time, in milliseconds since 1970. */
  at(time: number, work: Work): void {
    const index = this.#events.findLastIndex(({ at }) => at <= time);
    this.#events.splice(index + 1, 0, { at: time, work });
  }

  /** Plays until a time. Before, calls of the table take no time, and nothing is woken. */
  async playUntil(end: number): Promise<void> {
    current = this;
    for (let minute = Math.ceil(Date.now() / MINUTE) * MINUTE; minute < end; minute += MINUTE) {
      for (const step of sweepSteps)
        this.at(minute, () =>
          this.#invoke({ worker: `sweep ${step}` }, 'sweep', (context) => sweep({ step }, context)),
        );
      for (const step of eraseSteps)
        this.at(minute, () =>
          this.#invoke({ worker: `erase ${step}` }, 'erase', (context) => erase({ step }, context)),
        );
    }
    for (let next = this.#events.shift(); next !== undefined && next.at < end; next = this.#events.shift()) {
      vi.setSystemTime(next.at);
      await next.work();
    }
    endPlay();
  }

  /** Lets the call of the table take its time, and reports new entries and batches to `relay`. */
  async call<Result>(input: Input, make: () => Promise<Result>): Promise<Result> {
    this.watch(input);
    if (Date.now() > this.#limit) throw new Error('The invocation took too long.');
    const end = Date.now() + CALL_MS;
    const result = await make().finally(() => passUntil(end));
    const Records = newWorkIn(input)
      .filter((item) => !this.loses(item))
      .map(recordOf);
    if (Records.length > 0) this.at(Date.now(), () => this.#relay({ Records }));
    return result;
  }

  async #relay(event: DynamoDBStreamEvent): Promise<void> {
    await this.#invoke({ worker: 'relay' }, 'relay', (context) => relay(event, context));
  }

  /** Runs a worker from now on. The clock shows the end then. */
  async #invoke(run: Run, worker: keyof typeof workers, work: (context: Context) => Promise<unknown>): Promise<void> {
    const waiting = this.pieces.filter((piece) => piece.isWaitingFor(run));
    this.#limit = Date.now() + workers[worker].timeout * 1_000;
    const limit = this.#limit;
    const context = { awsRequestId: run.worker, getRemainingTimeInMillis: () => limit - Date.now() };
    this.#fake.waiting = this.#deliveries.messages.filter(({ visible }) => visible <= Date.now()).length;
    const { table, indexes } = await consumedBy(async () => {
      try {
        await work(context);
      } catch (error) {
        this.failures.push(`${run.worker}: ${error}`);
      }
    });
    this.#limit = Number.POSITIVE_INFINITY;
    for (const piece of waiting) piece.add(table + indexes);
  }

  #send(queue: Queue, body: string, group: string, once: string): void {
    const present = Date.now();
    if ((queue.sent.get(once) ?? Number.NEGATIVE_INFINITY) > present - DEDUPLICATION) return;
    queue.sent.set(once, present);
    this.#messages += 1;
    queue.messages.push({ id: `message-${this.#messages}`, body, group, sent: present, visible: present, receives: 0 });
    this.at(present, () => this.#receive(queue));
  }

  /** Begins an invocation for each message that can be received now, if a worker is free. */
  async #receive(queue: Queue): Promise<void> {
    const present = Date.now();
    const seen = new Set<string>();
    for (const message of [...queue.messages]) {
      if (queue.free === 0) return;
      // In a group, messages are received in their order.
      const isNext = !seen.has(message.group) && (queue.busy.get(message.group) ?? 0) <= present;
      seen.add(message.group);
      if (!isNext || message.visible > present) continue;
      vi.setSystemTime(present);
      await this.#handle(queue, message);
    }
  }

  async #handle(queue: Queue, message: Message): Promise<void> {
    const { id, body, group, sent } = message;
    message.receives += 1;
    queue.free -= 1;
    this.#fake.returned.length = 0;
    const attributes = {
      MessageGroupId: group,
      ApproximateReceiveCount: String(message.receives),
      SentTimestamp: String(sent),
    };
    const event = { Records: [{ messageId: id, receiptHandle: id, body, attributes }] } as unknown as SQSEvent;
    const { worker, handler } = queue;
    await this.#invoke({ worker, group }, worker, (context) => handler(event, context));
    const end = Date.now();
    const [returned] = this.#fake.returned;
    if (returned === undefined) queue.messages.splice(queue.messages.indexOf(message), 1);
    else message.visible = end + returned.VisibilityTimeout * 1_000;
    queue.busy.set(group, end);
    this.at(end, () => {
      queue.free += 1;
      return this.#receive(queue);
    });
    if (returned !== undefined) this.at(message.visible, () => this.#receive(queue));
  }
}

/** What plays now. */
let current: PlayedWorkers | undefined;

/** Lets time pass. Others may have let more pass meanwhile. */
export const passUntil = (time: number): void => {
  if (vi.isFakeTimers() && time > Date.now()) vi.setSystemTime(time);
};

const send = documents.send.bind(documents) as (command: object, options?: object) => Promise<unknown>;

documents.send = ((command: { input: Input }, options?: object) => {
  const call = () => send(command, options);
  return current === undefined ? call() : current.call(command.input, call);
}) as typeof documents.send;

/** Ends the play: calls of the table take no time. */
export const endPlay = (): void => {
  current = undefined;
};

/** The entries and batches that a call puts. */
const newWorkIn = ({ Item, TransactItems = [] }: Input): Key[] =>
  [Item, ...TransactItems.map(({ Put }) => Put?.Item)].flatMap((item) =>
    item !== undefined && (isEntryKey(item) || (isBatchKey(item) && item.sk === batchKey('', '').sk)) ? item : [],
  );

const recordOf = ({ pk, sk }: Key): DynamoDBRecord => ({
  eventName: 'INSERT',
  dynamodb: { Keys: marshall({ pk, sk }) as NonNullable<DynamoDBRecord['dynamodb']>['Keys'] & object },
});
