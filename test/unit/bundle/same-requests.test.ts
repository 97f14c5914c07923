/** The clients in bundles send the requests of the SDK's, and return the same. */

import { createHash } from 'node:crypto';
import { Sha256 } from '@smithy/core/checksum';
import { HttpRequest } from '@smithy/core/protocols';
import { clearCredentialCache, SignatureV4 } from '@smithy/signature-v4';
import { build as esbuild } from 'esbuild';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { bundleOptions } from '../../../infra/bundle/bundle.ts';
import { type Client, json, type Modules, own, type Received, sdk, useServer } from './both-clients.ts';

const server = useServer();

/** What differs from call to call, and the descriptions of the SDK that functions do not send. */
const VARYING = ['amz-sdk-invocation-id', 'authorization', 'x-amz-date', 'content-length', 'x-amz-content-sha256'];
const NOT_SENT = ['user-agent', 'x-amz-user-agent', 'x-amzn-query-mode'];

const comparable = ({ method, url, headers, body }: Received) => {
  const kept = Object.entries(headers).filter(([name]) => !VARYING.includes(name) && !NOT_SENT.includes(name));
  const { ClientRequestToken: token, ...input } = JSON.parse(body);
  const signed = /SignedHeaders=([^,]+)/.exec(String(headers.authorization))?.[1]?.split(';') ?? [];
  return {
    method,
    url,
    headers: Object.fromEntries(kept),
    signed: signed.filter((name) => !NOT_SENT.includes(name)),
    input,
    hasToken: token !== undefined,
    // The order of members differs, and so do the hashes.
    isHashed: headers['x-amz-content-sha256'] === createHash('sha256').update(body).digest('hex'),
  };
};

/** The request that these clients send, and what they return. */
const sent = async (modules: Modules, client: 'table' | 'queue' | 'secrets', command: string, input: object) => {
  const Command = modules.commands[command];
  if (Command === undefined) throw new Error(`There is no ${command}.`);
  const { $metadata: _, ...output } = await server.clientsOf(modules)[client].send(new Command(input as never));
  const [request] = server.received;
  if (request === undefined) throw new Error('No request was received.');
  return { request, output };
};

const bytes = new Uint8Array([0, 1, 255]);
const ITEM = { pk: 'a', n: -1.5e-7, big: 2 ** 53 - 1, t: true, f: false, z: null, b: bytes, u: undefined };
const NESTED = {
  ...ITEM,
  m: { l: [1, 'x', { b: Buffer.from('bytes') }, []], e: '' },
  s: new Set(['x']),
  ns: new Set([1]),
};
const STORED = {
  pk: { S: 'a' },
  n: { N: '-1.5e-7' },
  b: { B: 'AAH/' },
  bs: { BS: ['AAH/'] },
  ss: { SS: ['x'] },
  m: { M: { B: { S: 'a member named B' }, l: { L: [{ NULL: true }, { BOOL: false }, { B: 'AQ==' }] } } },
};
const TABLE = 'table';
const KEY = { pk: 'a', sk: 'b' };
const CONDITION = { ConditionExpression: '#a = :a', ExpressionAttributeNames: { '#a': 'Item' } };
const VALUES = { ExpressionAttributeValues: { ':a': 'x', ':b': bytes, ':u': undefined } };

describe.each<[string, object, object]>([
  ['GetCommand', { TableName: TABLE, Key: KEY, ConsistentRead: true }, { Item: STORED }],
  ['GetCommand', { TableName: TABLE, Key: KEY }, {}],
  ['PutCommand', { TableName: TABLE, Item: NESTED, ...CONDITION, ReturnValues: 'ALL_OLD' }, { Attributes: STORED }],
  ['UpdateCommand', { TableName: TABLE, Key: KEY, UpdateExpression: 'SET a = :a', ...VALUES }, { Attributes: STORED }],
  ['DeleteCommand', { TableName: TABLE, Key: KEY, ...CONDITION, ...VALUES }, {}],
  [
    'QueryCommand',
    { TableName: TABLE, KeyConditionExpression: 'pk = :a', ...VALUES, ExclusiveStartKey: KEY, Limit: 5 },
    { Items: [STORED, { pk: { S: 'c' } }], LastEvaluatedKey: { pk: { S: 'c' } }, Count: 2, ScannedCount: 2 },
  ],
  ['QueryCommand', { TableName: TABLE, ExclusiveStartKey: undefined }, { Items: [], Count: 0 }],
  [
    'BatchGetCommand',
    { RequestItems: { Keys: { Keys: [KEY, { pk: 'c', sk: 'd' }], ConsistentRead: true } } },
    { Responses: { Keys: [STORED] }, UnprocessedKeys: { Keys: { Keys: [{ pk: { S: 'c' } }], ConsistentRead: true } } },
  ],
  [
    'BatchWriteCommand',
    { RequestItems: { [TABLE]: [{ PutRequest: { Item: NESTED } }, { DeleteRequest: { Key: KEY } }] } },
    {
      UnprocessedItems: { [TABLE]: [{ PutRequest: { Item: STORED } }, { DeleteRequest: { Key: { pk: { S: 'c' } } } }] },
    },
  ],
  [
    'TransactWriteCommand',
    {
      TransactItems: [
        { Put: { TableName: TABLE, Item: NESTED, ...CONDITION, ...VALUES } },
        { Update: { TableName: TABLE, Key: KEY, UpdateExpression: 'SET a = :a', ...VALUES } },
        { Delete: { TableName: TABLE, Key: KEY } },
        {
          ConditionCheck: { TableName: TABLE, Key: KEY, ...CONDITION, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' },
        },
      ],
    },
    {},
  ],
])('%s of %j', (command, input, response) => {
  test('is the request of the SDK, and returns the same', async () => {
    server.answer(json(response));
    const expected = await sent(sdk, 'table', command, input);
    server.answer(json(response));
    const { request, output } = await sent(own, 'table', command, input);
    expect(comparable(request)).toEqual(comparable(expected.request));
    expect(output).toEqual(expected.output);
    expect(comparable(request).hasToken).toBe(command === 'TransactWriteCommand');
  });
});

const entry = { Id: '0', MessageBody: 'body ö', MessageGroupId: 'group', MessageDeduplicationId: 'once' };

test.each<[string, object, object]>([
  [
    'SendMessageBatchCommand',
    { Entries: [entry] },
    { Successful: [], Failed: [{ Id: '0', Code: 'x', SenderFault: false }] },
  ],
  ['ChangeMessageVisibilityCommand', { ReceiptHandle: 'handle', VisibilityTimeout: 5 }, {}],
  ['DeleteMessageBatchCommand', { Entries: [{ Id: '0', ReceiptHandle: 'handle' }] }, { Successful: [{ Id: '0' }] }],
  [
    'GetQueueAttributesCommand',
    { AttributeNames: ['ApproximateNumberOfMessages'] },
    { Attributes: { ApproximateNumberOfMessages: '3' } },
  ],
])(
  '%s goes to the host of the queue, with the trace of the call, as the SDK sends it',
  async (command, input, response) => {
    vi.stubEnv('AWS_LAMBDA_FUNCTION_NAME', 'deliver');
    vi.stubEnv('_X_AMZN_TRACE_ID', 'Root=1-2;Lineage=3:1');
    // Another endpoint than that of the queue's URL.
    vi.stubEnv('AWS_ENDPOINT_URL', 'http://127.0.0.1:9');
    vi.spyOn(console, 'warn').mockReturnValue(undefined);
    const QueueUrl = `${server.endpoint()}/123456789012/wake-ups.fifo`;
    server.answer(json(response));
    const expected = await sent(sdk, 'queue', command, { QueueUrl, ...input });
    server.answer(json(response));
    const { request, output } = await sent(own, 'queue', command, { QueueUrl, ...input });
    expect(comparable(request)).toEqual(comparable(expected.request));
    expect(request.headers['x-amzn-trace-id']).toBe('Root=1-2;Lineage=3:1');
    expect(output).toEqual(expected.output);
  },
);

test('a call outside of Lambda has no trace', async () => {
  server.answer(json({}));
  await sent(own, 'queue', 'DeleteMessageBatchCommand', { QueueUrl: `${server.endpoint()}/1/queue` });
  expect(server.received[0]?.headers).not.toHaveProperty('x-amzn-trace-id');
});

test('GetSecretValueCommand is the request of the SDK', async () => {
  const response = { SecretString: '{"url":"https://example.com"}', Name: 'secret' };
  server.answer(json(response));
  const expected = await sent(sdk, 'secrets', 'GetSecretValueCommand', { SecretId: 'secret' });
  server.answer(json(response));
  const { request, output } = await sent(own, 'secrets', 'GetSecretValueCommand', { SecretId: 'secret' });
  expect(comparable(request)).toEqual(comparable(expected.request));
  expect(output).toEqual(expected.output);
});

test('any item is stored as the SDK stores it, and read as it was', async () => {
  // `marshall` of the SDK loses a member named `__proto__`. Names in items are the service's: no input can be one.
  const names = fc.string().filter((name) => name !== '__proto__');
  const value = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.string(),
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 }),
      fc.boolean(),
      fc.constant(null),
      fc.constant(undefined),
      fc.uint8Array({ maxLength: 5 }),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(names, tie('value'), { maxKeys: 3 }),
    ),
  })).value;
  await fc.assert(
    fc.asyncProperty(fc.dictionary(names, value, { maxKeys: 5 }), async (Item) => {
      server.answer(json({}));
      const expected = await sent(sdk, 'table', 'PutCommand', { TableName: TABLE, Item });
      server.answer(json({}));
      const { request } = await sent(own, 'table', 'PutCommand', { TableName: TABLE, Item });
      expect(request.body).toBe(expected.request.body);
      const { Item: stored } = JSON.parse(request.body);
      server.answer(json({ Item: stored }));
      const read = await sent(sdk, 'table', 'GetCommand', { TableName: TABLE, Key: KEY });
      server.answer(json({ Item: stored }));
      expect((await sent(own, 'table', 'GetCommand', { TableName: TABLE, Key: KEY })).output).toEqual(read.output);
    }),
    { numRuns: 60 },
  );
});

test.each(['key', 'renewed'])('the signature is that of the request that was sent, by the key "%s"', async (key) => {
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', key);
  // All clients of a process share the keys that are derived from it.
  clearCredentialCache();
  server.answer(json({}));
  const { request } = await sent(own, 'table', 'PutCommand', { TableName: TABLE, Item: { pk: 'ö' } });
  const { authorization = '', 'x-amz-date': date = '', host = '' } = request.headers;
  const signer = new SignatureV4({
    service: 'dynamodb',
    region: 'eu-west-1',
    credentials: { accessKeyId: 'id', secretAccessKey: key, sessionToken: 'token' },
    sha256: Sha256,
  });
  const names = /SignedHeaders=([^,]+)/.exec(authorization)?.[1]?.split(';') ?? [];
  const headers = Object.fromEntries(names.map((name) => [name, String(request.headers[name])]));
  const again = new HttpRequest({ method: 'POST', hostname: host, path: '/', headers, body: request.body });
  const signingDate = new Date(String(date).replace(/(....)(..)(..)T(..)(..)(..)Z/, '$1-$2-$3T$4:$5:$6Z'));
  clearCredentialCache();
  expect((await signer.sign(again, { signingDate })).headers.authorization).toBe(authorization);
});

test('a command that has no class of its own fails the build', async () => {
  const { absWorkingDir: resolveDir, ...options } = bundleOptions();
  const build = (command: string) => {
    const contents = `import { ${command} } from '@aws-sdk/lib-dynamodb'; console.log(new ${command}({}));`;
    return esbuild({ ...options, logLevel: 'silent', stdin: { contents, resolveDir }, outdir: 'out', write: false });
  };
  await expect(build('GetCommand')).resolves.toMatchObject({ errors: [] });
  await expect(build('ScanCommand')).rejects.toThrow('No matching export');
});

test.each(['/base', '/base/'])('an endpoint may have a path like %s', async (path) => {
  vi.stubEnv('AWS_ENDPOINT_URL', `${server.endpoint()}${path}`);
  for (const modules of [sdk, own]) {
    server.answer(json({}));
    const { request } = await sent(modules, 'table', 'GetCommand', { TableName: TABLE, Key: KEY });
    expect(request.url, modules.name).toBe('/base/');
  }
});

test('each transaction has a token of its own', async () => {
  server.answer(json({}));
  const { table } = server.clientsOf(own);
  const Command = own.commands.TransactWriteCommand as new (input: object) => object;
  const command = new Command({ TransactItems: [] });
  await table.send(command);
  await table.send(command);
  const tokens = server.received.map(({ body }) => JSON.parse(body).ClientRequestToken);
  expect(new Set(tokens).size).toBe(2);
});

test('a batch whose bodies SQS received otherwise fails, as with the SDK', async () => {
  const Entries = ['one', 'two'].map((MessageBody) => ({ Id: MessageBody, MessageBody }));
  const input = { QueueUrl: `${server.endpoint()}/1/queue`, Entries };
  const answerWith = (second: string) =>
    server.answer(
      json({
        Successful: ['one', second].map((body, index) => ({
          Id: Entries[index]?.Id,
          MessageId: `message ${index}`,
          MD5OfMessageBody: createHash('md5').update(body).digest('hex'),
        })),
        Failed: [],
      }),
    );
  for (const modules of [sdk, own]) {
    answerWith('two');
    await sent(modules, 'queue', 'SendMessageBatchCommand', input);
    answerWith('other');
    await expect(sent(modules, 'queue', 'SendMessageBatchCommand', input), modules.name).rejects.toThrow('message 1');
  }
});

test('requests name the service, for the logs of AWS', async () => {
  server.answer(json({}));
  const { request } = await sent(own, 'table', 'GetCommand', { TableName: TABLE, Key: KEY });
  expect(request.headers['user-agent']).toBe('business-api');
});

describe('without an endpoint in the environment', () => {
  const placeOf = async (client: Client, command: object): Promise<string> => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const { NodeHttpHandler } = await import('@smithy/node-http-handler');
    vi.spyOn(NodeHttpHandler.prototype, 'handle').mockImplementation(async ({ protocol, hostname, headers }) => {
      resolve(
        [
          protocol,
          hostname,
          headers.host,
          /Credential=id\/[0-9]+\/([^,]+)/.exec(String(headers.authorization))?.[1],
        ].join(' '),
      );
      throw new Error('not sent');
    });
    await client.send(command).catch(() => undefined);
    return promise;
  };

  test.each([
    ['us-east-1', 'amazonaws.com'],
    ['eu-west-1', 'amazonaws.com'],
    ['us-gov-west-1', 'amazonaws.com'],
    ['cn-north-1', 'amazonaws.com.cn'],
    ['eusc-de-east-1', 'amazonaws.eu'],
  ])('in %s, the SDK and the client call the same host of %s', async (region, suffix) => {
    vi.stubEnv('AWS_ENDPOINT_URL', '');
    vi.stubEnv('AWS_REGION', region);
    for (const [client, command] of [
      ['table', 'GetCommand'],
      ['secrets', 'GetSecretValueCommand'],
    ] as const) {
      const places: string[] = [];
      for (const modules of [sdk, own]) {
        const Command = modules.commands[command] as new (input: object) => object;
        const input = client === 'table' ? { TableName: TABLE, Key: KEY } : { SecretId: 'secret' };
        places.push(await placeOf(server.clientsOf(modules)[client], new Command(input)));
      }
      expect(places[1]).toBe(places[0]);
      expect(places[1]).toContain(`.${region}.${suffix} `);
    }
  });

  test.each(['us-east-1', 'us-west-2', 'us-gov-west-1'])(
    'in %s, the SDK and the client call the same hosts that FIPS 140 validates',
    async (region) => {
      vi.stubEnv('AWS_ENDPOINT_URL', '');
      vi.stubEnv('AWS_REGION', region);
      vi.stubEnv('AWS_USE_FIPS_ENDPOINT', 'true');
      const places = async (modules: Modules, commands: typeof OWN_CALLS) => {
        const all: string[] = [];
        for (const [client, command, input] of commands) {
          const Command = modules.commands[command] as new (given: object) => object;
          all.push(await placeOf(server.clientsOf(modules)[client], new Command(input)));
        }
        return all;
      };
      // The SDK calls the host in a queue's URL, also if FIPS is set: a command without one shows the host that FIPS has.
      const sdkCalls = OWN_CALLS.map((call): (typeof OWN_CALLS)[number] =>
        call[0] === 'queue' ? ['queue', 'ListQueuesCommand', {}] : call,
      );
      expect(await places(own, OWN_CALLS)).toEqual(await places(sdk, sdkCalls));
    },
  );

  test('a setting for hosts with IPv6 is an error, because the client would ignore it', async () => {
    vi.stubEnv('AWS_ENDPOINT_URL', '');
    vi.stubEnv('AWS_USE_DUALSTACK_ENDPOINT', 'true');
    const Command = own.commands.GetCommand as new (given: object) => object;
    const call = server.clientsOf(own).table.send(new Command({ TableName: TABLE, Key: KEY }));
    await expect(call).rejects.toThrow('AWS_USE_DUALSTACK_ENDPOINT has no effect');
  });
});

const OWN_CALLS: ['table' | 'queue' | 'secrets', string, object][] = [
  ['table', 'GetCommand', { TableName: 'table', Key: { pk: 'a' } }],
  ['queue', 'GetQueueAttributesCommand', { QueueUrl: 'https://sqs.us-east-1.amazonaws.com/1/queue' }],
  ['secrets', 'GetSecretValueCommand', { SecretId: 'secret' }],
];
