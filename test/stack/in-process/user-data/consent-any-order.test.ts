/**
 * Consent in any order: requests, approvals, denials, withdrawals, expiry and erasures, also repeated and with clocks that
 * differ. No value can be read or is stored after its consent has ended.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { outstandingDeletions } from '../../../../infra/operator/queries/users-admin.ts';
import { receiveEvents } from '../../../../shared/app-network/event-batch.ts';
import { endExpiredConsents } from '../../../../shared/due-work/expired-consents.ts';
import { acknowledgeDeletion } from '../../../../shared/user-data/consent-ends.ts';
import { requestKey } from '../../../../shared/user-data/entities.ts';
import { eraseUser, resumeErasure } from '../../../../shared/user-data/erasure.ts';
import { fetchRequest, startRequest } from '../../../../shared/user-data/requests.ts';
import { updateUser } from '../../../../shared/users/users.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { useFakeQueue } from '../../../unit/support/fake-queue.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { itemsOf } from '../../support/whole-table.ts';
import { newAccountId, newPhone } from '../../support/world.ts';

const NOW = Date.UTC(2030, 0, 1);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/**
 * How far clocks differ at most, in milliseconds: by less than the two minutes, in the length of this test, after which an
 * erasure looks for what came in meanwhile. Longer than a second, so that the service's times go back, too.
 */
const SKEW = 1_900;

useOwnTable('consent-any-order');

useFakeQueue();
captureLog();

beforeEach(() => {
  // The length of a minute in milliseconds, for the pauses of deliveries and erasures.
  vi.stubEnv('MINUTE', '1000');
  vi.useFakeTimers({ now: NOW, toFake: ['Date'] });
});

afterEach(() => void vi.useRealTimers());

const NAMES = ['first_name', 'last_name', 'device_make'] as const;
const names = fc.uniqueArray(fc.constantFrom(...NAMES), { minLength: 1 });
/** Which of the requests so far. */
const which = fc.nat(3);

const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('ask' as const),
      names,
      days: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('approve' as const, 'deny' as const), which, names }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('withdraw' as const), which, names }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('repeat' as const), which: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('expire' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('acknowledge' as const), which }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait' as const), hours: fc.integer({ min: 1, max: 40 }) }) },
  // The clock of another machine, which is behind.
  { weight: 1, arbitrary: fc.record({ do: fc.constant('goBack' as const), ms: fc.integer({ min: 1, max: 900 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('erase' as const) }) },
);

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** A property of a request, as the test knows it without the service. */
interface Known {
  value: string;
  /** When the consent expires, in milliseconds since 1970. */
  until: number;
  /** Whether the user has withdrawn the consent, before or after giving it. */
  withdrawn: boolean;
}

interface Request {
  id: string;
  asked: readonly string[];
  days: number | undefined;
  properties: Map<string, Known>;
  erased: boolean;
}

class World {
  readonly #account: string;
  readonly #phone = newPhone();
  readonly #requests: Request[] = [];
  readonly #reported: object[] = [];
  #values = new Map<string, string>();
  #latest = 0;

  constructor(account: string) {
    this.#account = account;
  }

  static async create(): Promise<World> {
    const { id } = await createAccount({ name: 'Test', id: newAccountId() });
    const world = new World(id);
    await world.#register();
    return world;
  }

  async #register(): Promise<void> {
    this.#values = new Map(NAMES.map((name) => [name, randomUUID()]));
    const properties = Object.fromEntries([...this.#values].map(([name, value]) => [name, { value, source: 'user' }]));
    await updateUser(randomUUID(), { phone_number: this.#phone, properties });
  }

  #chosen(which: number): Request | undefined {
    return this.#requests[which % Math.max(this.#requests.length, 1)];
  }

  async #report(type: string, data: object): Promise<unknown[]> {
    const event = { id: randomUUID(), type, data };
    this.#reported.push(event);
    return receiveEvents([event], () => []);
  }

  async #ask(asked: readonly (typeof NAMES)[number][], days: number | undefined): Promise<void> {
    const data = asked.map((property) => ({ property, required: false }));
    const { id } = await startRequest(
      this.#account,
      this.#phone,
      { reason: 'Why?', data, valid_days: days },
      undefined,
    );
    const request: Request = { id, asked, days, properties: new Map(), erased: false };
    this.#requests.push(request);
    if (asked.includes('device_make')) this.#release(request, 'device_make');
  }

  #release({ properties, days }: Request, name: string): void {
    const value = this.#values.get(name) ?? '';
    properties.set(name, { value, until: days === undefined ? Infinity : Date.now() + days * DAY, withdrawn: false });
  }

  /** The first answer to a property is final: also its withdrawal, which denies a property that is not answered yet. */
  async #answer(request: Request, chosen: readonly string[], answer: 'approved' | 'denied'): Promise<void> {
    const answered = chosen.filter((name) => request.asked.includes(name));
    if (answered.length === 0) return;
    const answers = Object.fromEntries(answered.map((name) => [name, answer]));
    const rejected = await this.#report('user_data.answered', { id: request.id, answers });
    if (request.erased) return void expect(rejected).toHaveLength(1);
    expect(rejected).toEqual([]);
    for (const name of answered.filter((one) => !request.properties.has(one))) {
      this.#release(request, name);
      if (answer === 'denied') this.#end(request, name);
    }
  }

  #end({ properties }: Request, name: string): void {
    const known = properties.get(name);
    properties.set(name, { value: known?.value ?? this.#values.get(name) ?? '', until: 0, withdrawn: true });
  }

  async #withdraw(request: Request, chosen: readonly string[]): Promise<void> {
    const asked = chosen.filter((name) => request.asked.includes(name));
    if (asked.length === 0) return;
    const rejected = await this.#report('user_data.withdrawn', { id: request.id, properties: asked });
    if (!request.erased) expect(rejected).toEqual([]);
    for (const name of asked) this.#end(request, name);
  }

  async #expire(): Promise<void> {
    await endExpiredConsents(() => false);
  }

  async #erase(): Promise<void> {
    await eraseUser(this.#phone);
    vi.setSystemTime(Date.now() + 3_000);
    await resumeErasure(this.#phone);
    for (const request of this.#requests) request.erased = true;
    await this.#register();
    vi.setSystemTime(Date.now() + 1_000);
  }

  async #acknowledge({ id }: Request): Promise<void> {
    const code = await acknowledgeDeletion(this.#account, id).then(
      () => 'done',
      (error) => error.code,
    );
    expect(['done', 'consent_not_ended', 'request_not_found']).toContain(code);
  }

  async run(one: Step): Promise<void> {
    // No two events have the same time: the service also counts microseconds.
    vi.setSystemTime(Date.now() + 7);
    const request = 'which' in one ? this.#chosen(one.which) : undefined;
    switch (one.do) {
      case 'ask':
        return this.#ask(one.names, one.days);
      case 'approve':
      case 'deny':
        return request && this.#answer(request, one.names, one.do === 'approve' ? 'approved' : 'denied');
      case 'withdraw':
        return request && this.#withdraw(request, one.names);
      case 'acknowledge':
        return request && this.#acknowledge(request);
      case 'repeat': {
        const event = this.#reported[one.which];
        if (event !== undefined) await receiveEvents([event], () => []);
        return;
      }
      case 'expire':
        return this.#expire();
      case 'wait':
        return void vi.setSystemTime(Date.now() + one.hours * HOUR);
      case 'goBack':
        this.#latest = Math.max(this.#latest, Date.now());
        return void vi.setSystemTime(Math.max(Date.now() - one.ms, this.#latest - SKEW));
      case 'erase':
        return this.#erase();
    }
  }

  /** Checks that no value can be read whose consent has ended. */
  async check(): Promise<void> {
    for (const { id, properties, erased } of this.#requests) {
      const results = await fetchRequest(this.#account, id).then(
        (found) => JSON.stringify(found.results),
        () => '',
      );
      for (const [name, { value, until, withdrawn }] of properties) {
        const mayBeRead = !erased && !withdrawn && Date.now() < until;
        if (!mayBeRead) expect(results, name).not.toContain(value);
      }
    }
  }

  /** Lets everything expire. Checks that no value is stored, and that the outstanding deletions are those that are owed. */
  async end(): Promise<void> {
    vi.setSystemTime(Date.now() + 4 * DAY);
    await this.#expire();
    const outstanding = (await outstandingDeletions(this.#account)).map(({ request_id }) => request_id);
    expect(new Set(outstanding).size).toBe(outstanding.length);
    for (const { id, properties, erased } of this.#requests) {
      const stored = JSON.stringify(await itemsOf(requestKey(id)));
      for (const [name, { value, until, withdrawn }] of properties) {
        if (erased || withdrawn || until < Date.now()) expect(stored, name).not.toContain(value);
      }
      if (erased) expect(stored).not.toContain(this.#phone);
      await this.#acknowledge({ id } as Request);
    }
    expect(await outstandingDeletions(this.#account)).toEqual([]);
  }
}

test(
  'no value can be read or is stored after its consent has ended, and outstanding deletions add up',
  { timeout: 900_000 },
  () =>
    fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 18 }), async (steps) => {
        // Later than the orders before: for a second after it is set back, the service's clock does not go back.
        vi.setSystemTime(Date.now() + DAY);
        const world = await World.create();
        for (const one of steps) {
          await world.run(one);
          await world.check();
        }
        await world.end();
      }),
      { numRuns: 50 },
    ),
);
