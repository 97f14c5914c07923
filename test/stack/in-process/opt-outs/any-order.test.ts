/**
 * @module-tag long
 *
 * Opt-outs in any order: no attempt to deliver anything begins between a stop and the next start or erasure.
 */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { resetCircuit } from '../../../../infra/operator/queries/outbox-inspection.ts';
import { receiveEvents } from '../../../../shared/app-network/event-batch.ts';
import { sendEach } from '../../../../shared/campaigns/accept.ts';
import { expand } from '../../../../shared/campaigns/expand.ts';
import { sortableTime } from '../../../../shared/core/clock.ts';
import { deliver } from '../../../../shared/delivery/deliver.ts';
import { APP_NETWORK_DESTINATION } from '../../../../shared/destinations/destination.ts';
import { sendMessage } from '../../../../shared/messaging/send.ts';
import { oldestEntries } from '../../../../shared/outbox/entries.ts';
import { listLogs } from '../../../../shared/stats/delivery-log.ts';
import { eraseUser, resumeErasure } from '../../../../shared/user-data/erasure.ts';
import { startRequest } from '../../../../shared/user-data/requests.ts';
import { updateUser } from '../../../../shared/users/users.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { useFakeQueue } from '../../../unit/support/fake-queue.ts';
import { useAppNetworkServer } from '../../support/app-network-server.ts';
import { drop } from '../../support/destination-server.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { useStoppedClock } from '../../support/stopped-clock.ts';
import { newBusiness, newPhone } from '../../support/world.ts';

/** The length of a minute in milliseconds. */
const MINUTE = 1_000;
const DAY = 24 * 60 * MINUTE;
const NOW = Date.UTC(2030, 0, 1);

useOwnTable('opt-outs-any-order');

const app = useAppNetworkServer();
useFakeQueue();
captureLog();

useStoppedClock(NOW, MINUTE);

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('stop' as const, 'start' as const),
      /** Minutes by which the time of the event is older than the present; none for an event without a time. */
      age: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('repeat' as const), which: fc.nat(9) }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constantFrom('send' as const, 'ask' as const, 'expand' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('sendMany' as const), number: fc.integer({ min: 1, max: 3 }) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('deliver' as const),
      answers: fc.array(fc.constantFrom('accept', 'fail', 'drop', 'stop meanwhile'), { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), minutes: fc.integer({ min: 1, max: 90 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('erase' as const) }) },
);

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

interface Reported {
  id: string;
  type: string;
  timestamp?: string;
  data: object;
}

/** A user and a business, and what is known of the opt-out without the service. */
class World {
  readonly #account: string;
  readonly #bot: string;
  readonly #phone = newPhone();
  readonly #begun = Date.now();
  readonly #reported: Reported[] = [];
  #stopped = false;
  /** The time of the last change that counts, in milliseconds since 1970. */
  #changed = 0;
  #removed = 0;
  /** Attempts that began while the user had stopped the business. */
  violations = 0;

  constructor(account: string, bot: string) {
    this.#account = account;
    this.#bot = bot;
  }

  static async create(): Promise<World> {
    const { account, bot } = await newBusiness();
    const world = new World(account, bot);
    await world.#register();
    return world;
  }

  #register = () => updateUser(randomUUID(), { phone_number: this.#phone });

  #conversation = () => ({ direction: 'app' as const, account: this.#account, phone: this.#phone });

  /** Reports a stop or a start. A stop counts once it is accepted, a start as soon as it is reported. */
  async #change(stopped: boolean, age?: number): Promise<void> {
    // No two events have the same time: the service also counts microseconds.
    vi.setSystemTime(Date.now() + 7);
    const time = Date.now() - (age ?? 0) * MINUTE;
    const counts = age === undefined || (time >= this.#changed && time > this.#removed);
    if (counts && !stopped) this.#stopped = false;
    const event: Reported = {
      id: randomUUID(),
      type: stopped ? 'user.stopped' : 'user.started',
      ...(age !== undefined && { timestamp: sortableTime(time) }),
      data: { from: this.#phone, to: this.#bot },
    };
    this.#reported.push(event);
    expect(await receiveEvents([event], () => [])).toEqual([]);
    if (counts) this.#set(stopped, time);
  }

  #set(stopped: boolean, time: number): void {
    this.#stopped = stopped;
    this.#changed = time;
  }

  async #deliver(answers: string[]): Promise<void> {
    app().answers = [...answers, 'accept'].map((answer) => async (response) => {
      if (this.#stopped) this.violations += 1;
      if (answer === 'stop meanwhile') await this.#change(true);
      if (answer === 'drop') drop(response);
      else response.writeHead(answer === 'accept' ? 204 : 503).end();
    });
    await deliver(this.#conversation(), () => 60_000);
  }

  async #erase(): Promise<void> {
    this.#set(false, 0);
    this.#removed = Date.now();
    await eraseUser(this.#phone);
    vi.setSystemTime(Date.now() + 3 * MINUTE);
    await resumeErasure(this.#phone);
    await this.#register();
    vi.setSystemTime(Date.now() + MINUTE);
  }

  async run(one: Step): Promise<void> {
    const draft = { to: this.#phone, type: 'text' as const, text: { body: 'Hello' } };
    switch (one.do) {
      case 'stop':
      case 'start':
        return this.#change(one.do === 'stop', one.age);
      case 'repeat': {
        const event = this.#reported[one.which];
        if (event) expect(await receiveEvents([event], () => [])).toEqual([]);
        return;
      }
      case 'send':
        return void (await sendMessage(this.#account, draft, {}));
      case 'sendMany':
        return void (await sendEach(this.#account, Array(one.number).fill(draft), { priority: 'low' }));
      case 'expand':
        return void (await expand(this.#account, undefined, Date.now() + MINUTE));
      case 'ask': {
        const data = [{ property: 'first_name' as const, required: false }];
        const asked = startRequest(this.#account, this.#phone, { reason: 'Why not?', data }, undefined);
        const code = await asked.then(
          () => 'accepted',
          (error) => error.code,
        );
        return expect(code).toBe(this.#stopped ? 'user_opted_out' : 'accepted');
      }
      case 'deliver':
        return this.#deliver(one.answers);
      case 'wait':
        return void vi.setSystemTime(Date.now() + one.minutes * MINUTE);
      case 'erase':
        return this.#erase();
    }
  }

  /** Stops the business, if nothing is to be delivered, and lets all work end. Returns what is left of it. */
  async end(): Promise<{ pending: number; unfinished: number }> {
    await this.#change(true);
    await expand(this.#account, undefined, Date.now() + MINUTE);
    vi.setSystemTime(Date.now() + DAY);
    await resetCircuit(APP_NETWORK_DESTINATION);
    await this.#deliver([]);
    const period = { start: this.#begun / 1_000 - 60, end: Date.now() / 1_000 + 3_600 };
    const ids = async (state: 'sent' | 'delivered_to_server' | 'sending_failed') =>
      (await listLogs(this.#account, { state, ...period }, 1_000)).entries.map(({ id }) => id);
    const ended = new Set([...(await ids('delivered_to_server')), ...(await ids('sending_failed'))]);
    return {
      pending: (await oldestEntries(this.#conversation())).entries.length,
      unfinished: (await ids('sent')).filter((id) => !ended.has(id)).length,
    };
  }
}

test(
  'stops, starts, messages, requests, campaigns and erasures in any order: nothing is delivered after a stop',
  { timeout: 900_000 },
  () =>
    fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 16 }), async (steps) => {
        // Later than the orders before: for a second after it is set back, the service's clock does not go back.
        vi.setSystemTime(Date.now() + DAY);
        await resetCircuit(APP_NETWORK_DESTINATION);
        const world = await World.create();
        for (const one of steps) await world.run(one);
        expect(await world.end()).toEqual({ pending: 0, unfinished: 0 });
        expect(world.violations).toBe(0);
      }),
      { numRuns: 150 },
    ),
);
