/** The local stack with a small template: API Gateway and Lambda with functions that fail in each way. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { allow, allowOnTable, arn, type SmallFunction, type SmallStack, serve } from './support/small-stack.ts';

/** A function that logs the id of its event and fails. */
const FAILING = "export const handler = async ({ id }) => { console.log('failed', id); throw new Error('secret') }";

const functions: Record<string, SmallFunction> = {
  Echo: { source: 'export const handler = async (event) => ({ statusCode: 200, body: JSON.stringify(event) })' },
  Bare: { source: "export const handler = async () => ({ hello: 'world' })" },
  Binary: {
    source:
      "export const handler = async () => ({ statusCode: 200, isBase64Encoded: true, body: 'AP8=', headers: { 'content-type': 'image/x', n: 1 } })",
  },
  Thrower: { source: "export const handler = async () => { throw new Error('secret') }" },
  Rejecter: {
    source:
      "export const handler = () => new Promise((resolve) => { Promise.reject(new Error('secret')); setTimeout(resolve, 5000) })",
  },
  Exiter: { source: 'export const handler = async () => process.exit(3)' },
  Broken: { source: "throw new Error('cannot load')" },
  Endless: { source: 'export const handler = async () => { for (;;); }', timeout: 1 },
  Unborn: { source: 'export const handler = async () => 1;', environment: { NODE_OPTIONS: '--require /none.cjs' } },
  Hungry: {
    source:
      'export const handler = async () => { const all = []; for (;;) all.push(new Array(1e6).fill(Math.random())) }',
    memory: 128,
  },
  Talkative: { source: "export const handler = async () => ({ statusCode: 200, body: 'x'.repeat(7e6) })" },
  Slow: {
    source:
      "export const handler = async () => { await new Promise((done) => setTimeout(done, 400)); return { statusCode: 200, body: 'done' } }",
  },
  Logger: {
    source:
      "export const handler = async (event, context) => { console.log('out', process.env.GREETING); console.error('err'); return { statusCode: 200, body: [context.getRemainingTimeInMillis(), process.env.AWS_ACCESS_KEY_ID, String(process.env.HOME), process.env.MINUTE, process.env.ALLOW_LOOPBACK].join(' ') } }",
    environment: { GREETING: 'hello', MINUTE: '60000' },
  },
  Guard: {
    source: `export const handler = async (event) => {
  const who = event.identitySource?.[0] ?? event.pathParameters?.token;
  console.log('asked about', who);
  if (who === 'fail') throw new Error('no table');
  return { isAuthorized: who !== 'deny', context: { source: event.identitySource, type: event.type, body: event.body } };
}`,
  },
  Reader: {
    source: `export const handler = async ({ queryStringParameters: { action, pk, as = process.env.AWS_ACCESS_KEY_ID } }) => {
  const answer = await fetch(process.env.AWS_ENDPOINT_URL_DYNAMODB, {
    method: 'POST',
    headers: {
      'x-amz-target': 'DynamoDB_20120810.' + action,
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-date': '20300101T000000Z',
      authorization: 'AWS4-HMAC-SHA256 Credential=' + as + '/20300101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0',
    },
    body: JSON.stringify({ TableName: process.env.TABLE, Key: { pk: { S: pk } } }),
  });
  return { statusCode: 200, body: answer.status + ' ' + (await answer.text()) };
}`,
    environment: { TABLE: { Ref: 'Table' } },
    statements: [allow(['logs:PutLogEvents'], arn('Logs')), allowOnTable('dynamodb:GetItem', 'OPEN#*')],
  },
  Fails: { source: FAILING },
  FailsOnce: { source: FAILING },
  Tick: { source: "export const handler = async (event) => console.log('tick', event.source, event.time)" },
};

const authorizer = (source: string[], ttl: number) => ({
  Type: 'AWS::ApiGatewayV2::Authorizer',
  Properties: {
    AuthorizerUri: {
      'Fn::Join': ['', ['arn:', { Ref: 'AWS::Partition' }, ':functions/', arn('Guard'), '/invocations']],
    },
    AuthorizerCredentialsArn: arn('Caller'),
    IdentitySource: source,
    AuthorizerResultTtlInSeconds: ttl,
  },
});

const routes: [key: string, functionId: string, authorizer?: string][] = [
  ...Object.keys(functions).map((id): [string, string] => [`GET /${id}`, id]),
  ['POST /Echo', 'Echo'],
  ['GET /guarded', 'Echo', 'Bearer'],
  ['GET /guarded/too', 'Echo', 'Bearer'],
  ['GET /path/{token}', 'Echo', 'Path'],
  ['GET /query', 'Echo', 'Query'],
  ['POST /hook/{proxy+}', 'Echo'],
];

const resources = {
  Bearer: authorizer(['$request.header.Authorization'], 60),
  Path: authorizer([], 0),
  Query: authorizer(['$request.querystring.key', '$request.header.Authorization'], 60),
  ...Object.fromEntries(
    routes.flatMap(([RouteKey, id, guard], at) => [
      [
        `I${at}`,
        {
          Type: 'AWS::ApiGatewayV2::Integration',
          Properties: { ApiId: { Ref: 'Base' }, IntegrationUri: arn(id), CredentialsArn: arn('Caller') },
        },
      ],
      [
        `R${at}`,
        {
          Type: 'AWS::ApiGatewayV2::Route',
          Properties: {
            ApiId: { Ref: 'Base' },
            RouteKey,
            Target: { 'Fn::Join': ['', ['integrations/', { Ref: `I${at}` }]] },
            ...(guard && { AuthorizerId: { Ref: guard } }),
          },
        },
      ],
    ]),
  ),
  Minute: {
    Type: 'AWS::Events::Rule',
    Properties: {
      ScheduleExpression: 'rate(1 minute)',
      Targets: ['Tick', 'Fails', 'FailsOnce'].map((id) => ({ Arn: arn(id) })),
    },
  },
  Once: {
    Type: 'AWS::Lambda::EventInvokeConfig',
    Properties: { FunctionName: { Ref: 'FailsOnce' }, Qualifier: '$LATEST', MaximumRetryAttempts: 0 },
  },
  Default: {
    Type: 'AWS::ApiGatewayV2::Route',
    Properties: { ApiId: { Ref: 'Bridge' }, RouteKey: '$default', Target: 'integrations/I0' },
  },
};

let small: SmallStack;
let lines: string[];
const callers = new Set<string>();

beforeAll(async () => {
  small = await serve({ functions, resources }, { minute: 200, onCall: (call) => void callers.add(call.function) });
  lines = small.lines;
});

afterAll(() => small.close());

const get = (path: string, headers: Record<string, string> = {}) => fetch(small.stack.baseUrl + path, { headers });

/** The fields of Echo's event that tests check. */
interface Echoed {
  body: string;
  isBase64Encoded: boolean;
  pathParameters: unknown;
  requestContext: { authorizer: { lambda: { source: unknown } } };
}

const echoed = async (response: Response): Promise<Echoed> => {
  expect(response.status).toBe(200);
  return (await response.json()) as Echoed;
};

describe('a function receives an event of payload format 2.0', () => {
  test('with headers in lower case, repeated headers joined, and separate cookies', async () => {
    const headers = new Headers([
      ['X-One', 'a'],
      ['x-one', 'b'],
      ['Cookie', 'c=1; d=2'],
    ]);
    const event = await echoed(await fetch(`${small.stack.baseUrl}/Echo?q=1&q=2&r=%C3%A9+x&empty`, { headers }));
    expect(event).toMatchObject({
      version: '2.0',
      routeKey: 'GET /Echo',
      rawPath: '/Echo',
      rawQueryString: 'q=1&q=2&r=%C3%A9+x&empty',
      queryStringParameters: { q: '1,2', r: 'é x', empty: '' },
      headers: { 'x-one': 'a, b' },
      cookies: ['c=1', 'd=2'],
      isBase64Encoded: false,
      requestContext: { http: { method: 'GET', path: '/Echo' }, routeKey: 'GET /Echo', stage: '$default' },
    });
    expect(event).not.toHaveProperty('body');
    expect(event).not.toHaveProperty('pathParameters');
  });

  test.each([
    ['application/json', '{"a":"é"}', false],
    ['application/json; charset=utf-8', '{}', false],
    ['text/plain', 'é', false],
    ['application/x-www-form-urlencoded', 'a=1&b=%20', true],
    ['application/octet-stream', '\u0000', true],
  ])('with a body of %s as text or in base64, like API Gateway', async (type, body, isBase64Encoded) => {
    const event = await echoed(
      await fetch(`${small.stack.baseUrl}/Echo`, { method: 'POST', headers: { 'content-type': type }, body }),
    );
    expect(event.isBase64Encoded).toBe(isBase64Encoded);
    expect(isBase64Encoded ? Buffer.from(event.body, 'base64').toString() : event.body).toBe(body);
  });

  test('with the rest of the path for a {proxy+} route', async () => {
    const response = await fetch(`${small.stack.baseUrl}/hook/a/b%2Fc`, { method: 'POST' });
    expect((await echoed(response)).pathParameters).toEqual({ proxy: 'a/b/c' });
  });

  test('with an empty rest for a {proxy+} route only if the option says that it matches', async () => {
    const other = await serve({ functions, resources }, { minute: 60_000, emptyRest: 'matches' });
    onTestFinished(() => other.close());
    const post = ({ stack }: SmallStack) => fetch(`${stack.baseUrl}/hook/`, { method: 'POST' });
    expect((await echoed(await post(other))).pathParameters).toEqual({ proxy: '' });
    expect((await post(small)).status).toBe(404);
  });

  test('for any path and method that no other route takes, if there is a default route', async () => {
    const response = await fetch(`${small.stack.bridgeUrl}/no/such/path`, { method: 'PATCH' });
    const event = await echoed(response);
    expect(event).toMatchObject({ routeKey: '$default', rawPath: '/no/such/path' });
    expect(event).not.toHaveProperty('pathParameters');
  });
});

describe('the response of a function', () => {
  test('without a status is returned as 200 and JSON', async () => {
    const response = await get('/Bare');
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await echoed(response)).toEqual({ hello: 'world' });
  });

  test('can be binary', async () => {
    const response = await get('/Binary');
    expect([...(await response.bytes())]).toEqual([0, 255]);
    expect([response.headers.get('content-type'), response.headers.get('n')]).toEqual(['image/x', '1']);
  });
});

describe('a function that fails', () => {
  const title = 'returns 500 without the cause, and affects no other call: %s';
  const fails = async (id: string): Promise<void> => {
    const response = await get(`/${id}`);
    expect(response.status).toBe(500);
    expect(await response.json()).toEqual({ message: 'Internal Server Error' });
    expect((await get('/Echo')).status).toBe(200);
    expect((await get(`/${id}`)).status).toBe(500);
  };

  test.each(['Thrower', 'Exiter', 'Broken'])(title, fails);
  test.each(['Rejecter', 'Unborn', 'Endless', 'Hungry', 'Talkative'])(title, { tags: 'long' }, fails);
});

test('20 calls of one function run concurrently', { tags: 'long' }, async () => {
  await get('/Slow');
  const responses = await Promise.all(Array.from({ length: 20 }, () => get('/Slow')));
  expect(responses.map(({ status }) => status)).toEqual(Array(20).fill(200));
});

test('a function has only its own environment, and its id as its access key', async () => {
  const [remaining, accessKey, home, minute, loopback] = (await (await get('/Logger')).text()).split(' ');
  expect(Number(remaining)).toBeGreaterThan(4_000);
  expect({ accessKey, home }).toEqual({ accessKey: 'Logger', home: 'undefined' });
  expect({ minute, loopback }).toEqual({ minute: '200', loopback: 'true' });
  await expect.poll(() => lines).toEqual(expect.arrayContaining(['Logger out hello', 'Logger err']));
});

describe('an authorizer', () => {
  const contextOf = async (response: Response) => (await echoed(response)).requestContext.authorizer.lambda;

  /** Waits until the authorizer was called at least this often for an identity. Returns the number of calls. */
  const callsFor = async (identity: string, min: number): Promise<number> => {
    const times = () => lines.filter((line) => line === `Guard asked about ${identity}`).length;
    await expect.poll(times).toBeGreaterThanOrEqual(min);
    return times();
  };

  test('is not called if its identity source is missing or empty, and the response is 401', async () => {
    expect((await get('/guarded')).status).toBe(401);
    expect((await get('/guarded', { authorization: '' })).status).toBe(401);
    expect((await get('/query?key=1')).status).toBe(401);
    expect((await get('/query', { authorization: '1' })).status).toBe(401);
    expect((await get('/query?key=1', { authorization: '1' })).status).toBe(200);
  });

  test('passes on its context, and its result is cached for all routes with the same identity', async () => {
    const expected = { source: ['ann'], type: 'REQUEST' };
    expect(await contextOf(await get('/guarded', { authorization: 'ann' }))).toEqual(expected);
    expect(await contextOf(await get('/guarded/too', { authorization: 'ann' }))).toEqual(expected);
    expect(await contextOf(await get('/guarded', { authorization: 'ben' }))).toEqual({ ...expected, source: ['ben'] });
    await callsFor('ben', 1);
    expect(await callsFor('ann', 1)).toBe(1);
  });

  test('that denies a request causes a 403', async () => {
    expect((await get('/guarded', { authorization: 'deny' })).status).toBe(403);
  });

  test('that fails causes a 500, and is called again', async () => {
    expect((await get('/guarded', { authorization: 'fail' })).status).toBe(500);
    expect((await get('/guarded', { authorization: 'fail' })).status).toBe(500);
    expect(await callsFor('fail', 2)).toBe(2);
  });

  test('without an identity source is called for each request', async () => {
    expect(await contextOf(await get('/path/cay'))).toEqual({ source: null, type: 'REQUEST' });
    expect((await get('/path/cay')).status).toBe(200);
    expect(await callsFor('cay', 2)).toBe(2);
    expect((await get('/path/deny')).status).toBe(403);
  });
});

describe('a call of the table', () => {
  const call = async (action: string, pk: string, identity = {}) =>
    (await get(`/Reader?${new URLSearchParams({ action, pk, ...identity })}`)).text();

  test("succeeds if the function's role allows it", async () => {
    expect(await call('GetItem', 'OPEN#1')).toBe('200 {}');
  });

  test('succeeds for the operator', async () => {
    expect(await call('GetItem', 'CLOSED#1', { as: 'operator' })).toBe('200 {}');
  });

  test.each([
    ['GetItem', 'CLOSED#1'],
    ['DeleteItem', 'OPEN#1'],
    ['Scan', 'OPEN#1'],
  ])('is rejected like in IAM, and logged without the key: %s %s', async (action, pk) => {
    const answer = await call(action, pk);
    expect(answer).toMatch(/^400 .*AccessDeniedException.*Reader is not authorized to perform dynamodb:/);
    const line = lines.find((text) => text.includes('refused by policy') && text.includes(action));
    expect(line).toMatch(/^Reader /);
    expect(line).not.toContain(pk);
  });
});

test.each(['guardedEndpoint', 'awsEndpoint'] as const)(
  "a call without a signature is nobody's: %s",
  async (endpoint) => {
    const headers = {
      'x-amz-target': endpoint === 'awsEndpoint' ? 'secretsmanager.GetSecretValue' : 'DynamoDB_20120810.Scan',
    };
    const answer = await fetch(small.stack[endpoint], { method: 'POST', headers, body: '{}' });
    expect([answer.status, await answer.text()]).toEqual([
      400,
      expect.stringContaining('MissingAuthenticationTokenException'),
    ]);
    expect(callers).not.toContain('');
  },
);

test('a schedule calls its function with an event of EventBridge', async () => {
  await expect
    .poll(() => lines.find((line) => line.startsWith('Tick')))
    .toMatch(/^Tick tick aws\.events \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
});

test('a scheduled event whose function fails is repeated twice, or as often as the template says', async () => {
  const runsOf = (id: string): number[] => {
    const events = lines.filter((line) => line.startsWith(`${id} failed`));
    return [...Map.groupBy(events, (line) => line).values()].map(({ length }) => length);
  };
  await expect.poll(() => runsOf('Fails').filter((count) => count === 3).length).toBeGreaterThan(1);
  expect(Math.max(...runsOf('Fails'))).toBe(3);
  expect(Math.max(...runsOf('FailsOnce'))).toBe(1);
});

test('the access log is written in the format of the stage', async () => {
  await get('/nothing');
  expect(lines).toContain('Base {"status":"404","other":"-"}');
});

test('functionIds lists all functions', () => {
  expect(small.stack.functionIds()).toEqual(Object.keys(functions));
});

test('kill ends one running call with 500, and other calls continue', { tags: 'long' }, async () => {
  const calls = Array.from({ length: 3 }, () => get('/Slow'));
  await expect.poll(() => small.stack.kill('Slow')).toBe(true);
  const statuses = (await Promise.all(calls)).map(({ status }) => status);
  expect(statuses.sort()).toEqual([200, 200, 500]);
  expect(small.stack.kill('Slow')).toBe(false);
  const [, report = ''] = lines.map((line) => line.split('Slow ')).find(([id, text]) => id === '' && text) ?? [];
  expect(JSON.parse(report)).toEqual({
    time: expect.any(String),
    type: 'platform.report',
    record: { requestId: expect.any(String), status: 'error', errorType: 'Runtime.Killed' },
  });
});

test('a template with an unsupported intrinsic function is rejected, and the previous one keeps running', async () => {
  const odd: SmallFunction = { source: '', environment: { ODD: { 'Fn::Base64': 'x' } } };
  await expect(small.load({ functions: { ...functions, Odd: odd }, resources })).rejects.toThrow(
    'does not know this intrinsic function of the template: "Fn::Base64"',
  );
  expect((await get('/Echo')).status).toBe(200);
});

test('a reloaded template replaces the previous one', async () => {
  const Bare: SmallFunction = { source: "export const handler = async () => 'changed'" };
  await small.load({ functions: { ...functions, Bare }, resources });
  expect(await (await get('/Bare')).json()).toBe('changed');
});
