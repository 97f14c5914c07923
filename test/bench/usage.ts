/**
 * Measures the capacity units and milliseconds that each function uses for requests and messages over HTTP to the local
 * stack.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { openDatabase } from '../../infra/local/aws/database/database.ts';
import { updateAccount } from '../../infra/operator/queries/accounts-admin.ts';
import { api, type EndpointName } from '../../shared/api/index.ts';
import { listJobs } from '../../shared/stats/job-counters.ts';
import { FrontDoor, newPhone, textTo } from './front-door.ts';
import { Meter, noUnits, type Units } from './meter.ts';
import { quantile, say } from './report.ts';
import { startStopwatch, takeTimes } from './stopwatch.ts';
import { firstCallOf, typicalRequest } from './typical-requests.ts';
import { openWhole } from './whole.ts';

/** The usage of one function call. */
export interface Use extends Units {
  /** Milliseconds on this machine, including calls of the embedded database. */
  ms: number;
}

/** The usage of one message by function, and the number of invocations of each function. */
export type Way = Map<string, Use & { invocations: number }>;

export interface Usage {
  endpoints: Map<EndpointName, Use>;
  authorizer: Use;
  /** A message of the API: accepted, relayed, delivered, counted, with reports of two states. */
  message: Way;
}

/** The parts for the measurement. */
export interface Bench {
  door: FrontDoor;
  meter: Meter;
  phoneUrl: string;
}

/** The account of the messages, and the number of log entries of each message. */
const ACCOUNT = 'demo';
const ENTRIES = 4;
/** The number of times that each request is made, and each message sent. Milliseconds are medians. */
const TIMES = 25;
/** Units of a request are the median of so many last ones: by then, what was left from before is done. */
const LAST = 5;

/**
 * Measures on a stack of its own.
 *
 * @param stored - a table that exists, and the endpoint of its database. Default: an empty one
 */
export const onStack = async <Found>(
  work: (bench: Bench) => Promise<Found>,
  stored?: { endpoint: string; tableName: string },
): Promise<Found> => {
  startStopwatch();
  const database = await openDatabase(stored?.endpoint);
  const meter = new Meter(database.endpoint);
  const named = stored && { tableName: stored.tableName };
  const { stack, simulators, demo, close } = await openWhole(await meter.listen(), {}, named);
  try {
    return await work({ door: new FrontDoor(stack, demo), meter, phoneUrl: simulators.app.phoneUrl });
  } finally {
    await close();
    await meter.close();
    await database.close();
  }
};

export const usageOn = async (bench: Bench): Promise<Usage> => {
  // No statuses are sent.
  await updateAccount(ACCOUNT, { platform: null });
  // Messages are the first: workers would also deliver what other requests leave pending.
  const message = await measureMessage(bench);
  const { write } = process.stdout;
  // What the scenarios store is logged in this process.
  process.stdout.write = () => true;
  const endpoints = await measureEndpoints(bench).finally(() => {
    process.stdout.write = write;
  });
  return { endpoints, authorizer: await measureAuthorizer(bench), message };
};

export const measureUsage = (): Promise<Usage> => onStack(usageOn);

const measureEndpoints = async (bench: Bench): Promise<Map<EndpointName, Use>> => {
  const endpoints = new Map<EndpointName, Use>();
  for (const name of Object.keys(api) as EndpointName[]) {
    say(`usage: ${name}`);
    try {
      endpoints.set(name, await measureEndpoint(bench, name));
    } catch (cause) {
      const call = `The first call of ${name} in test/stack/scenarios/`;
      throw new Error(`${call} cannot be measured as test/bench/typical-requests.ts makes it.`, { cause });
    }
  }
  return endpoints;
};

const measureEndpoint = async ({ door, meter }: Bench, name: EndpointName): Promise<Use> => {
  let request = await typicalRequest(name);
  // As long as the message of a job is not counted, for some two seconds, the job is running, and more is read.
  if (name === 'readJob') await pause(5_000);
  const units: Units[] = [];
  takeTimes();
  for (let time = 0; time < TIMES; time += 1) {
    if (time > 0 && !firstCallOf(name).readsOnly) request = await typicalRequest(name);
    meter.take();
    await door.send(name, request);
    units.push(meter.take().get(name) ?? noUnits());
  }
  return { ...medianOf(units.slice(-LAST)), ms: quantile(takeTimes().get(routeOf(name)) ?? [], 0.5) };
};

/** The authorizer runs for every request with a token in its path. */
const measureAuthorizer = async ({ door, meter }: Bench): Promise<Use> => {
  const request = await typicalRequest('receiveTurnMessage');
  takeTimes();
  const units: Units[] = [];
  for (let time = 0; time < TIMES; time += 1) {
    meter.take();
    await door.send('receiveTurnMessage', request);
    units.push(meter.take().get('authorizer') ?? noUnits());
  }
  return { ...medianOf(units.slice(-LAST)), ms: quantile(takeTimes().get('authorizer') ?? [], 0.5) };
};

/** Sends messages one after the other, each after the previous one was delivered and counted. */
const measureMessage = async ({ door, meter, phoneUrl }: Bench): Promise<Way> => {
  say('usage: the whole way of a message');
  await untilQuiet();
  takeTimes();
  meter.take();
  const units: Map<string, Units>[] = [];
  for (let time = 0; time < TIMES; time += 1) {
    const before = await countedToday();
    const to = newPhone();
    const { id } = (await door.send('sendMessage', { body: textTo(to) })) as { id: string };
    while (!(await isShownOn(phoneUrl, to))) await pause(5);
    for (const state of ['delivered_to_user', 'read']) await door.report('message.state', { id, state });
    while ((await countedToday()) < before + ENTRIES) await pause(20);
    units.push(meter.take());
  }
  const functions = ['sendMessage', 'relay', 'deliver', 'receiveAppEvents', 'count'];
  return wayOf(functions, (name) => medianOf(units.map((each) => each.get(name) ?? noUnits())), TIMES);
};

/** What these functions have used for each of so many messages, since the stopwatch was read. */
export const wayOf = (functions: string[], unitsOf: (name: string) => Units, messages: number): Way => {
  const times = takeTimes();
  return new Map(
    functions.map((name) => {
      const invocations = times.get(name in api ? routeOf(name as EndpointName) : name) ?? [];
      const ms = quantile(invocations, 0.5);
      return [name, { ...unitsOf(name), invocations: invocations.length / messages, ms }];
    }),
  );
};

/** Without what other work adds to one of them: a transaction that is repeated, or a lease that ends. */
const medianOf = (units: Units[]): Units => {
  const of = (what: keyof Units): number =>
    quantile(
      units.map((each) => each[what]),
      0.5,
    );
  return { calls: of('calls'), reads: of('reads'), writes: of('writes'), indexes: of('indexes') };
};

const routeOf = (name: EndpointName): string => `${api[name].routes[0].method} ${api[name].routes[0].path}`;

const countedToday = async (): Promise<number> => {
  const day = new Date().toISOString().slice(0, 10);
  return (await listJobs(ACCOUNT, day, day)).reduce((total, { count }) => total + count, 0);
};

/** Waits until the counters no longer change. */
const untilQuiet = async (): Promise<void> => {
  for (let before = -1, now = await countedToday(); before !== now; now = await countedToday()) {
    before = now;
    await pause(1_000);
  }
};

const isShownOn = async (phoneUrl: string, phone: string): Promise<boolean> => {
  const shown = await fetch(`${phoneUrl}/phones/${phone}/messages`);
  return ((await shown.json()) as unknown[]).length > 0;
};
