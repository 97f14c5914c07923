/**
 * The processing time of the most expensive bodies of 6 MB, by endpoint, place and kind. The handler is compared with
 * `JSON.parse` of the same body, alternating in one process. A form is parsed as a JSON string. The table returns empty
 * responses. `BENCH_ENDPOINTS=sendMessage,uploadFile` selects endpoints.
 */
import { createServer } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Context } from 'aws-lambda';
import { closeServer, listenOnLoopback } from '../../infra/local/aws/loopback.ts';
import type { Endpoint } from '../../shared/api/endpoint.ts';
import { api, type EndpointName } from '../../shared/api/index.ts';
import type { HttpEvent, HttpResponse } from '../../shared/http/event.ts';
import { BOUNDARY, type HostileBody, hostileBodies, quickReplies } from './hostile-bodies/bodies.ts';
import { type Figure, quantile, report, say } from './report.ts';

/** Rounds for each body, and for the most expensive ones of each endpoint. The figures are medians of the latter. */
const ROUNDS = { all: 1, dearest: 3 };
const DEAREST = 2;

const table = createServer((_, response) => response.end('{}'));
Object.assign(process.env, {
  BASE_URL: 'https://api.example.com',
  BRIDGE_URL: 'https://bridge.example.com',
  TABLE_NAME: 'bench',
  JID_DOMAIN: 'users.example.com',
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'bench',
  AWS_SECRET_ACCESS_KEY: 'local',
  AWS_ENDPOINT_URL_DYNAMODB: await listenOnLoopback(table, 0),
});

type Handler = (event: HttpEvent, context: Context) => Promise<HttpResponse>;

const handlerOf = async (name: EndpointName): Promise<Handler> => {
  const file = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return (await import(`../../functions/${api[name].area}/${file}.ts`)).handler;
};

const CONTENT_TYPES = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
  multipart: `multipart/form-data; boundary=${BOUNDARY}`,
};

/** An API Gateway event: JSON as text, other types in base64. */
const eventWith = (name: EndpointName, body: string): HttpEvent => {
  const { body: described, permission, routes }: Endpoint = api[name];
  const [{ method, path }] = routes;
  const type = described?.type ?? 'json';
  const event = {
    routeKey: `${method} ${path}`,
    rawPath: path,
    headers: { 'content-type': CONTENT_TYPES[type], 'content-length': String(Buffer.byteLength(body)) },
    pathParameters: { id: '27821234567', phone_number: '27821234567', bot_phone_number: '27820000001' },
    requestContext: {
      requestId: 'bench',
      http: { method, path },
      authorizer: { lambda: { account: 'bench', token: 'bench', label: 'bench', permissions: [permission] } },
    },
    ...(type === 'json'
      ? { body, isBase64Encoded: false }
      : { body: Buffer.from(body).toString('base64'), isBase64Encoded: true }),
  };
  return JSON.parse(JSON.stringify(event));
};

const context = { getRemainingTimeInMillis: () => 60_000 } as Context;

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** Processor time in milliseconds, which does not depend on other load, and growth of the heap in bytes. */
const timed = async (act: () => unknown): Promise<{ time: number; heap: number }> => {
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const start = process.cpuUsage();
  await act();
  const { user, system } = process.cpuUsage(start);
  return { time: (user + system) / 1_000, heap: process.memoryUsage().heapUsed - before };
};

/** Runs `JSON.parse` and ignores syntax errors. */
const plainParse = (text: string): void => {
  try {
    JSON.parse(text);
  } catch {}
};

interface Found {
  kind: string;
  ratio: number;
  time: number;
  status: number;
}

/** Compares the time of a handler with the time of a plain parse. Returns the run with the median ratio. */
const compare = async ({ endpoint, kind, make }: HostileBody, rounds: number): Promise<Found> => {
  const handler = await handlerOf(endpoint);
  const body = make();
  const parsed = api[endpoint as 'sendMessage'].body.type === 'json' ? body : JSON.stringify(body);
  const runs: Found[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const plain = await timed(() => plainParse(parsed));
    const event = eventWith(endpoint, body);
    let status = 0;
    const { time } = await timed(async () => {
      status = (await handler(event, context)).statusCode ?? 0;
    });
    runs.push({ kind, ratio: time / plain.time, time, status });
  }
  const middle = quantile(
    runs.map(({ ratio }) => ratio),
    0.5,
  );
  return runs.find(({ ratio }) => ratio === middle) ?? { kind, ratio: Number.NaN, time: 0, status: 0 };
};

// The log lines of the requests are discarded.
const { write } = process.stdout;
process.stdout.write = () => true;

const chosen = process.env.BENCH_ENDPOINTS?.split(',');

const figures: Figure[] = [];
for (const [endpoint, bodies] of Map.groupBy(hostileBodies, (body) => body.endpoint)) {
  if (chosen && !chosen.includes(endpoint)) continue;
  say(`hostile bodies: ${endpoint}, ${bodies.length} kinds`);
  const [first] = bodies;
  // Warm-up: work that a process does once is not measured.
  if (first) for (let times = 0; times < 3; times += 1) await compare({ ...first, make: () => '{"warm":"up"}' }, 1);
  const found: (Found & { body: HostileBody })[] = [];
  for (const body of bodies) {
    const one = await compare(body, ROUNDS.all);
    if (one.ratio > 4 || one.status >= 500)
      say(`  ${one.kind}: ${one.ratio.toFixed(1)} x, ${one.time.toFixed(0)} ms, ${one.status}`);
    found.push({ ...one, body });
  }
  const dearest = found.toSorted((a, b) => b.ratio - a.ratio).slice(0, DEAREST);
  const again: Found[] = [];
  for (const { body } of dearest) again.push(await compare(body, ROUNDS.dearest));
  const worst = again.toSorted((a, b) => b.ratio - a.ratio)[0];
  if (worst) {
    const what = `${endpoint}: ${worst.kind} (${worst.status}, ${worst.time.toFixed(0)} ms)`;
    figures.push({ what, value: worst.ratio, unit: '×', goal: { atMost: 10 } });
  }
  const failed = found.filter(({ status }) => status >= 500 || status === 0);
  figures.push({
    what: `${endpoint}: kinds that are answered by 5xx`,
    value: failed.length,
    unit: '',
    goal: { atMost: 0 },
  });
}

const handler = await handlerOf('sendMessage');
const event = eventWith('sendMessage', quickReplies(1_000_000));
const { heap } = await timed(() => handler(event, context));
figures.push({ what: 'heap for 1,000,000 quick replies', value: heap / 1e6, unit: 'MB', goal: { atMost: 50 } });

process.stdout.write = write;
await closeServer(table);
report('hostile bodies of 6 MB, against JSON.parse', figures);
