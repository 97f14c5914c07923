/**
 * Concurrent answers, starts, retrievals, profile updates and an erasure, with their table calls in random order.
 * Invariants are checked after each change.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { BatchGetCommand, GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { createAccount, updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { eraseFromBatches } from '../../../../shared/campaigns/erase-batches.ts';
import { Problem } from '../../../../shared/core/problems.ts';
import { erasureKey } from '../../../../shared/messaging/entities.ts';
import { documents, getConsistent, removeAll } from '../../../../shared/table/client.ts';
import type { Key } from '../../../../shared/table/keys.ts';
import { type ConsentReceipt, listConsentReceipts } from '../../../../shared/user-data/consent-receipts.ts';
import { requestKey } from '../../../../shared/user-data/entities.ts';
import { eraseUser, removeUser, resumeErasure } from '../../../../shared/user-data/erasure.ts';
import { answerRequest } from '../../../../shared/user-data/request-answers.ts';
import { fetchRequest, retrieve, startRequest, type UserData } from '../../../../shared/user-data/requests.ts';
import type { RequestItem } from '../../../../shared/user-data/stored-request.ts';
import { userKey } from '../../../../shared/users/entities.ts';
import { updateUser } from '../../../../shared/users/users.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { allItems, wholeTable } from '../../support/whole-table.ts';
import { newAccountId, newPhone } from '../../support/world.ts';

const MINUTE = 60_000;
const READS = [GetCommand, BatchGetCommand, QueryCommand];
/** The number of races of each test. */
const RACES = 50;

/** The original `send` of the table's client, which the scheduler does not delay. */
const send: typeof documents.send = documents.send.bind(documents);

const read = async <Item>(key: Key): Promise<Item | undefined> => {
  const { Item } = await send(new GetCommand({ TableName: process.env.TABLE_NAME, Key: key, ConsistentRead: true }));
  return Item as Item | undefined;
};

/** Three properties that need approval, of which `citizenship` has no value, and one automatic property. */
const ASKED = ['first_name', 'last_name', 'citizenship', 'device_make'] as const;
const KNOWN = ['first_name', 'last_name', 'device_make'] as const;

let account: string;
/** Of the account alone. */
let before: Set<string>;

useOwnTable('user-data-races');

/** Removes what earlier races left, which each look at the whole table would read again. */
const removeOthers = async (): Promise<void> =>
  removeAll((await allItems()).filter(({ pk, sk }) => !before.has(`${pk} ${sk}`)));

beforeAll(async () => {
  ({ id: account } = await createAccount({ name: 'Test', id: newAccountId() }));
  const settings = { url: 'https://example.com/', secret: `whsec_${Buffer.alloc(24).toString('base64')}` };
  await updateAccount(account, { platform: { name: 'webhook', settings } });
  before = new Set((await allItems()).map(({ pk, sk }) => `${pk} ${sk}`));
});

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

type Step =
  | { type: 'answer'; answers: Partial<Record<(typeof ASKED)[number], 'approved' | 'denied'>> }
  | { type: 'update'; property: (typeof KNOWN)[number] }
  | { type: 'fetch' | 'start' | 'start of an automatic request' | 'retrieve' }
  | { type: 'erase'; by: 'operator' | 'app' };

const verdict = fc.constantFrom('approved' as const, 'denied' as const);

const answer: fc.Arbitrary<Step> = fc
  .record({ first_name: verdict, last_name: verdict, citizenship: verdict }, { requiredKeys: [] })
  .map((answers) => ({ type: 'answer', answers }));

const update: fc.Arbitrary<Step> = fc.constantFrom(...KNOWN).map((property) => ({ type: 'update', property }));

const other: fc.Arbitrary<Step> = fc.constantFrom<Step[]>(
  { type: 'fetch' },
  { type: 'start' },
  { type: 'start of an automatic request' },
  { type: 'retrieve' },
);

const erase: fc.Arbitrary<Step> = fc.constantFrom<Step[]>(
  { type: 'erase', by: 'operator' },
  { type: 'erase', by: 'app' },
);

/** Makes a call when the scheduler selects it. The next call starts only after this call and its continuation. */
const inTurn = async <Made>(scheduler: fc.Scheduler, call: () => Promise<Made>): Promise<Made> => {
  const over = Promise.withResolvers<void>();
  await scheduler.schedule(Promise.resolve(), undefined, undefined, async (giveTurn) => {
    await giveTurn();
    await over.promise;
    await nextTurn();
  });
  return call().finally(over.resolve);
};

/** A user with a pending request, and everything that was observed about both. */
class Race {
  readonly phone = newPhone();
  /** Every value that the profile has had. */
  readonly values = new Set<string>();
  /** The last observed version of each request, by id. */
  readonly seen = new Map<string, RequestItem>();
  /** The responses to the business: of fetches, and of one-shot retrievals. */
  readonly fetched: UserData[] = [];
  readonly retrieved: UserData[] = [];
  request = '';
  isErased = false;

  async begin(): Promise<void> {
    await updateUser(randomUUID(), {
      phone_number: this.phone,
      properties: Object.fromEntries(KNOWN.map((name) => [name, this.#news()])),
    });
    this.request = await this.#start(ASKED);
    await this.look(this.request);
  }

  #news() {
    return { value: randomUUID(), source: 'user' };
  }

  async #start(properties: readonly (typeof ASKED)[number][]): Promise<string> {
    const data = properties.map((property) => ({ property, required: false }));
    return (await startRequest(account, this.phone, { reason: 'To know you', data }, undefined)).id;
  }

  async take(step: Step): Promise<void> {
    switch (step.type) {
      case 'answer':
        await answerRequest(this.request, step.answers);
        return;
      case 'update':
        await updateUser(randomUUID(), { phone_number: this.phone, properties: { [step.property]: this.#news() } });
        return;
      case 'fetch':
        this.fetched.push(await fetchRequest(account, this.request));
        return;
      case 'start':
        await this.#start(['first_name', 'device_make']);
        return;
      case 'start of an automatic request':
        await this.#start(['device_make']);
        return;
      case 'retrieve':
        this.retrieved.push(await retrieve(account, this.phone, ['device_make']));
        return;
      case 'erase':
        if (step.by === 'operator') await eraseUser(this.phone);
        else {
          await removeUser(randomUUID(), this.phone);
          await resumeErasure(this.phone);
        }
    }
  }

  /** Runs all steps concurrently. The only permitted errors are 404s after the erasure. */
  async run(steps: Step[], scheduler: fc.Scheduler): Promise<void> {
    const errors: unknown[] = [];
    vi.spyOn(documents, 'send').mockImplementation((command) =>
      inTurn(scheduler, async () => {
        const [made] = await Promise.allSettled([send(command)]);
        if (!READS.some((Read) => command instanceof Read)) {
          const [, request] = /"REQUEST#([0-9a-f-]+)"/.exec(JSON.stringify(command.input)) ?? [];
          await this.look(...(request === undefined ? [] : [request])).catch((error) => errors.push(error));
        }
        if (made.status === 'rejected') throw made.reason;
        return made.value;
      }),
    );
    const ended = await scheduler.waitFor(Promise.allSettled(steps.map((step) => this.take(step))));
    vi.mocked(documents.send).mockRestore();
    errors.push(
      ...ended.flatMap((one) => (one.status === 'rejected' && !this.#mayMiss(one.reason) ? [one.reason] : [])),
    );
    if (errors.length > 0) throw errors[0];
  }

  #mayMiss(error: unknown): boolean {
    return this.isErased && error instanceof Problem && /^(?:user|request)_not_found$/.test(error.code);
  }

  /** Checks the invariants of every moment. */
  async look(...more: string[]): Promise<void> {
    const user = await read<Record<string, { value?: string }>>(userKey(this.phone));
    if (user === undefined) this.isErased = true;
    for (const { value } of Object.values(user ?? {})) if (value !== undefined) this.values.add(value);
    for (const id of new Set([...this.seen.keys(), ...more])) {
      const item = await read<RequestItem>(requestKey(id));
      if (item !== undefined) this.#hold(id, item);
    }
  }

  #hold(id: string, item: RequestItem): void {
    const before = this.seen.get(id);
    for (const [name, result] of Object.entries(before?.results ?? {}))
      expect(item.results).toHaveProperty(name, result);
    const isComplete = item.properties.every(({ property }) => property in item.results);
    expect(item.completed !== undefined, 'completed').toBe(isComplete);
    if (this.isErased) expect(item.results, 'after the erasure').toEqual(before?.results ?? {});
    for (const result of Object.values(item.results)) {
      if (result.status === 'approved') expect(this.values).toContain(result.value);
    }
    this.seen.set(id, item);
  }

  /** The receipts of all releases, under the number and under the pseudonym. */
  async receipts(): Promise<ConsentReceipt[]> {
    const erasure = await getConsistent<Key & { pseudonym: string }>(erasureKey(this.phone));
    const names = [this.phone, ...(erasure === undefined ? [] : [erasure.pseudonym])];
    const all = (await Promise.all(names.map(listConsentReceipts))).flat();
    // Without those of consents that ended with the user.
    return all.filter(({ event }) => event === undefined);
  }

  /** Checks the invariants of the end. */
  async holdEnd(steps: Step[]): Promise<void> {
    const receipts = await this.receipts();
    for (const [id, item] of this.seen) {
      const released = Object.entries(item.results).filter(([, { status }]) => status === 'approved');
      const receiptedNames = receipts.filter(({ request }) => request === id).flatMap(({ properties }) => properties);
      expect(receiptedNames.sort(), 'receipts').toEqual(released.map(([name]) => name).sort());
    }
    const others = receipts.filter(({ request }) => !this.seen.has(request)).map(({ properties }) => properties);
    expect(others).toEqual(this.retrieved.map(() => ['device_make']));
    for (const { results } of this.retrieved) {
      expect(results.device_make).toMatchObject({ status: 'approved' });
      if (results.device_make?.status === 'approved') expect(this.values).toContain(results.device_make.value);
    }

    const results = this.seen.get(this.request)?.results ?? {};
    for (const { status, results: shown } of this.fetched) expect(shown).toEqual(status === 'completed' ? results : {});
    const answers = steps.flatMap((step) => (step.type === 'answer' ? [step.answers] : []));
    for (const name of ASKED.slice(0, 3)) {
      const given = answers.flatMap((each) => each[name] ?? []);
      const { status } = results[name] ?? {};
      if (given.length === 0) expect(status).toBeUndefined();
      else if (!this.isErased) expect(status, 'an answer was recorded').toBeDefined();
      if (status === undefined) continue;
      expect(given).toContain(status === 'denied' ? 'denied' : 'approved');
      if (name === 'citizenship') expect(status).not.toBe('approved');
      else expect(status).not.toBe('unavailable');
    }
  }
}

const race = (name: string, steps: fc.Arbitrary<Step[]>, afterwards: (over: Race) => Promise<void>): void => {
  test(name, { timeout: 900_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), steps, async (scheduler, taken) => {
        await removeOthers();
        const over = new Race();
        await over.begin();
        await over.run(taken, scheduler);
        await over.holdEnd(taken);
        await afterwards(over);
      }),
      { numRuns: RACES },
    );
  });
};

race(
  'in a race of answers, each property gets one result, and a receipt if it was granted',
  fc
    .tuple(answer, answer, fc.array(fc.oneof(answer, update, other), { maxLength: 3 }))
    .map(([a, b, more]) => [a, b, ...more]),
  async (over) => expect(over.isErased).toBe(false),
);

race(
  'an approval that races with an erasure is recorded completely before it or not at all, and no value remains',
  fc.tuple(erase, answer, fc.array(fc.oneof(answer, other), { maxLength: 3 })).map(([a, b, more]) => [a, b, ...more]),
  async ({ phone, values, isErased }) => {
    expect(isErased).toBe(true);
    const left = (await wholeTable()).join();
    for (const value of values) expect(left).not.toContain(value);
    vi.setSystemTime(Date.now() + 2 * MINUTE);
    await resumeErasure(phone);
    // Only the mark has the number, until pending batches have been read.
    const { pk, sk } = erasureKey(phone);
    const about = async () => (await wholeTable()).filter((line) => line.includes(phone));
    expect((await about()).map((line) => JSON.parse(line))).toMatchObject([{ pk: { S: pk }, sk: { S: sk } }]);
    await eraseFromBatches(() => false);
    expect(await about()).toEqual([]);
  },
);
