/**
 * Fault injection for every handler, every call to AWS that it makes, and every way in which the call can fail; the kinds of
 * outage are met in turn. A call of a scenario with `inTurn` meets one way only. The handler reports the failure and leaves no
 * partial change, and a repeat completes the work.
 *
 * @module-tag long
 */

import type { IncomingHttpHeaders } from 'node:http';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { handler as authorizer } from '../../../../functions/authorizer.ts';
import { api, type EndpointName } from '../../../../shared/api/index.ts';
import { appNetwork } from '../../../../shared/destinations/app-network.ts';
import { documents } from '../../../../shared/table/client.ts';
import type { AnyItem } from '../../../../shared/table/entity.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { useFakeQueue } from '../../../unit/support/fake-queue.ts';
import { callOf, callsOf } from '../../scenarios/all.ts';
import type { Call } from '../../scenarios/scenarios.ts';
import { DestinationServer } from '../../support/destination-server.ts';
import { useOwnTable, useSecret, useServedBucket } from '../../support/own-table.ts';
import { itemsIn } from '../../support/whole-table.ts';
import { newCaller } from '../../support/world.ts';
import { canMeet, type Fault, faults, interrupted, type Outcome, useInterruptions, watched } from './interrupted.ts';
import type { Answer, Scenario } from './scenario.ts';
import {
  contradictionsIn,
  isAllowance,
  isAttempt,
  isCircuit,
  isClaim,
  isOfUnnamedUpload,
  likenessSince,
  restoreTable,
} from './table.ts';
import { workers } from './workers.ts';
import { newBusiness, newSecret, posts } from './world.ts';

const secret = newSecret();
const written = captureLog();
const queue = useFakeQueue();
let destination: DestinationServer;

useOwnTable('failing-calls');
useSecret(() => JSON.stringify({ url: posts.url, secret }));
useInterruptions();
useServedBucket();

beforeAll(async () => {
  destination = await DestinationServer.start();
  posts.url = destination.url;
});

afterAll(() => destination.close());

/** The state before a scenario's handler is called, and the result of a run without a fault. */
interface Reference {
  call: () => Promise<unknown>;
  before: AnyItem[];
  /** Formats values as texts that are equal in each run. */
  like: (value: object) => string;
  calls: string[];
  result: unknown;
  /** The states at the beginning, before and after each change, and at the end. */
  states: Set<string>;
  /** The state after one run. */
  whole: string;
  /** The state after a second run. */
  twice: string;
  /** The items that the table contained when last read. */
  last: AnyItem[];
}

/**
 * Everything that a handler changes. `state` contains items, names of wake-ups and posts, without duplicates. Wake-ups that an
 * endpoint sends are left out: `relay` sends them in any case.
 */
interface Found {
  items: AnyItem[];
  state: string;
}

const look = async (like: Reference['like'], { isRelayed }: Scenario): Promise<Found> => {
  const items = await itemsIn();
  const stored = new Set(isRelayed ? items.map(({ sk }) => sk) : []);
  const names = new Set(queue.taken.map(({ MessageDeduplicationId }) => MessageDeduplicationId));
  const posts = new Set(destination.calls.map(({ headers, body }) => like(postIn(headers, body))));
  const kept = items
    .filter((item) => [isCircuit, isClaim, isAttempt, isAllowance].every((isOther) => !isOther(item)))
    .filter((item) => !isOfUnnamedUpload(item, items))
    .map(like);
  return { items, state: [...kept.sort(), like([...names.difference(stored)].sort()), ...posts].join('\n') };
};

const postIn = ({ 'content-type': type }: IncomingHttpHeaders, body: string): object =>
  type === 'application/json' ? JSON.parse(body) : [body];

/** Restores the table, and clears queue, posts and log. */
const restore = async (before: AnyItem[], found: AnyItem[]): Promise<void> => {
  await restoreTable(before, found);
  for (const list of [queue.taken, destination.calls, written]) list.length = 0;
};

/** A state without the records of repeated requests. */
const withoutRepeats = (state: string): string =>
  state
    .split('\n')
    .filter((line) => !line.includes('"sk":"REPEATS"'))
    .join('\n');

const prepare = async (scenario: Scenario): Promise<Reference> => {
  const { parts = 1, notesRepeats, readsOnly, chargesOnly } = scenario;
  await restore([], await itemsIn());
  const call = await scenario.prepare();
  const before = await itemsIn();
  const like = likenessSince(before);
  await restore(before, before);
  const untouched = (await look(like, scenario)).state;
  const states = new Set([untouched]);
  const { outcome, calls } = await watched(call, async () => void states.add((await look(like, scenario)).state));
  const whole = (await look(like, scenario)).state;
  states.add(whole);
  await call();
  const { items: last, state: twice } = await look(like, scenario);
  if (readsOnly) expect(whole, 'It changes something: it is not `readsOnly`.').toBe(untouched);
  // Without work, every fault would pass.
  if (!readsOnly && !chargesOnly)
    expect(whole, 'It changes nothing: is it `readsOnly`, or `chargesOnly`?').not.toBe(untouched);
  if (notesRepeats) {
    expect(twice).not.toBe(whole);
    expect(withoutRepeats(twice)).toBe(whole);
  }
  if (outcome === 'ended' || 'error' in outcome)
    throw new Error('The handler failed without a fault.', { cause: outcome });
  const { result } = outcome;
  if (isAnswer(result)) {
    expect(result.status, JSON.stringify(result.body)).toBeLessThan(300);
    // All or nothing: a request has no intermediate states, except between its parts.
    expect(states.size, 'Its changes can be seen in part: has it several `parts`?').toBeLessThanOrEqual(1 + parts);
  }
  return { call, before, like, calls, result, states, whole, twice, last };
};

const isAnswer = (result: unknown): result is Answer =>
  typeof result === 'object' && result !== null && 'status' in result;

/** Checks that a failure is returned and logged, and that the work is complete after a successful response. */
const checkOutcome = (
  outcome: Outcome<unknown>,
  state: string,
  { isCommand }: Scenario,
  { whole, result, like }: Reference,
): void => {
  if (outcome === 'ended') return;
  const failed = 'error' in outcome || (isAnswer(outcome.result) && outcome.result.status === 503);
  if (failed && !isCommand) expect(written.join()).toContain('"level":"error"');
  if ('error' in outcome) {
    expect(isAnswer(result)).toBe(false);
  } else if (failed) {
    expect(outcome.result).toMatchObject({ retry_after: '1', body: { code: 'unavailable' } });
  } else {
    expect(like([outcome.result])).toBe(like([result]));
    expect(state).toBe(whole);
  }
};

/** @param interrupted - the state after the interrupted run */
const checkRepetition = async (scenario: Scenario, reference: Reference, interrupted: string): Promise<void> => {
  const { call, like, result, whole, twice } = reference;
  const repeated = await call();
  const { items, state } = await look(like, scenario);
  reference.last = items;
  if (scenario.repeat === 'new') expect([whole, twice]).toContain(state);
  else expect(state).toBe(scenario.notesRepeats && interrupted === whole ? twice : whole);
  expect(contradictionsIn(items)).toEqual([]);
  if (isAnswer(repeated) && repeated.status === scenario.repeatStatus) return;
  if (scenario.tellsRepeats && isAnswer(repeated) && repeated.status === 200) return;
  expect(like([repeated])).toBe(like([result]));
};

const interruptAt = async (at: number, fault: Fault, scenario: Scenario, reference: Reference): Promise<void> => {
  const { call, before, like, states } = reference;
  await restore(before, reference.last);
  const outcome = await interrupted(call, at, fault);
  const { items, state } = await look(like, scenario);
  reference.last = items;
  expect(contradictionsIn(items)).toEqual([]);
  if (!scenario.continues) expect([...states]).toContain(state);
  checkOutcome(outcome, state, scenario, reference);
  await checkRepetition(scenario, reference, state);
};

type Named<Value> = [name: string, value: Value];

const named = <Value>(values: Record<string, Value>): Named<Value>[] => Object.entries(values);

/** The scenario of a request to an endpoint. */
const sending = (endpoint: EndpointName, { prepare = async () => ({}), shown = (body) => body, ...rest }: Call) => ({
  ...rest,
  isRelayed: true as const,
  prepare: async () => {
    const business = await newBusiness();
    const send = await callOf(endpoint, { account: business.account, ...(await prepare(business)) });
    return async () => {
      const answer = await send();
      return { ...answer, body: shown(answer.body) };
    };
  },
});

const endpoints = (Object.keys(api) as EndpointName[])
  // Others make no call that could fail.
  .filter((name) => api[name].table.length > 0)
  .flatMap((name) =>
    callsOf(name).map(([of, call]): Named<Scenario> => [of === '' ? name : `${name}: ${of}`, sending(name, call)]),
  );

const authorizing: Scenario = {
  prepare: async () => {
    const { token } = await newCaller('stats');
    const requestContext = { requestId: 'request-1' };
    return () => authorizer({ routeKey: 'GET /v1/stats/logs', identitySource: [`Bearer ${token}`], requestContext });
  },
  readsOnly: true,
};

/** Handlers, with the faults of their calls. */
const scenarios = [
  // They post nothing.
  ...[...endpoints, ['authorizer', authorizing] satisfies Named<Scenario>].map(
    (one) => [...one, named<Fault>(faults).filter(([, { postsOnly }]) => !postsOnly)] as const,
  ),
  // A worker handles all errors in the same way.
  ...named<Scenario>(workers).map(
    (one) => [...one, named<Fault>(faults).filter(([, { responseOnly }]) => !responseOnly)] as const,
  ),
];

/** The faults that are possible in a handler's calls. */
const faultsFor = (
  { readsOnly, sendsOnly }: Pick<Scenario, 'readsOnly' | 'sendsOnly'>,
  all: Named<Fault>[],
): Named<Fault>[] =>
  all.filter(
    ([, { writesOnly, changesOnly }]) => !(readsOnly && (writesOnly || changesOnly)) && !(sendsOnly && writesOnly),
  );

/** The least number of equal calls, such as one for each shard, of which only the first and the last are interrupted. */
const MANY = 12;

/** Whether a call is between many equal ones, with another call between each two or none. */
const isBetweenMany = (calls: string[], index: number): boolean =>
  [1, 2].some((stride) => {
    const equal = (by: number): number => {
      let count = 0;
      while (calls[index + (count + 1) * by] === calls[index]) count += 1;
      return count;
    };
    const [before, after] = [equal(-stride), equal(stride)];
    return before > 0 && after > 0 && before + 1 + after >= MANY;
  });

/**
 * The faults that the calls of a handler meet in turn, with this one. Clients of AWS repeat a call in each kind of outage, and
 * handlers only see that it failed.
 */
const alternativesTo = (fault: Fault, possible: Named<Fault>[], { inTurn }: Scenario): Fault[] =>
  possible.map(([, one]) => one).filter((one) => one === fault || inTurn || (one.isOutage && fault.isOutage));

/** The positions of the calls that a fault applies to, among those that can meet it, from 1: at least the first one. */
const placesFor = (fault: Fault, possible: Named<Fault>[], { calls }: Reference, scenario: Scenario): number[] => {
  const possibleAt = [...calls.keys()].filter((index) => canMeet(fault, calls[index] ?? ''));
  const all = possibleAt.filter((index) => !isBetweenMany(calls, index));
  const alternatives = alternativesTo(fault, possible, scenario);
  const next = all.filter((index, place) => {
    const own = alternatives.filter((one) => canMeet(one, calls[index] ?? ''));
    return own[(scenario.inTurn ? index : place) % own.length] === fault;
  });
  return (next.length > 0 ? next : all.slice(0, 1)).map((index) => possibleAt.indexOf(index) + 1);
};

// This test must be the first: a process reads the secret once in five minutes.
test('a wake-up fails and delivers nothing if the secret cannot be read, and the next wake-up reads it', async () => {
  await restore([], await itemsIn());
  const wakeUp = await workers['deliver, to a user'].prepare();
  for (const [name, fault] of faultsFor({ readsOnly: true }, named<Fault>(faults))) {
    const outcome = await interrupted(wakeUp, 2, fault);
    expect(outcome === 'ended' || 'error' in outcome, name).toBe(true);
    expect(destination.calls).toEqual([]);
  }
  await wakeUp();
  expect(destination.calls).toHaveLength(2);

  // It is not read again during this file: each reading would be one more call of a scenario.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 86_400_000 });
  await appNetwork();
  vi.useRealTimers();
});

describe.each(scenarios)(
  '%s: reports the failure, leaves no partial change, and completes on repetition, if any call',
  (_title, scenario, all) => {
    const possible = faultsFor(scenario, all);
    let reference: Reference | undefined;

    const tryFault = async (_: string, fault: Fault) => {
      reference ??= await prepare(scenario);
      const places = placesFor(fault, possible, reference, scenario);
      expect(places.length).toBeGreaterThan(0);
      for (const at of places) {
        await interruptAt(at, fault, scenario, reference).catch((cause) => {
          const calls = reference?.calls.filter((operation) => canMeet(fault, operation));
          throw new Error(`Call ${at} of ${calls}: ${cause.message}`, { cause });
        });
      }
    };

    test.each(possible)('%s', tryFault);
  },
);

test('functions have the clients of AWS that they have in bundles', () => {
  expect(documents).not.toHaveProperty('middlewareStack');
});
