/**
 * Long polls on the local stack: the delay from a user's answer to the response, the cost of a long poll in calls of
 * the table, and the effect of 1,000 simultaneous long polls of a customer on memory and on another customer's requests.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Context } from 'aws-lambda';
import { createAccount } from '../../infra/operator/queries/accounts-admin.ts';
import { issueToken } from '../../infra/operator/queries/tokens-admin.ts';
import { takeSlot } from '../../shared/accounts/rate-limit/wait-slots.ts';
import { inParallel } from '../../shared/core/parallel.ts';
import type { HttpEvent } from '../../shared/http/event.ts';
import { documents } from '../../shared/table/client.ts';
import { type Figure, quantile, times } from './report.ts';
import { demo, measure, stack } from './support.ts';

const { token, app_token: appToken } = demo;

await createAccount({ name: 'Another customer', id: 'another' });
const { token: otherToken } = await issueToken('another', { label: 'bench', permissions: ['profilers'] });

const send = async (url: string, bearer: string, body?: unknown): Promise<string> => {
  const response = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${url} answered ${response.status}.`);
  return response.text();
};

const report = (events: { type: string; data: object }[]): Promise<string> =>
  send(
    `${stack.bridgeUrl}/v1/app/events`,
    appToken,
    events.map((event) => ({ id: randomUUID(), ...event })),
  );

let phones = 0;

/** The waits of a customer at once, and how many of them have a slot: the default of `waitsPerAccount`. */
const WAITS = 1_000;
const SLOTS = 50;

/** Starts a request to a new user. Returns its id. */
const newRequest = async (): Promise<string> => {
  phones += 1;
  const phone = `4477008${10_000 + phones}`;
  await report([
    {
      type: 'user.updated',
      data: { phone_number: phone, properties: { first_name: { value: 'Ada', source: 'user' } } },
    },
  ]);
  const asked = { reason: 'Bench', data: [{ property: 'first_name' }] };
  return JSON.parse(await send(`${stack.baseUrl}/v1/user_data/start/${phone}`, token, asked)).requestId;
};

const newRequests = async (count: number): Promise<string[]> => {
  const ids: string[] = [];
  while (ids.length < count) ids.push(...(await Promise.all(Array.from({ length: 10 }, newRequest))));
  return ids;
};

/** Long-polls a request. Returns the milliseconds from the approval to the response, or undefined if it is pending. */
const delayOf = async (id: string): Promise<number | undefined> => {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${stack.baseUrl}/v1/user_data/fetch/${id}?long_poll=30`, { headers });
  const ended = Date.now();
  const { status, results } = JSON.parse(await response.text());
  return status === 'completed' ? ended - Date.parse(`${results.first_name.timestamp}Z`) : undefined;
};

/** Reports the approval of all requests in one batch, and repeats the report until it is accepted. */
const answer = async (ids: string[]): Promise<void> => {
  const events = ids.map((id) => ({ type: 'user_data.answered', data: { id, answers: { first_name: 'approved' } } }));
  while ((await report(events).catch(() => undefined)) === undefined) await pause(100);
};

const delayFigures = (what: string, delays: (number | undefined)[]): Figure[] => {
  const seen = delays.filter((delay) => delay !== undefined);
  return [times(what, seen), { what: 'of them ended unanswered', value: delays.length - seen.length, unit: 'waits' }];
};

/** Simultaneous long polls with answers at different times. */
const delaysOf = (ids: string[]): Promise<(number | undefined)[]> =>
  Promise.all(
    ids.map(async (id) => {
      const delay = delayOf(id);
      await pause(2_000 + Math.random() * 8_000);
      await answer([id]);
      return delay;
    }),
  );

/** The cost of the longest long poll: calls of the table, and read units that the table reports. */
const costOfWait = async (id: string): Promise<Figure[]> => {
  const cost = { calls: 0, units: 0 };
  documents.middlewareStack.add(
    (next) => async (args) => {
      Object.assign(args.input, { ReturnConsumedCapacity: 'TOTAL' });
      const result = await next(args);
      const { ConsumedCapacity } = result.output as { ConsumedCapacity?: { CapacityUnits?: number } };
      cost.calls += 1;
      cost.units += ConsumedCapacity?.CapacityUnits ?? 0;
      return result;
    },
    { name: 'cost' },
  );
  const { handler } = await import('../../functions/user-data/fetch-user-data.ts');
  const start = performance.now();
  const lambda = { account: 'demo', token: 'bench', permissions: ['user_data'] };
  const event = {
    headers: {},
    routeKey: 'GET /v1/user_data/fetch/{id}',
    pathParameters: { id },
    queryStringParameters: { long_poll: '30' },
    requestContext: { requestId: 'bench', http: { method: 'GET' }, authorizer: { lambda } },
  };
  const context = { getRemainingTimeInMillis: () => 29_000 - (performance.now() - start) };
  process.env.WAITS_PER_ACCOUNT = String(SLOTS);
  process.env.WAITS_IN_ALL = String(WAITS);
  // The log line is discarded.
  const write = process.stdout.write;
  process.stdout.write = () => true;
  const { statusCode } = await handler(event as unknown as HttpEvent, context as Context);
  process.stdout.write = write;
  const value = (performance.now() - start) / 1_000;
  documents.middlewareStack.remove('cost');
  if (statusCode !== 200) throw new Error(`A wait was answered ${statusCode}.`);
  return [
    { what: 'a wait of 30 s that ends unanswered', value, unit: 's' },
    { what: 'its looks', value: cost.calls, unit: 'calls' },
    { what: 'its reads', value: cost.units, unit: 'read units' },
  ];
};

/** Connections of one client. In a longer queue for them, requests exceed the client's time limit for connecting. */
const CONNECTIONS = 50;

/** Of the last slots that are free: the writes that so many waits at the same moment need to share them. */
const attemptsNear = async (free: number, waits: number): Promise<Figure[]> => {
  const account = `near-${free}-${waits}`;
  const end = Date.now() + 600_000;
  process.env.WAITS_PER_ACCOUNT = String(SLOTS);
  process.env.WAITS_IN_ALL = String(WAITS);
  for (let used = 0; used < SLOTS - free; used += 1) await takeSlot(account, end);
  const attempts: number[] = [];
  let taken = 0;
  await inParallel(
    Array.from({ length: waits }, (_, place) => place),
    CONNECTIONS,
    () =>
      attempted.run({ writes: 0 }, async () => {
        if ((await takeSlot(account, end)) !== undefined) taken += 1;
        attempts.push(attempted.getStore()?.writes ?? 0);
      }),
  );
  const mean = attempts.reduce((sum, one) => sum + one, 0) / waits;
  return [
    { what: `${waits} waits for the last ${free} of ${SLOTS} slots: those that got one`, value: taken, unit: 'waits' },
    { what: 'writes of each, on average', value: mean, unit: 'writes' },
    { what: 'most writes of one', value: Math.max(...attempts), unit: 'writes' },
  ];
};

/** Counts the writes of a wait. */
const attempted = new AsyncLocalStorage<{ writes: number }>();
documents.middlewareStack.add(
  (next, { commandName }) =>
    (args) => {
      const store = attempted.getStore();
      if (store && commandName === 'UpdateItemCommand') store.writes += 1;
      return next(args);
    },
  { name: 'attempts', step: 'initialize' },
);

/** The number of threads of the stack's functions. */
let threads = 0;
process.on('worker', (worker) => {
  worker.once('online', () => {
    threads += 1;
  });
  worker.once('exit', () => {
    threads -= 1;
  });
});

/** Times in milliseconds of another customer's requests, one after the other, while `goesOn` returns true. */
const othersWhile = async (goesOn: (done: number) => boolean): Promise<number[]> => {
  const found: number[] = [];
  while (goesOn(found.length)) {
    const start = performance.now();
    await send(`${stack.baseUrl}/v1/research_profilers`, otherToken);
    found.push(performance.now() - start);
    await pause(20);
  }
  return found;
};

const megabytes = (bytes: number): number => Math.round(bytes / 1024 / 1024);

/**
 * Starts all long polls at once, several for each request, and measures another customer's requests: before, while most
 * long polls return because they have no slot, and while the others wait. Then reports the answers of all users.
 */
const crowd = async (ids: string[]): Promise<Figure[]> => {
  await othersWhile((done) => done < 20);
  const usual = await othersWhile((done) => done < 200);
  const [memory, other] = [process.memoryUsage.rss(), threads];
  const start = performance.now();
  let returned = 0;
  const waits = Promise.all(
    Array.from({ length: WAITS }, async (_, place) => {
      const delay = await delayOf(ids[place % ids.length] ?? '');
      returned += 1;
      return delay;
    }),
  );
  const beginning = await othersWhile(() => returned < WAITS - SLOTS);
  const began = performance.now() - start;
  const begun = threads - other;
  // Longer than any wait would be pointless.
  const waiting = await othersWhile((done) => done < 200 && performance.now() - start < 25_000);
  const held = WAITS - returned;
  const crowded = process.memoryUsage.rss();
  for (let done = 0; done < ids.length; done += 20) await answer(ids.slice(done, done + 20));
  const delays = (await waits).filter((delay) => delay !== undefined);

  const ratio = (values: number[]): Figure => ({
    what: 'ratio of the medians',
    value: quantile(values, 0.5) / quantile(usual, 0.5),
    unit: '×',
  });
  return [
    { what: `${WAITS} waits of a customer at once: those that wait`, value: held, unit: 'waits' },
    { what: 'until all others have returned', value: began / 1_000, unit: 's' },
    { what: 'threads that serve them', value: begun, unit: 'threads' },
    { what: 'memory of the process before', value: megabytes(memory), unit: 'MB' },
    { what: 'memory with all of them', value: megabytes(crowded), unit: 'MB' },
    times('another customer before', usual),
    times('another customer while they begin', beginning),
    ratio(beginning),
    times('another customer while they wait', waiting),
    { ...ratio(waiting), goal: { atMost: 1.2 } },
    times('from the answer to the end of the wait, all answered at once', delays),
  ];
};

await measure('user data', async () => {
  const ids = await newRequests(401);
  const [unanswered = ''] = ids;
  const figures = await crowd(ids.slice(1, 201));
  const found: (number | undefined)[] = [];
  for (let done = 201; done < 401; done += 50) found.push(...(await delaysOf(ids.slice(done, done + 50))));
  const attempts = [...(await attemptsNear(1, 1)), ...(await attemptsNear(10, 20)), ...(await attemptsNear(50, 1_000))];
  return [
    ...figures,
    ...attempts,
    ...delayFigures('from the answer to the end of the wait, 50 at once', found),
    ...(await costOfWait(unanswered)),
  ];
});
