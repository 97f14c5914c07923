/** All queues of the stack. Messages survive a reload of the stack, but not its end. */

import type { FaultInjection } from '../fault-injection.ts';
import type { Latency } from '../latency.ts';
import type { QueueDefinition } from '../template/definitions.ts';
import type { Clock } from '../time/clock.ts';
import { type Message, Queue } from './queue.ts';

/** For how many minutes a queue drops messages with a known deduplication id. */
const MEMORY = 5;

interface QueuesSettings {
  /** Milliseconds that count as one minute. */
  minute: number;
  clock: Clock;
  faultInjection?: FaultInjection;
  latency?: Latency | undefined;
}

export class Queues {
  readonly #queues = new Map<string, Queue>();
  readonly #settings: QueuesSettings;

  constructor(settings: QueuesSettings) {
    this.#settings = settings;
  }

  /** Sets the queues. Queues that exist already keep their messages. */
  define(definitions: QueueDefinition[]): void {
    const { minute, clock, faultInjection = {}, latency } = this.#settings;
    const gone = new Set(this.#queues.keys());
    for (const definition of definitions) {
      const settings = {
        definition,
        memory: MEMORY * minute,
        faultInjection,
        now: Date.now,
        clock: () => clock.now(),
        delay: () => (definition.fifo ? (latency?.queue() ?? 0) : 0),
        bury: (message: Message) => {
          const { deadLetters, arn } = definition;
          if (deadLetters) this.get(deadLetters.queue).inherit(message, arn);
        },
      };
      const queue = this.#queues.get(definition.id);
      if (queue) queue.configure(settings);
      else this.#queues.set(definition.id, new Queue(settings));
      gone.delete(definition.id);
    }
    for (const id of gone) this.#queues.delete(id);
  }

  /** The queue with this logical id. */
  get(id: string): Queue {
    const queue = this.#queues.get(id);
    if (queue === undefined) throw new Error(`The template names no queue ${id}.`);
    return queue;
  }

  /** The queue with this URL. */
  at(url: string): Queue | undefined {
    return [...this.#queues.values()].find(({ definition }) => definition.url === url);
  }

  /** When the next message returns that a receiver has hidden, in milliseconds since 1970. */
  get nextReturn(): number | undefined {
    const returns = [...this.#queues.values()].flatMap(({ nextReturn }) => nextReturn ?? []);
    return returns.length === 0 ? undefined : Math.min(...returns);
  }

  counts(): Record<string, { visible: number; inFlight: number }> {
    return Object.fromEntries([...this.#queues].map(([id, queue]) => [id, queue.counts()]));
  }

  urls(): Record<string, string> {
    return Object.fromEntries([...this.#queues].map(([id, { definition }]) => [id, definition.url]));
  }
}
