/**
 * How long the clock of the local stack takes to move ahead: 30 days of media, 90 days of logs, and an outage of three
 * days with 1,000 pending messages. Afterwards, all of them have failed permanently.
 */
import '../../infra/local/runtime/use-local-runtime.ts';
import { setTimeout as pause } from 'node:timers/promises';
import { Clock } from '../../infra/local/aws/time/clock.ts';
import { inParallel } from '../../shared/core/parallel.ts';
import { tableName } from '../../shared/core/settings.ts';
import { type Figure, report, say } from './report.ts';

// The simulators must follow the clock, so these modules are loaded after the local runtime.
const { advanceTo, movingOf } = await import('../../infra/local/clock/advance.ts');
const { newPhone } = await import('./front-door.ts');
const { openWhole } = await import('./whole.ts');

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Seconds. */
const GOAL = { atMost: 5 };
const MESSAGES = 1_000;
const FILES = 100;
/** Requests at the same time, and how often one is repeated on a busy machine. */
const TOGETHER = 4;
const ATTEMPTS = 10;

// How long functions wait for the table is real time, and here other processes may take the processors.
process.env.TABLE_TIMEOUT_MS ??= '20000';
const clock = new Clock();
clock.use();
const { stack, simulators, demo, close } = await openWhole(process.env.DYNAMODB_ENDPOINT || undefined, {}, { clock });
const headers = { authorization: `Bearer ${demo.token}` };
const json = { ...headers, 'content-type': 'application/json' };
const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

/** The response of a URL, or of a path of the API. */
const request = async (path: string, options: RequestInit = { headers }): Promise<Response> => {
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(new URL(path, stack.baseUrl), options);
    if (response.status < 500) return response;
    if (attempt === ATTEMPTS) throw new Error(`${path} returned ${response.status}: ${await response.text()}`);
    await pause(1_000);
  }
};

const moving = movingOf(stack, { clock, table: tableName(), minute: MINUTE });

let calls = 0;
simulators.app.watchCalls(() => {
  calls += 1;
});

/** Moves the clock ahead. Returns the seconds that it took. */
const advance = async (what: string, milliseconds: number): Promise<number> => {
  calls = 0;
  const start = performance.now();
  const stops = await advanceTo(clock.now() + milliseconds, moving);
  const seconds = (performance.now() - start) / 1_000;
  say(`${what}: ${seconds.toFixed(1)} s, work at ${stops} times, ${calls} calls of the app network`);
  return seconds;
};

const expectAll = (what: string, found: unknown[], wanted: unknown): void => {
  const others = found.filter((one) => one !== wanted);
  if (others.length > 0)
    throw new Error(`${others.length} of ${found.length} ${what} are ${others[0]}, not ${wanted}.`);
};

/** Sends this many messages, to so many users in turn. Returns their ids. */
const send = async (count: number, users: number): Promise<string[]> => {
  const phones = Array.from({ length: users }, newPhone);
  const ids: string[] = [];
  await inParallel(range(count), TOGETHER, async (index) => {
    const body = JSON.stringify({ to: phones[index % users], type: 'text', text: { body: `${index}` } });
    const response = await request('/v1/message', { method: 'POST', headers: json, body });
    ids.push(((await response.json()) as { id: string }).id);
  });
  return ids;
};

const statesOf = async (ids: string[]): Promise<(string | undefined)[]> => {
  const states: (string | undefined)[] = [];
  await inParallel(ids, TOGETHER, async (id) => {
    const message = (await (await request(`/v1/message/${id}`)).json()) as { states: { state: string }[] };
    states.push(message.states.at(-1)?.state);
  });
  return states;
};

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

const media = async (): Promise<Figure[]> => {
  const urls: string[] = [];
  await inParallel(range(FILES), TOGETHER, async () => {
    const body = new FormData();
    body.append('file', new File([PNG], 'a.png'));
    const response = await request('/v1/upload_image', { method: 'POST', headers, body });
    urls.push(((await response.json()) as { url: string }).url);
  });
  const statuses = async () => {
    const found: number[] = [];
    await inParallel(urls, TOGETHER, async (url) => void found.push((await request(url, {})).status));
    return found;
  };
  expectAll('files', await statuses(), 200);
  const seconds = await advance('media', 30 * DAY + MINUTE);
  expectAll('files', await statuses(), 410);
  return [{ what: `30 days, ${FILES} files expire`, value: seconds, unit: 's', goal: GOAL }];
};

const logs = async (): Promise<Figure[]> => {
  await send(MESSAGES, MESSAGES);
  await advance('deliveries', MINUTE);
  const statusOf = async () => (await request('/v1/stats/logs')).status;
  expectAll('lists of log entries', [await statusOf()], 200);
  const seconds = await advance('logs', 90 * DAY + MINUTE);
  expectAll('lists of log entries', [await statusOf()], 204);
  return [{ what: `90 days, the logs of ${MESSAGES} messages expire`, value: seconds, unit: 's', goal: GOAL }];
};

const outage = async (): Promise<Figure[]> => {
  simulators.app.faultRules.set({ status: 503 });
  const ids = await send(MESSAGES, 1);
  const retries = await advance('outage', 71 * HOUR);
  expectAll('messages', await statesOf(ids.slice(-10)), 'sent');
  const end = await advance('end of the outage', 13 * HOUR);
  expectAll('messages', await statesOf(ids), 'sending_failed');
  return [
    {
      what: `three days of outage, ${MESSAGES} messages to a user wait and fail`,
      value: retries + end,
      unit: 's',
      goal: GOAL,
    },
    { what: '… of this, the retries of the first 71 hours', value: retries, unit: 's' },
    { what: '… of this, a last attempt and its result, for each message', value: (end * 1_000) / MESSAGES, unit: 'ms' },
  ];
};

try {
  report('clock', [...(await media()), ...(await logs()), ...(await outage())]);
} finally {
  await close();
}
