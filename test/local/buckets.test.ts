/** Buckets of the local stack, with the rights of roles. */
import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Buckets } from '../../infra/local/aws/buckets.ts';
import { OPERATOR, Roles } from '../../infra/local/aws/iam/roles.ts';

const BUCKET = { id: 'Media', name: 'media', arn: 'arn:aws:s3:::media' };

/** A function whose role allows these actions on objects. */
const functionWith = (id: string, ...actions: string[]) => ({
  id,
  folder: '',
  handler: '',
  timeout: 0,
  memory: 0,
  environment: {},
  asynchronous: { retries: 0, oldest: 0 },
  policy: actions.map((action) => ({
    actions: [`s3:${action}`],
    resources: [`${BUCKET.arn}/*`],
    leadingKeys: undefined,
  })),
});

const lines: string[] = [];
let buckets: Buckets;
let roles: Roles;
let url: string;

beforeAll(async () => {
  roles = new Roles({ onLine: (source, line) => void lines.push(`${source} ${line}`) });
  const functions = [functionWith('Writer', 'PutObject'), functionWith('Reader', 'GetObject'), functionWith('Other')];
  roles.judgeBy({ functions, mappings: [] });
  buckets = await Buckets.open(roles);
  url = await buckets.listen();
  await buckets.serve({ buckets: [BUCKET] });
});

afterAll(() => buckets.close());

interface Changed {
  secretAccessKey?: string;
  signingDate?: Date;
  /** What is sent instead of the signed body. */
  body?: Uint8Array<ArrayBuffer>;
}

const call = async (
  accessKeyId: string,
  method: string,
  key: string,
  body?: Uint8Array<ArrayBuffer>,
  { secretAccessKey = 'local', signingDate = new Date(), ...changed }: Changed = {},
): Promise<Response> => {
  const target = new URL(`${url}/${BUCKET.name}/${key}`);
  const { protocol, hostname, pathname: path, host } = target;
  const signer = new SignatureV4({
    credentials: { accessKeyId, secretAccessKey, sessionToken: 'local' },
    service: 's3',
    region: 'us-east-1',
    sha256: Sha256,
    uriEscapePath: false,
  });
  const { headers } = await signer.sign({ method, protocol, hostname, path, headers: { host }, body }, { signingDate });
  const { host: _, ...sent } = headers;
  return fetch(target, { method, headers: sent, ...(body && { body }), ...changed });
};

const bytes = Uint8Array.from([0, 255, 10, 13, 37]);

test('callers with the right can put, read and delete an object', async () => {
  expect((await call('Writer', 'PUT', 'a', bytes)).status).toBe(200);
  const read = await call('Reader', 'GET', 'a');
  expect([read.status, await read.bytes()]).toEqual([200, bytes]);
  expect((await call('Reader', 'HEAD', 'a')).status).toBe(200);
  expect((await call('Reader', 'GET', 'b')).status).toBe(404);
  expect(roles.unusedRights()).toEqual({});
  expect((await call(OPERATOR, 'DELETE', 'a')).status).toBe(204);
  expect((await call(OPERATOR, 'GET', 'a')).status).toBe(404);
});

test.each([
  ['Writer', 'GET'],
  ['Reader', 'PUT'],
  ['Reader', 'DELETE'],
  ['Other', 'GET'],
  ['Other', 'PUT'],
  ['nobody', 'GET'],
])('%s may not %s: the response is 403, and the log contains the refusal', async (caller, method) => {
  await call(OPERATOR, 'PUT', 'kept', bytes);
  lines.length = 0;
  const body = method === 'PUT' ? Uint8Array.from([1]) : undefined;
  expect((await call(caller, method, 'kept', body)).status).toBe(403);
  expect(lines).toEqual([expect.stringContaining('refused by policy')]);
  expect(await (await call(OPERATOR, 'GET', 'kept')).bytes()).toEqual(bytes);
});

test('a call with a wrong, old or missing signature returns 403', async () => {
  expect((await call('Writer', 'PUT', 'c', bytes, { secretAccessKey: 'other' })).status).toBe(403);
  expect((await fetch(`${url}/${BUCKET.name}/c`, { method: 'PUT', body: bytes })).status).toBe(403);
  const signingDate = new Date(Date.now() - 16 * 60_000);
  expect((await call('Writer', 'PUT', 'c', bytes, { signingDate })).status).toBe(403);
  expect((await call(OPERATOR, 'GET', 'c')).status).toBe(404);
});

test('content that differs from the signed hash returns 400, and is not stored', async () => {
  expect((await call('Writer', 'PUT', 'd', bytes, { body: Uint8Array.from([1]) })).status).toBe(400);
  expect((await call(OPERATOR, 'GET', 'd')).status).toBe(404);
});
