/**
 * Scheduled work: items with the index attributes of `dueAt` are found here when they are due, by account and in turns. In
 * an index partition, the work of an account is together, the oldest first:
 *
 *     DUE#conversations#7    acme 10:00, acme 10:00, acme 10:01, …, acme 10:01, acme 10:30, birch 10:02
 *     first turn             [----- a page -----]                                           [--------]
 *     second turn                                [- a page of acme -]
 *
 * A query whose page ends within an account's work is followed by a query that begins after this account. So the first turn
 * has a page of each account, and takes as many queries whether one of them has a hundred conversations or a million. No
 * list of accounts is written: the index is the list.
 */
import { now } from '../core/clock.ts';
import { page } from '../table/client.ts';
import { afterDueOf, type DueKind, dueOf, dueOrder, duePartitions, type Key } from '../table/keys.ts';

/**
 * Due work: its key, its place in the index (`dueOf`), and for a head, the time of its oldest entry (`since`), and whether it is
 * offered to listeners or waits for its destination (`status`).
 */
export interface Due extends Key {
  gsi1sk: string;
  since?: string;
  status?: string;
}

/** Partitions that are read at the same time, and items of a page. */
const READ = { partitions: 16, items: 150 };

type Start = Awaited<ReturnType<typeof page>>['next'];

/** Where the rest of an account's due work begins in a partition: at a time, in the form of `sortableTime`. */
export interface Position {
  partition: string;
  account: string;
  time: string;
}

/** A position, and the place in the index, if it was reached in this run. */
interface Rest extends Position {
  start?: Start;
}

/** The work of a kind that is due at a time, in the form of `sortableTime`. */
export class ScheduledWork {
  readonly #kind: DueKind;
  readonly #time: string;
  /** What further turns read, the next first. */
  readonly #rest: Rest[] = [];
  /** What the next run reads. */
  readonly #postponed: Rest[] = [];
  /** Where an earlier run stopped, by partition and account. */
  readonly #stored: Map<string, Position>;

  /** @param stored - the `positions` of an earlier run whose time was over: further turns continue there */
  constructor(kind: DueKind, time: string, stored: Position[] = []) {
    this.#kind = kind;
    this.#time = time;
    this.#stored = new Map(stored.map((position) => [nameOf(position), position]));
  }

  /** All due work, a page at a time. */
  async *due(): AsyncGenerator<Due[]> {
    yield* this.firstTurn();
    yield* this.furtherTurns();
  }

  /**
   * A page of each account in each partition. 0.5 read units for a partition, and for 4 KB; and 0.5 to 5 for each account
   * with a page of work in a partition, due or later.
   */
  async *firstTurn(): AsyncGenerator<Due[]> {
    const partitions = inOtherOrderEachMinute(duePartitions(this.#kind));
    for (let first = 0; first < partitions.length; first += READ.partitions) {
      let places = partitions.slice(first, first + READ.partitions).map((partition) => ({ partition, after: '' }));
      while (places.length > 0) {
        const pages = await Promise.all(places.map(readAfter));
        places = [];
        for (const { partition, items, next } of pages) {
          const due = items.filter((item) => dueOf(item).time <= this.#time);
          const last = items.at(-1);
          if (next !== undefined && last !== undefined) {
            const { account, time } = dueOf(last);
            places.push({ partition, after: afterDueOf(account) });
            if (due.at(-1) === last) this.#continueLater({ partition, account, time, start: next });
          }
          if (due.length > 0) yield due;
        }
      }
    }
    // What is left of them had less than a page.
    this.#stored.clear();
  }

  /**
   * After the first turn: the rest, a page of each account and partition in turn. 0.5 read units for 4 KB.
   *
   * @param hasEnough - returns whether an account has no further turn in this run: the next one continues there
   */
  async *furtherTurns(hasEnough: (account: string) => boolean = () => false): AsyncGenerator<Due[]> {
    while (this.#rest.length > 0) {
      const left = this.#rest.splice(0);
      for (const rest of left) (hasEnough(rest.account) ? this.#postponed : this.#rest).push(rest);
      const pages = await Promise.all(this.#rest.slice(0, READ.partitions).map((rest) => this.#read(rest)));
      for (const { rest, items, next } of pages) {
        if (items.length > 0) yield items;
        // Only now: if the run has ended instead, this page is part of the positions.
        this.#rest.shift();
        const last = items.at(-1);
        if (next !== undefined && last !== undefined) this.#rest.push({ ...rest, ...dueOf(last), start: next });
      }
    }
  }

  /** Where the next run continues, if this one ends now. */
  get positions(): Position[] {
    return [...this.#rest, ...this.#postponed, ...this.#stored.values()].map(({ partition, account, time }) => ({
      partition,
      account,
      time,
    }));
  }

  #continueLater(reached: Rest): void {
    const stored = this.#stored.get(nameOf(reached));
    this.#stored.delete(nameOf(reached));
    this.#rest.push(stored !== undefined && stored.time > reached.time ? stored : reached);
  }

  async #read(rest: Rest) {
    const { partition, account, time, start } = rest;
    const { items, next } = await page<Due>({
      ...ofWork,
      KeyConditionExpression: 'gsi1pk = :due AND gsi1sk BETWEEN :from AND :to',
      ExpressionAttributeValues: {
        ':due': partition,
        ':from': dueOrder(account, start === undefined ? time : ''),
        ':to': dueOrder(account, this.#time),
      },
      ...(start !== undefined && { ExclusiveStartKey: start }),
    });
    return { rest, items, next };
  }
}

const ofWork = {
  IndexName: 'gsi1' as const,
  ExpressionAttributeNames: { '#status': 'status' },
  ProjectionExpression: 'pk, sk, gsi1sk, since, #status',
  Limit: READ.items,
};

const readAfter = async ({ partition, after }: { partition: string; after: string }) => {
  const { items, next } = await page<Due>({
    ...ofWork,
    KeyConditionExpression: `gsi1pk = :due${after === '' ? '' : ' AND gsi1sk > :after'}`,
    ExpressionAttributeValues: { ':due': partition, ...(after !== '' && { ':after': after }) },
  });
  return { partition, items, next };
};

const nameOf = ({ partition, account }: Position): string => `${partition} ${account}`;

/** The partitions, from another one on in each minute: if a run has too little time, the next one begins elsewhere. */
const inOtherOrderEachMinute = (partitions: string[]): string[] => {
  const first = (Math.floor(now() / 60_000) * READ.partitions) % partitions.length;
  return [...partitions.slice(first), ...partitions.slice(0, first)];
};
