/**
 * Every handler, every call that it makes of AWS, every way in which a call can fail: the failure is told, nothing is half
 * done, and the same request again completes it. The quick tests try one way for each handler, the next one in turn.
 */
import { readFile } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test, vi } from 'vitest';
import { api } from '../../../shared/api/index.ts';
import { captureLog } from '../../support/captured-log.ts';
import { useFakeQueue } from '../../unit/support/fake-queue.ts';
import { useOwnTable, useSecret } from '../support/own-table.ts';
import { Receiver } from '../support/receiver.ts';
import { authorizing, endpoints } from './endpoints.ts';
import { canMeet, type Fault, faults, interrupted, type Outcome, useInterruptions, watched } from './interrupted.ts';
import type { Answer, Scenario } from './scenario.ts';
import { contradictionsIn, type Item, isCircuit, itemsInTable, likenessSince, restoreTable } from './table.ts';
import { workers } from './workers.ts';
import { newSecret, posts } from './world.ts';

const { assembly, s3_endpoint } = inject('stack');

/** The bucket of the served stack. */
const bucketName = async (): Promise<string> => {
  const { Resources } = JSON.parse(await readFile(join(assembly, 'BusinessApi.template.json'), 'utf8'));
  return String(Object.keys(Resources).filter((id) => Resources[id].Type === 'AWS::S3::Bucket')).toLowerCase();
};

const secret = newSecret();
const written = captureLog();
const queue = useFakeQueue();
let receiver: Receiver;

useOwnTable('failing-calls');
useSecret(() => JSON.stringify({ url: posts.url, secret }));
useInterruptions();

let bucket: string;

beforeAll(async () => {
  receiver = await Receiver.start();
  posts.url = receiver.url;
  bucket = await bucketName();
});

afterAll(() => receiver.close());

beforeEach(() => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'operator');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local');
  vi.stubEnv('AWS_ENDPOINT_URL_S3', s3_endpoint);
  vi.stubEnv('MEDIA_BUCKET', bucket);
});

/** A scenario as it stands before its handler is called, and what came of it where nothing failed. */
interface Reference {
  call: () => Promise<unknown>;
  before: Item[];
  /** Makes texts of what comes later that are the same in each run. */
  like: (value: object) => string;
  calls: string[];
  result: unknown;
  /** What there was before and after each call, at the end, and at the end of another one. */
  states: Set<string>;
  whole: string;
  twice: string;
  /** What the table holds since somebody looked last. */
  last: Item[];
}

/** All that a handler changes: the table, wake-ups by their names, posts, each once. */
interface Found {
  items: Item[];
  state: string;
}

const look = async (like: Reference['like']): Promise<Found> => {
  const items = await itemsInTable();
  const wakeUps = new Set(queue.taken.map(({ MessageDeduplicationId }) => MessageDeduplicationId));
  const posts = new Set(receiver.calls.map(({ headers, body }) => like(postIn(headers, body))));
  const kept = items.filter((item) => !isCircuit(item)).map(like);
  return { items, state: [...kept.sort(), like([...wakeUps].sort()), ...posts].join('\n') };
};

const postIn = ({ 'content-type': type }: IncomingHttpHeaders, body: string): object =>
  type === 'application/json' ? JSON.parse(body) : [body];

/** Has everything be as it was. */
const putBack = async (before: Item[], found: Item[]): Promise<void> => {
  await restoreTable(before, found);
  for (const list of [queue.taken, receiver.calls, written]) list.length = 0;
};

const prepare = async ({ prepare, parts = 1 }: Scenario): Promise<Reference> => {
  await putBack([], await itemsInTable());
  const call = await prepare();
  const before = await itemsInTable();
  const like = likenessSince(before);
  await putBack(before, before);
  const states = new Set<string>();
  const { outcome, calls } = await watched(call, async () => void states.add((await look(like)).state));
  const whole = (await look(like)).state;
  await call();
  const { items: last, state: twice } = await look(like);
  if (outcome === 'ended' || 'error' in outcome) throw new Error('It failed where nothing did.', { cause: outcome });
  const { result } = outcome;
  if (isAnswer(result)) {
    expect(result.status, JSON.stringify(result.body)).toBeLessThan(300);
    // All or nothing: there is nothing between what was and what is.
    expect(states.size).toBeLessThanOrEqual(1 + parts);
  }
  return { call, before, like, calls, result, states, whole, twice, last };
};

const isAnswer = (result: unknown): result is Answer =>
  typeof result === 'object' && result !== null && 'status' in result;

/** A failure is told to the caller, and in the log; whatever is said to be done is done. */
const holdOutcome = (
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

const holdRepetition = async (scenario: Scenario, reference: Reference): Promise<void> => {
  const { call, like, result, whole, twice } = reference;
  const repeated = await call();
  const { items, state } = await look(like);
  reference.last = items;
  if (scenario.again === 'anew') expect([whole, twice]).toContain(state);
  else expect(state).toBe(whole);
  expect(contradictionsIn(items)).toEqual([]);
  if (isAnswer(repeated) && repeated.status === scenario.orElse) return;
  expect(like([repeated])).toBe(like([result]));
};

const interruptAt = async (at: number, fault: Fault, scenario: Scenario, reference: Reference): Promise<void> => {
  const { call, before, like, states } = reference;
  await putBack(before, reference.last);
  const outcome = await interrupted(call, at, fault);
  const { items, state } = await look(like);
  reference.last = items;
  expect(contradictionsIn(items)).toEqual([]);
  if (!scenario.goesOn) expect([...states]).toContain(state);
  holdOutcome(outcome, state, scenario, reference);
  await holdRepetition(scenario, reference);
};

type Named<Value> = [name: string, value: Value];

const named = <Value>(values: Record<string, Value>): Named<Value>[] => Object.entries(values);

/** Handlers, and what goes wrong with their calls. */
const scenarios = [
  ...named<Scenario>({ ...endpoints, authorizer: authorizing }).map((one) => [...one, named<Fault>(faults)] as const),
  // To what works by itself all errors are the same.
  ...named<Scenario>(workers).map((one) => [...one, named<Fault>(faults).filter(([, { isTold }]) => !isTold)] as const),
].map((one, place) => [...one, place] as const);

/** What can go wrong with the calls of a handler. */
const faultsFor = ({ readsOnly }: Pick<Scenario, 'readsOnly'>, all: Named<Fault>[]): Named<Fault>[] =>
  all.filter(([, { ofWrites }]) => !(readsOnly && ofWrites));

/** The calls that a fault is to meet, by their places. */
const placesFor = (fault: Fault, possible: Named<Fault>[], { calls }: Reference, { inTurn }: Scenario): number[] =>
  calls.flatMap((operation, place) => {
    const isNext = !inTurn || possible[place % possible.length]?.[1] === fault;
    return isNext && canMeet(fault, operation) ? [place + 1] : [];
  });

// First in this file: a process reads it once.
test('a secret that cannot be read fails the wake-up, which delivers nothing; the next one reads it', async () => {
  await putBack([], await itemsInTable());
  const wakeUp = await workers['deliver, to a user'].prepare();
  for (const [name, fault] of faultsFor({ readsOnly: true }, named<Fault>(faults))) {
    const outcome = await interrupted(wakeUp, 2, fault);
    expect(outcome === 'ended' || 'error' in outcome, name).toBe(true);
    expect(receiver.calls).toEqual([]);
  }
  await wakeUp();
  expect(receiver.calls).toHaveLength(2);
});

describe.each(scenarios)(
  '%s: tells of a failure, leaves nothing half done, and completes it when repeated, where any call',
  (_, scenario, all, place) => {
    const possible = faultsFor(scenario, all);
    const isQuick = ([name]: Named<Fault>) => name === possible[place % possible.length]?.[0];
    let reference: Reference | undefined;

    const tryFault = async (_: string, fault: Fault) => {
      reference ??= await prepare(scenario);
      const places = placesFor(fault, possible, reference, scenario);
      expect(places.length).toBeGreaterThan(0);
      for (const at of places) {
        await interruptAt(at, fault, scenario, reference).catch((cause) => {
          throw new Error(`Call ${at} of ${reference?.calls}: ${cause.message}`, { cause });
        });
      }
    };

    test.each(possible.filter(isQuick))('%s', tryFault);
    test.each(possible.filter((one) => !isQuick(one)))('%s', { tags: 'long' }, tryFault);
  },
);

test('no endpoint is left out that touches anything', () => {
  const named = new Set(Object.keys(endpoints).map((name) => name.split(':', 1)[0]));
  const touching = Object.entries(api).filter(([, { table }]) => table.length > 0);
  expect([...named].sort()).toEqual(touching.map(([name]) => name).sort());
});
