/**
 * `npm run bench`: what waiting for a user's answer takes on the local stack of this machine. How soon an answer is seen;
 * what a wait costs at the table; and what two hundred waits at once mean to memory, and to those who do not wait.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Context } from 'aws-lambda';
import type { HttpEvent } from '../../shared/http/event.ts';
import { documents } from '../../shared/table/client.ts';
import { demo, measure, quantile, say, spread, stack } from './support.ts';

const { token, app_token: appToken } = demo;

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

/** The id of a request that a new user has to answer. */
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

/** Waits for the user's approval. Answers how long after it the wait ended, in milliseconds; nothing, where it ended before. */
const delayOf = async (id: string): Promise<number | undefined> => {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${stack.baseUrl}/v1/user_data/fetch/${id}?long_poll=30`, { headers });
  const ended = Date.now();
  const { status, results } = JSON.parse(await response.text());
  return status === 'completed' ? ended - Date.parse(`${results.first_name.timestamp}Z`) : undefined;
};

/** The users approve, in one report, which is repeated until it is taken. */
const answer = async (ids: string[]): Promise<void> => {
  const events = ids.map((id) => ({ type: 'user_data.answered', data: { id, answers: { first_name: 'approved' } } }));
  while ((await report(events).catch(() => undefined)) === undefined) await pause(100);
};

const delaysSaid = (delays: (number | undefined)[]): string => {
  const seen = delays.filter((delay) => delay !== undefined);
  return `${seen.length} of ${delays.length} seen, ${spread(seen)}`;
};

/** Waits at once that are answered at different times. */
const delaysOf = (ids: string[]): Promise<(number | undefined)[]> =>
  Promise.all(
    ids.map(async (id) => {
      const delay = delayOf(id);
      await pause(2_000 + Math.random() * 8_000);
      await answer([id]);
      return delay;
    }),
  );

/** What the longest wait takes of the table: calls, and read units as the table reports them. */
const costOfWait = async (id: string): Promise<string> => {
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
    requestContext: { requestId: 'bench', authorizer: { lambda } },
  };
  const context = { getRemainingTimeInMillis: () => 29_000 - (performance.now() - start) };
  // Its log line is nobody's concern here.
  const write = process.stdout.write;
  process.stdout.write = () => true;
  const { statusCode } = await handler(event as unknown as HttpEvent, context as Context);
  process.stdout.write = write;
  const seconds = ((performance.now() - start) / 1_000).toFixed(1);
  documents.middlewareStack.remove('cost');
  return `${statusCode} after ${seconds} s, ${cost.calls} looks, ${cost.units} read units`;
};

/** Threads of the stack's functions. */
let threads = 0;
process.on('worker', (worker) => {
  worker.once('online', () => {
    threads += 1;
  });
  worker.once('exit', () => {
    threads -= 1;
  });
});

/** Milliseconds that requests take of one who does not wait, one after the other, as long as `goesOn`. */
const othersWhile = async (goesOn: (done: number) => boolean): Promise<number[]> => {
  const found: number[] = [];
  while (goesOn(found.length)) {
    const start = performance.now();
    await send(`${stack.baseUrl}/v1/research_profilers`, token);
    found.push(performance.now() - start);
    await pause(20);
  }
  return found;
};

const megabytes = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MB`;

/** Has all wait at once, looks at the others meanwhile, and then has all users answer. */
const crowd = async (ids: string[]): Promise<void> => {
  await othersWhile((done) => done < 20);
  const usual = await othersWhile((done) => done < 200);
  const [memory, other] = [process.memoryUsage.rss(), threads];
  const start = performance.now();
  const passed = (): number => performance.now() - start;
  const waits = Promise.all(ids.map(delayOf));

  // Threads take a moment to start; the gateway gives up after 30 s, that moment included.
  const beginning = await othersWhile(() => passed() < 6_000);
  const [began, begun] = [passed(), threads - other];
  const waiting = await othersWhile(() => passed() < began + 2_000);
  const crowded = process.memoryUsage.rss();
  for (let done = 0; done < ids.length; done += 20) await answer(ids.slice(done, done + 20));
  const delays = await waits;

  const ratio = (values: number[]): string => (quantile(values, 0.5) / quantile(usual, 0.5)).toFixed(1);
  const seconds = (began / 1_000).toFixed(1);
  say(`${ids.length} waits at once: ${begun} threads after ${seconds} s`);
  say(`memory of the process: ${megabytes(memory)} before, ${megabytes(crowded)} with them`);
  say(`another endpoint before (${usual.length}): ${spread(usual, 1)}`);
  say(`while they begin (${beginning.length}): ${spread(beginning, 1)}; ratio of the medians ${ratio(beginning)}`);
  say(`after that (${waiting.length}): ${spread(waiting, 1)}; ratio of the medians ${ratio(waiting)}`);
  say(`from the answer to the end of the wait, all answered at once: ${delaysSaid(delays)}`);
};

await measure(async () => {
  const ids = await newRequests(401);
  const [unanswered = ''] = ids;
  await crowd(ids.slice(1, 201));
  const found: (number | undefined)[] = [];
  for (let done = 201; done < 401; done += 50) found.push(...(await delaysOf(ids.slice(done, done + 50))));
  say(`from the answer to the end of the wait, 50 at once: ${delaysSaid(found)}`);
  say(`a wait of 30 s that ends unanswered: ${await costOfWait(unanswered)}`);
});
