/**
 * What requests and messages use: capacity units and milliseconds of each function, as they come through the front door of
 * the local stack.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { openDatabase } from '../../infra/local/aws/database/database.ts';
import type { Demo } from '../../infra/local/demo.ts';
import { updateAccount } from '../../infra/operator/queries/accounts-admin.ts';
import { api, type EndpointName } from '../../shared/api/index.ts';
import { listJobs } from '../../shared/stats/job-counters.ts';
import { FrontDoor, newPhone } from './front-door.ts';
import { Meter, noUnits, type Units } from './meter.ts';
import { quantile, say } from './report.ts';
import { startStopwatch, takeTimes } from './stopwatch.ts';
import { ofTurn, textTo, typicalRequests } from './typical-requests.ts';
import { openWhole } from './whole.ts';

/** What one call of a function uses. */
export interface Use extends Units {
  /** Milliseconds on this machine, its calls of the embedded database included. */
  ms: number;
}

/** What a message uses on its way, by function; and how often the function is called for it. */
type Way = Map<string, Use & { invocations: number }>;

interface Usage {
  endpoints: Map<EndpointName, Use>;
  authorizer: Use;
  /** A message by the API: accepted, relayed, delivered, two states reported, counted. */
  message: Way;
}

/** What usage is measured at. */
interface Bench {
  door: FrontDoor;
  meter: Meter;
  demo: Demo;
  phoneUrl: string;
}

/** The account that messages are of, and the entries that a message's log has in the end. */
const ACCOUNT = 'demo';
const ENTRIES = 4;
/** How often each request is made: units are those of the last one, milliseconds the median. */
const TIMES = 25;

export const measureUsage = async (): Promise<Usage> => {
  startStopwatch();
  const database = await openDatabase(undefined);
  const meter = new Meter(database.endpoint);
  const { stack, simulators, demo, close } = await openWhole(await meter.listen());
  try {
    // Like a business that has none: nothing is told to a platform.
    await updateAccount(ACCOUNT, { platform: null });
    const bench = { door: new FrontDoor(stack, demo), meter, demo, phoneUrl: simulators.app.phoneUrl };
    return {
      endpoints: await measureEndpoints(bench),
      authorizer: await measureAuthorizer(bench),
      message: await measureMessage(bench),
    };
  } finally {
    await close();
    await meter.close();
    await database.close();
  }
};

const measureEndpoints = async ({ door, meter, demo }: Bench): Promise<Map<EndpointName, Use>> => {
  const requests = Object.entries(await typicalRequests(door, demo)) as [EndpointName, () => object][];
  const endpoints = new Map<EndpointName, Use>();
  for (const [name, requestOf] of requests) {
    say(`usage: ${name}`);
    let units = noUnits();
    takeTimes();
    for (let time = 0; time < TIMES; time += 1) {
      const request = await requestOf();
      meter.take();
      await door.send(name, request);
      units = meter.take().get(name) ?? noUnits();
    }
    endpoints.set(name, { ...units, ms: quantile(takeTimes().get(routeOf(name)) ?? [], 0.5) });
  }
  return endpoints;
};

/** Tokens in paths are asked for each time. */
const measureAuthorizer = async ({ door, meter, demo }: Bench): Promise<Use> => {
  takeTimes();
  let units = noUnits();
  for (let time = 0; time < TIMES; time += 1) {
    meter.take();
    await door.send('receiveTurnMessage', ofTurn(demo));
    units = meter.take().get('authorizer') ?? noUnits();
  }
  return { ...units, ms: quantile(takeTimes().get('authorizer') ?? [], 0.5) };
};

/** Sends messages one after the other, each when the one before has gone its whole way. */
const measureMessage = async ({ door, meter, phoneUrl }: Bench): Promise<Way> => {
  say('usage: the whole way of a message');
  await untilQuiet();
  takeTimes();
  meter.take();
  for (let time = 0; time < TIMES; time += 1) {
    const before = await countedToday();
    const to = newPhone();
    const { id } = (await door.send('sendMessage', { body: textTo(to) })) as { id: string };
    while (!(await isShownOn(phoneUrl, to))) await pause(5);
    for (const state of ['delivered_to_user', 'read']) await door.report('message.state', { id, state });
    while ((await countedToday()) < before + ENTRIES) await pause(20);
  }
  const units = meter.take();
  const times = takeTimes();
  return new Map(
    ['sendMessage', 'relay', 'deliver', 'receiveAppEvents', 'count'].map((name) => {
      const { calls, reads, writes, indexes } = units.get(name) ?? noUnits();
      const invocations = times.get(name in api ? routeOf(name as EndpointName) : name) ?? [];
      const ofOne = {
        calls: calls / TIMES,
        reads: reads / TIMES,
        writes: writes / TIMES,
        indexes: indexes / TIMES,
        invocations: invocations.length / TIMES,
      };
      return [name, { ...ofOne, ms: quantile(invocations, 0.5) }];
    }),
  );
};

const routeOf = (name: EndpointName): string => `${api[name].routes[0].method} ${api[name].routes[0].path}`;

const countedToday = async (): Promise<number> => {
  const day = new Date().toISOString().slice(0, 10);
  return (await listJobs(ACCOUNT, day, day)).reduce((total, { count }) => total + count, 0);
};

/** Until nothing is counted any more of what came before. */
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
