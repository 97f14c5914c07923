/**
 * 2,500 invocations of a function in one process: its memory does not grow. All functions take minutes (`npm run test:memory`),
 * so CI invokes those that stand for the others.
 */
import { fork } from 'node:child_process';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { marshall } from '@aws-sdk/util-dynamodb';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { closeServer, listenOnLoopback } from '../../infra/local/aws/loopback.ts';
import type { FunctionDefinition } from '../../infra/local/aws/template/definitions.ts';
import { readLocalTemplate } from '../../infra/local/local-stack.ts';
import { LOCAL_STACK } from '../../infra/local/runtime/condition.ts';
import type { Endpoint } from '../../shared/api/endpoint.ts';
import { api } from '../../shared/api/index.ts';
import { permissions } from '../../shared/core/permissions.ts';
import type { Measure } from './support/invoke-often.ts';

const INVOKE_OFTEN = fileURLToPath(new URL('./support/invoke-often.ts', import.meta.url));

/**
 * Invocations after which memory is measured: three spans, of whose growths the one in the middle counts. At times, V8 takes
 * another 64 KB for one of its lists, or gives them back: that changes one span only.
 */
const INVOCATIONS = [1_000, 1_500, 2_000, 2_500];
/**
 * Bytes by which memory may grow per invocation: less than an object with two members. The measure itself takes up to 700
 * bytes. `sweep` has fewer invocations, so it may grow by ten times as many.
 */
const BYTES_EACH = 8;
/**
 * V8 compiles some code after thousands of invocations only, which adds 40 bytes per invocation, and would hide a leak. So it
 * compiles none.
 */
const INTERPRETED = ['--no-opt', '--no-maglev', '--no-sparkplug'];

/** An invocation of `sweep` reads all shards of due work: a tenth of the invocations makes as many calls as elsewhere. */
const shareOf = (name: string): number => (name === 'sweep' ? 0.1 : 1);

/** A server that responds to calls to AWS like an empty table, queue and bucket, and a secret that is set. */
const empty = createServer((request, response) => {
  request.resume();
  const isSecret = request.headers['x-amz-target'] === 'secretsmanager.GetSecretValue';
  const body = isSecret ? '{"SecretString":"secret"}' : '{}';
  response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0', 'content-length': body.length }).end(body);
});
let emptyUrl = '';

beforeAll(async () => {
  emptyUrl = await listenOnLoopback(empty, 0);
});

afterAll(() => closeServer(empty));

const UUID = '01890000-0000-7000-8000-000000000000';

/** A request that passes the middlewares, and that the endpoint rejects or finds no data for. */
const requestOf = ({ routes: [{ method, path }], body }: Endpoint): object => ({
  routeKey: `${method} ${path}`,
  rawPath: path,
  headers: {
    ...(body?.type === 'json' && { 'content-type': 'application/json' }),
    ...(body?.type === 'form' && { 'content-type': 'application/x-www-form-urlencoded' }),
    ...(body?.type === 'multipart' && { 'content-type': 'multipart/form-data; boundary=x' }),
  },
  pathParameters: {
    id: 'x',
    job_id: 'x',
    delivery_id: 'x',
    phone_number: '27821234567',
    bot_phone_number: '27821234567',
    encoded_token: 'x',
  },
  queryStringParameters: { limit: '0', start_date: 'x' },
  ...(body?.type === 'json' && { body: Buffer.from('{"text":"x"}').toString('base64') }),
  ...(body?.type === 'form' && { body: Buffer.from('text=x').toString('base64') }),
  ...(body?.type === 'multipart' && { body: Buffer.from('--x--\r\n').toString('base64') }),
  isBase64Encoded: true,
  requestContext: {
    requestId: 'request',
    timeEpoch: 1_900_000_000_000,
    http: { method, path },
    authorizer: { lambda: { account: 'acme', token: 'token', label: 'test', permissions: [...permissions] } },
  },
});

/** A user, as wake-ups and keys name one. */
const USER = 'x'.repeat(22);

const outbox = { pk: `OUTBOX#app#acme#${USER}`, sk: `ENTRY#${UUID}` };
const logged = { pk: `MESSAGE#${UUID}`, sk: 'MESSAGE', account: 'acme', job_id: UUID, payload_type: 'text' };

/** The events of functions that are not endpoints. */
const events: Record<string, object> = {
  authorizer: {
    routeKey: 'POST /v1/message',
    identitySource: ['Bearer token'],
    requestContext: { requestId: 'request' },
  },
  count: {
    Records: [
      { dynamodb: { NewImage: marshall({ ...logged, state: 'sent', created: '2030-01-01T00:00:00.000000' }) } },
    ],
  },
  deliver: {
    Records: [{ body: `{"direction":"app","account":"acme","user":"${USER}"}`, receiptHandle: 'handle' }],
  },
  erase: { step: 'erasures' },
  expand: { Records: [{ body: '{"account":"acme","at":0}', receiptHandle: 'handle' }] },
  relay: { Records: [{ dynamodb: { Keys: marshall(outbox) } }] },
  sweep: { step: 'conversations' },
};

/** Of each kind of work one function: endpoints differ only in what they do after the same middlewares. */
const REPRESENTATIVES = [
  'authorizer',
  'sendMessage',
  'uploadFile',
  'receiveAppEvents',
  'receiveRapidproMessage',
  'fetchUserData',
  'listLogs',
  'deliver',
  'relay',
  'count',
  'expand',
  'sweep',
  'erase',
];

const isChosen = (name: string): boolean => process.env.MEMORY_OF === 'all' || REPRESENTATIVES.includes(name);

const nameOf = ({ id }: FunctionDefinition): string => {
  const [name = ''] = id.split('Function');
  return name.charAt(0).toLowerCase() + name.slice(1);
};

const eventOf = (name: string): object => {
  const endpoints: Record<string, Endpoint> = api;
  const endpoint = endpoints[name];
  const event = endpoint === undefined ? events[name] : requestOf(endpoint);
  if (event === undefined) throw new Error(`There is no event for ${name}.`);
  return event;
};

/** Invokes a handler in a separate process. Returns its measures. */
const invokeOften = async (args: [module: string, exported: string, event: object], environment: object, share = 1) => {
  const [module, exported, event] = args;
  const counts = INVOCATIONS.map((count) => String(count * share));
  const child = fork(INVOKE_OFTEN, [module, exported, JSON.stringify(event), ...counts], {
    // Flushing of unused code would hide growth.
    execArgv: ['--expose-gc', '--no-flush-bytecode', ...INTERPRETED, `--conditions=${LOCAL_STACK}`],
    env: {
      ...environment,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
    },
  });
  return new Promise<Measure[]>((resolve, reject) => {
    child.once('message', (measures: Measure[]) => resolve(measures));
    child.once('exit', (code) => reject(new Error(`${module} ended with ${code}.`)));
  });
};

const endpointsOfAws = () =>
  Object.fromEntries(
    ['DYNAMODB', 'SQS', 'SECRETS_MANAGER', 'S3'].map((service) => [`AWS_ENDPOINT_URL_${service}`, emptyUrl]),
  );

const checkGrowth = (measures: Measure[], name: string): void => {
  const spans = measures.slice(1).map((end, place) => {
    const begin = measures[place] ?? end;
    return (end.bytes - begin.bytes) / (end.invocations - begin.invocations);
  });
  const [, middle] = spans.toSorted((one, other) => one - other);
  expect(middle, `${name}: bytes an invocation, of the spans ${spans}`).toBeLessThan(BYTES_EACH / shareOf(name));
  const [warm, ...later] = measures.map(({ resources }) => resources);
  // One of them may have a timer that is about to end.
  expect(Math.min(...later.slice(-2)), `${name}: timers and sockets`).toBeLessThanOrEqual(Number(warm));
};

test('no function uses more memory after 2,500 invocations than after 1,000', async () => {
  const { assembly } = inject('stack');
  const settings = { tableName: 'table', baseUrl: emptyUrl, bridgeUrl: emptyUrl, awsUrl: emptyUrl };
  const { functions } = await readLocalTemplate(assembly, settings);
  const left = functions.filter((definition) => isChosen(nameOf(definition)));
  expect(left.map(nameOf)).toEqual(expect.arrayContaining(REPRESENTATIVES));
  const work = async (): Promise<void> => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      const { folder, handler, environment } = next;
      const [file = '', exported = ''] = handler.split('.');
      const name = nameOf(next);
      const measures = await invokeOften(
        [join(folder, `${file}.mjs`), exported, eventOf(name)],
        { ...environment, ...endpointsOfAws() },
        shareOf(name),
      );
      checkGrowth(measures, name);
    }
  };
  await Promise.all([work(), work()]);
}, 1_800_000);

test('2,500 requests to a destination use no more memory, timers or sockets than 1,000', async () => {
  const post = fileURLToPath(new URL('../../shared/destinations/http/http-client.ts', import.meta.url));
  const event = { url: `${emptyUrl}/hook`, headers: { 'content-length': '2' }, body: '{}' };
  checkGrowth(await invokeOften([post, 'post', event], { ALLOW_LOOPBACK: 'true' }), 'post');
});
