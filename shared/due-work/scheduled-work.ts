/** Scheduled work: items with the index attributes of `dueAt` are found here when they are due. */
import { page } from '../table/client.ts';
import { duePartitions, type Key } from '../table/keys.ts';

/**
 * Due work: its key, the time at which it is due (`gsi1sk`), and for a head, the time of its oldest entry (`created`),
 * and whether it is offered to listeners (`state`).
 */
export interface Due extends Key {
  gsi1sk: string;
  created?: string;
  state?: string;
}

/** Shards that are read at the same time, items of a shard's first page, and of each other page. */
const READ = { shards: 16, first: 150, items: 1_000 };

type Start = Awaited<ReturnType<typeof page>>['next'];

/** The place in a shard where a read begins, and the condition on `gsi1sk`; without one, the shard is read to its end. */
interface Place {
  partition: string;
  start?: Start;
  when?: '<=' | '>';
}

/**
 * The scheduled work as of a time (in the form of `sortableTime`): first `due()`, and then `later()`. The first page of a
 * shard contains both, so a shard with little work costs one query.
 */
export class ScheduledWork {
  readonly #time: string;
  /** Later work that is known. */
  readonly #known: Due[] = [];
  /** The places where the rest of it begins. */
  readonly #rest: Place[] = [];

  constructor(time: string) {
    this.#time = time;
  }

  /** Work that is due, a page at a time, the oldest of each shard first. 0.5 read units for each shard, and for 4 KB. */
  async *due(): AsyncGenerator<Due[]> {
    for (let first = 0; first < duePartitions.length; first += READ.shards) {
      let places: Place[] = duePartitions.slice(first, first + READ.shards).map((partition) => ({ partition }));
      while (places.length > 0) {
        const read = await Promise.all(places.map((place) => this.#read(place)));
        places = [];
        for (const { place, items, next } of read) {
          const later = items.findIndex(({ gsi1sk }) => gsi1sk > this.#time);
          const due = later === -1 ? items : items.slice(0, later);
          if (due.length > 0) yield due;
          this.#known.push(...items.slice(due.length));
          const { partition, when } = place;
          if (later !== -1) {
            if (next !== undefined) this.#rest.push({ partition, start: next, when: '>' });
          } else if (next !== undefined) places.push({ partition, start: next, when: '<=' });
          else if (when === '<=') this.#rest.push({ partition, when: '>' });
        }
      }
    }
  }

  /** After `due` has ended: work that is due later, a page at a time. 0.5 read units for 4 KB. */
  async *later(): AsyncGenerator<Due[]> {
    if (this.#known.length > 0) yield this.#known;
    for (let places = this.#rest; places.length > 0; ) {
      const read = await Promise.all(places.slice(0, READ.shards).map((place) => this.#read(place)));
      const more: Place[] = [];
      for (const { place, items, next } of read) {
        if (items.length > 0) yield items;
        if (next !== undefined) more.push({ ...place, start: next });
      }
      places = [...more, ...places.slice(READ.shards)];
    }
  }

  async #read(place: Place) {
    const { partition, start, when } = place;
    const { items, next } = await page<Due>({
      IndexName: 'gsi1',
      KeyConditionExpression: `gsi1pk = :due${when === undefined ? '' : ` AND gsi1sk ${when} :time`}`,
      ExpressionAttributeNames: { '#state': 'state' },
      ExpressionAttributeValues: { ':due': partition, ...(when !== undefined && { ':time': this.#time }) },
      ProjectionExpression: 'pk, sk, gsi1sk, created, #state',
      Limit: when === undefined ? READ.first : READ.items,
      ...(start !== undefined && { ExclusiveStartKey: start }),
    });
    return { place, items, next };
  }
}
