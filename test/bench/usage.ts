/**
 * What requests and messages use: capacity units and milliseconds of each function, as they come through the front door of
 * the local stack, in the case that is usual: items under 1 KB, one of each.
 */
import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { openDatabase } from '../../infra/local/database.ts';
import { updateAccount } from '../../shared/accounts.ts';
import { api, type Endpoint, type EndpointName } from '../../shared/api.ts';
import { listJobs } from '../../shared/jobs.ts';
import { Meter, noUnits, type Units } from './meter.ts';
import { quantile, say } from './report.ts';
import { startStopwatch, takeTimes } from './stopwatch.ts';
import { openWhole } from './whole.ts';

/** What one call of a function uses. */
export interface Use extends Units {
  /** Milliseconds on this machine, its calls of the embedded database included. */
  ms: number;
}

/** What a message uses on its way, by function; calls of the function beside. */
type Way = Map<string, Use & { invocations: number }>;

export interface Usage {
  endpoints: Map<EndpointName, Use>;
  authorizer: Use;
  /** A message by the API: accepted, relayed, delivered, two states reported, counted. */
  message: Way;
}

interface Sent {
  path?: Record<string, string>;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: unknown;
}

/** How often each request is made: units are those of the last one, milliseconds the median. */
const TIMES = 25;
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
const PROFILE = {
  first_name: { value: 'Ada', source: 'user' },
  device_platform: { value: 'android', source: 'device' },
};

const newPhone = (): string => `4477${randomInt(1e9, 9e9)}`;
const text = (to: string) => ({ to, type: 'text', text: { body: 'Your parcel is on its way.' } });
const routeOf = (name: EndpointName): string => `${api[name].routes[0].method} ${api[name].routes[0].path}`;

/** `sendMessage`, of an access key such as `SendMessageFunction0A1B2C3D`. */
const functionOf = (caller: string): string =>
  caller.replace(/Function[0-9A-F]{8}$/, '').replace(/^[A-Z]/, (letter) => letter.toLowerCase());

export const measureUsage = async (): Promise<Usage> => {
  startStopwatch();
  const database = await openDatabase(undefined);
  const meter = new Meter(database.endpoint);
  const { stack, outside, demo, close } = await openWhole(await meter.listen());
  try {
    // Its own messages are then like any business's: nothing is told to a platform.
    await updateAccount('demo', { platform: null });
    return await measureAll();
  } finally {
    await close();
    await meter.close();
    await database.close();
  }

  async function send(name: EndpointName, { path = {}, query, headers, body }: Sent): Promise<unknown> {
    const { routes, permission, body: taken }: Endpoint = api[name];
    const [{ host, method, path: template }] = routes;
    const filled = template.replaceAll(/\{(\w+)\}/g, (_, parameter: string) => path[parameter] ?? '');
    const url = new URL(`${host === 'base' ? stack.baseUrl : stack.bridgeUrl}${filled}`);
    url.search = new URLSearchParams(query).toString();
    const response = await fetch(url, {
      method,
      headers: {
        ...(permission !== 'none' && { authorization: `Bearer ${permission === 'app' ? demo.app_token : demo.token}` }),
        ...(taken?.type === 'json' && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && {
        body: body instanceof FormData || body instanceof URLSearchParams ? body : JSON.stringify(body),
      }),
    });
    if (!response.ok) throw new Error(`${name} was answered ${response.status}: ${await response.text()}`);
    const bytes = await response.bytes();
    return response.headers.get('content-type')?.includes('json') ? JSON.parse(Buffer.from(bytes).toString()) : bytes;
  }

  function unitsOf(name: string): Units {
    const found = [...meter.take()].filter(([caller]) => functionOf(caller) === name);
    return found[0]?.[1] ?? noUnits();
  }

  async function newUser(): Promise<string> {
    const phone_number = newPhone();
    const data = { phone_number, panelist: true, properties: PROFILE };
    await send('takeAppEvents', { body: { id: randomUUID(), type: 'user.updated', data } });
    return phone_number;
  }

  async function newProfiler(): Promise<{ id: string; option: string }> {
    const body = { question: 'Well?', options: ['yes', 'no'] };
    const made = (await send('createProfiler', { body })) as { profiler_id: string; options: Record<string, string> };
    return { id: made.profiler_id, option: made.options.yes ?? '' };
  }

  function upload(): Sent {
    const body = new FormData();
    body.append('file', new File([Buffer.from(PNG, 'base64')], 'a.png'));
    return { body };
  }

  async function measureAll(): Promise<Usage> {
    const profiler = await newProfiler();
    const user = await newUser();
    const asking = { reason: 'To greet', data: [{ property: 'first_name' }] };
    const day = new Date().toISOString().slice(0, 10);
    const { url } = (await send('uploadImage', upload())) as { url: string };
    const started = { path: { phone_number: user }, body: asking };
    const { requestId } = (await send('startUserDataRequest', started)) as { requestId: string };
    for (let count = 0; count < 10; count += 1) await send('sendMessage', { body: text(newPhone()) });

    const requests: Record<EndpointName, () => Promise<Sent> | Sent> = {
      readApiDescription: () => ({}),
      createProfiler: () => ({ body: { question: 'Well?', options: ['yes', 'no'] } }),
      listProfilers: () => ({}),
      readProfiler: () => ({ path: { id: profiler.id } }),
      deleteProfiler: async () => ({ path: { id: (await newProfiler()).id } }),
      answerProfiler: async () => ({
        body: { profiler_id: profiler.id, option_id: profiler.option, phone_number: await newUser() },
      }),
      sendMessage: () => ({ body: text(newPhone()) }),
      uploadImage: upload,
      uploadFile: upload,
      readMedia: () => ({ path: { id: url.split('/').at(-1) ?? '' } }),
      takeRapidproMessage: () => ({
        body: new URLSearchParams({ id: randomUUID(), text: 'Hello', to_no_plus: newPhone() }),
      }),
      takeTurnMessage: () => ({
        path: { encoded_token: Buffer.from(demo.token).toString('base64url') },
        body: { content: 'Hello', to: `+${newPhone()}`, context: null },
      }),
      takeTestMessage: () => ({
        path: { bot_phone_number: demo.bot_phone_number },
        body: { message: { type: 'text', from: newPhone(), text: { body: 'Hello' } } },
      }),
      takeAppEvents: () => ({
        body: {
          id: randomUUID(),
          type: 'message.received',
          data: { from: newPhone(), to: demo.bot_phone_number, type: 'text', text: { body: 'Hello' } },
        },
      }),
      startUserDataRequest: async () => ({ path: { phone_number: await newUser() }, body: asking }),
      fetchUserData: () => ({ path: { id: requestId } }),
      retrieveUserData: () => ({ path: { id: user }, body: { data: [{ property: 'device_platform' }] } }),
      listLogs: () => ({ query: { limit: '10' } }),
      listJobs: () => ({ query: { start_date: day, end_date: day } }),
    };

    const endpoints = new Map<EndpointName, Use>();
    for (const [name, requestOf] of Object.entries(requests) as [EndpointName, () => Promise<Sent> | Sent][]) {
      say(`usage: ${name}`);
      let units = noUnits();
      takeTimes();
      for (let time = 0; time < TIMES; time += 1) {
        const request = await requestOf();
        meter.take();
        await send(name, request);
        units = unitsOf(name);
      }
      endpoints.set(name, { ...units, ms: quantile(takeTimes().get(routeOf(name)) ?? [], 0.5) });
    }
    return { endpoints, authorizer: await measureAuthorizer(), message: await measureMessage() };
  }

  /** Tokens in paths are asked for each time. */
  async function measureAuthorizer(): Promise<Use> {
    takeTimes();
    let units = noUnits();
    for (let time = 0; time < TIMES; time += 1) {
      meter.take();
      await send('takeTurnMessage', {
        path: { encoded_token: Buffer.from(demo.token).toString('base64url') },
        body: { content: 'Hello', to: `+${newPhone()}`, context: null },
      });
      units = unitsOf('authorizer');
    }
    return { ...units, ms: quantile(takeTimes().get('authorizer') ?? [], 0.5) };
  }

  /** How many entries of the log were counted today. */
  async function counted(): Promise<number> {
    const day = new Date().toISOString().slice(0, 10);
    return (await listJobs('demo', day, day)).reduce((total, { count }) => total + count, 0);
  }

  async function shownOn(phone: string): Promise<boolean> {
    const shown = await fetch(`${outside.app.phoneUrl}/phones/${phone}/messages`);
    return ((await shown.json()) as unknown[]).length > 0;
  }

  /** Until nothing is counted any more that came before. */
  async function untilCounted(entries: number): Promise<void> {
    while ((await counted()) < entries) await pause(20);
  }

  async function quiet(): Promise<void> {
    for (let before = -1, now = await counted(); before !== now; now = await counted()) {
      before = now;
      await pause(1_000);
    }
  }

  /** Sends messages one after the other, each when the one before has gone its whole way. */
  async function measureMessage(): Promise<Way> {
    say('usage: the whole way of a message');
    await quiet();
    takeTimes();
    meter.take();
    for (let time = 0; time < TIMES; time += 1) {
      const before = await counted();
      const to = newPhone();
      const { id } = (await send('sendMessage', { body: text(to) })) as { id: string };
      while (!(await shownOn(to))) await pause(5);
      for (const state of ['delivered_to_user', 'read']) {
        const data = { id, state };
        await send('takeAppEvents', { body: { id: randomUUID(), type: 'message.state', data } });
      }
      await untilCounted(before + 4);
    }
    const units = new Map([...meter.take()].map(([caller, one]) => [functionOf(caller), one]));
    const times = takeTimes();
    const way: Way = new Map();
    for (const name of ['sendMessage', 'relay', 'deliver', 'takeAppEvents', 'count']) {
      const { calls, reads, writes, indexes } = units.get(name) ?? noUnits();
      const route = name === 'sendMessage' || name === 'takeAppEvents' ? routeOf(name) : name;
      const invocations = times.get(route) ?? [];
      way.set(name, {
        calls: calls / TIMES,
        reads: reads / TIMES,
        writes: writes / TIMES,
        indexes: indexes / TIMES,
        ms: quantile(invocations, 0.5),
        invocations: invocations.length / TIMES,
      });
    }
    return way;
  }
};
