/**
 * What the most expensive bodies of 6 MB take, by endpoint, place and kind: the whole handler, against a plain `JSON.parse`
 * of the same body (of a form, as a JSON text), in one process and in turns. The table answers everything with nothing.
 * `BENCH_ENDPOINTS=sendMessage,uploadFile` measures these alone.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Context } from 'aws-lambda';
import type { Endpoint } from '../../shared/api/endpoint.ts';
import { api, type EndpointName } from '../../shared/api/index.ts';
import type { HttpEvent, HttpResponse } from '../../shared/http/event.ts';
import { BOUNDARY, type HostileBody, hostileBodies, quickReplies } from './hostile-bodies/bodies.ts';
import { type Figure, quantile, report, say } from './report.ts';

/** Turns for each body, and again for the dearest ones of each endpoint, whose median counts. */
const ROUNDS = { all: 1, dearest: 3 };
const DEAREST = 2;

const table = createServer((_, response) => response.end('{}')).listen(0, '127.0.0.1');
await once(table, 'listening');
Object.assign(process.env, {
  BASE_URL: 'https://api.example.com',
  BRIDGE_URL: 'https://bridge.example.com',
  TABLE_NAME: 'bench',
  BUCKET_NAME: 'bench',
  JID_DOMAIN: 'users.example.com',
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'bench',
  AWS_SECRET_ACCESS_KEY: 'local',
  AWS_ENDPOINT_URL_DYNAMODB: `http://127.0.0.1:${(table.address() as AddressInfo).port}`,
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

/** What API Gateway makes of a request: JSON as text, everything else in base64. */
const eventWith = (name: EndpointName, body: string): HttpEvent => {
  const { body: described, permission }: Endpoint = api[name];
  const type = described?.type ?? 'json';
  const event = {
    routeKey: `POST /${name}`,
    headers: { 'content-type': CONTENT_TYPES[type], 'content-length': String(Buffer.byteLength(body)) },
    pathParameters: { id: '27821234567', phone_number: '27821234567', bot_phone_number: '27820000001' },
    requestContext: {
      requestId: 'bench',
      authorizer: { lambda: { account: 'bench', token: 'bench', permissions: [permission] } },
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

/** Milliseconds of processor time, which others on the machine do not change, and bytes that the heap has grown by. */
const timed = async (act: () => unknown): Promise<{ time: number; heap: number }> => {
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const start = process.cpuUsage();
  await act();
  const { user, system } = process.cpuUsage(start);
  return { time: (user + system) / 1_000, heap: process.memoryUsage().heapUsed - before };
};

/** `JSON.parse`, which may refuse. */
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

/** How many times as long as a plain parse a handler takes for a body. */
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

// One line in the log for each request, which nobody reads here.
const { write } = process.stdout;
process.stdout.write = () => true;

const chosen = process.env.BENCH_ENDPOINTS?.split(',');

const figures: Figure[] = [];
for (const [endpoint, bodies] of Map.groupBy(hostileBodies, (body) => body.endpoint)) {
  if (chosen && !chosen.includes(endpoint)) continue;
  say(`hostile bodies: ${endpoint}, ${bodies.length} kinds`);
  const [first] = bodies;
  // Not counted: what is done once for a process.
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
table.close();
table.closeAllConnections();
report('hostile bodies of 6 MB, against JSON.parse', figures);
