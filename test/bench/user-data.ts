/**
 * Long polls on the local stack: the delay from a user's answer to the response, and the effect of 1,000 simultaneous long
 * polls of a customer on memory and on another customer's requests.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { createAccount } from '../../infra/operator/queries/accounts-admin.ts';
import { issueToken } from '../../infra/operator/queries/tokens-admin.ts';
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
  const ids = await newRequests(400);
  const figures = await crowd(ids.slice(0, 200));
  const found: (number | undefined)[] = [];
  for (let done = 200; done < 400; done += 50) found.push(...(await delaysOf(ids.slice(done, done + 50))));
  return [...figures, ...delayFigures('from the answer to the end of the wait, 50 at once', found)];
});
