/** The clients in bundles fail and retry as the SDK's. */
import { describe, expect, test, vi } from 'vitest';
import { isRetryable } from '../../../shared/core/retryable-errors.ts';
import { type Answer, IMPATIENT, json, type Modules, own, sdk, useServer } from './both-clients.ts';

const server = useServer();

const failed = (code: string, body: object = {}, status = 400, headers = {}): Answer =>
  json({ __type: `com.amazonaws.dynamodb.v20120810#${code}`, message: 'no', ...body }, status, headers);

const ITEM = { pk: { S: 'a' }, b: { B: 'AAH/' } };
const REASONS = [{ Code: 'None' }, { Code: 'ConditionalCheckFailed', Message: 'no', Item: ITEM }];

/** How a call ends: its error, its attempts, and whether the service's code would try again. */
const outcome = async (modules: Modules, answers: Answer[], command = 'TransactWriteCommand') => {
  server.answer(...answers);
  const Command = modules.commands[command] as new (input: object) => object;
  const { table } = server.clientsOf(modules, answers[0] === silent ? IMPATIENT : undefined);
  const input = { TableName: 'table', Key: { pk: 'a' }, TransactItems: [] };
  const error: unknown = await table.send(new Command(input)).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  const { received } = server;
  const tokens = new Set(received.map(({ body }) => JSON.parse(body).ClientRequestToken));
  const ids = new Set(received.map(({ headers }) => headers['amz-sdk-invocation-id']));
  const attempts = received.map(({ headers }) => headers['amz-sdk-request']);
  if (!(error instanceof Error)) return { error: undefined, attempts, tokens: tokens.size, ids: ids.size };
  const { name, message, Item, CancellationReasons, $metadata } = Object(error);
  const known = ['ConditionalCheckFailedException', 'TransactionConflictException', 'TransactionCanceledException'];
  return {
    // A proxy's page has no code: the SDK says that it is not JSON.
    name: answers[0] === html ? 'any' : name,
    hasMessage: message === 'no',
    error: { Item, CancellationReasons },
    // If the connection breaks, the SDK names the status of the incomplete response.
    status: answers[0] === half ? undefined : $metadata?.httpStatusCode,
    request: $metadata?.requestId,
    isRetryable: isRetryable(error),
    classes: known.filter((one) => modules.errors[one] !== undefined && error instanceof modules.errors[one]),
    attempts,
    tokens: tokens.size,
    ids: ids.size,
  };
};

const html: Answer = (response) => response.writeHead(503).end('<html>Service Unavailable</html>');
const hangUp: Answer = (response) => void response.socket?.destroy();
const half: Answer = (response) => {
  response.writeHead(200, { 'content-length': '100' }).write('{"Item":');
  setTimeout(() => response.socket?.destroy(), 5);
};
const silent: Answer = () => undefined;
const success = json({});

describe.each<[string, number, Answer[]]>([
  ['a failed condition', 1, [failed('ConditionalCheckFailedException')]],
  ['a failed condition with the item', 1, [failed('ConditionalCheckFailedException', { Item: ITEM })]],
  ['a cancelled transaction', 1, [failed('TransactionCanceledException', { CancellationReasons: REASONS })]],
  ['a conflict', 1, [failed('TransactionConflictException')]],
  ['a transaction in progress', 3, [failed('TransactionInProgressException')]],
  ['throttling', 3, [failed('ThrottlingException')]],
  ['throttling of a partition', 3, [failed('ProvisionedThroughputExceededException')]],
  ['a missing right', 1, [failed('AccessDeniedException')]],
  ['a missing table', 1, [failed('ResourceNotFoundException')]],
  [
    'invalid input, with another name of the message',
    1,
    [json({ __type: 'x#ValidationException', Message: 'no' }, 400)],
  ],
  ['an error whose code is in a header', 1, [json({}, 400, { 'x-amzn-errortype': 'ValidationException:http://x' })]],
  ['an error of the server', 3, [failed('InternalServerError', {}, 500)]],
  ['an error of a proxy', 3, [html]],
  ['a closed connection', 3, [hangUp]],
  ['half a response', 3, [half]],
  ['no response', 3, [silent]],
  ['throttling, then success', 2, [failed('ThrottlingException'), success]],
  [
    'a closed connection and an error of the server, then success',
    3,
    [hangUp, failed('InternalServerError', {}, 500), success],
  ],
])('after %s', (_, attempts, answers) => {
  test(`a call ends as with the SDK, after ${attempts} attempts of one call`, { tags: 'long' }, async () => {
    const expected = await outcome(sdk, answers);
    const found = await outcome(own, answers);
    expect(found).toEqual(expected);
    expect(found).toMatchObject({ tokens: 1, ids: 1 });
    expect(found.attempts).toHaveLength(attempts);
  });
});

test.each([
  ['in the past', -3_600_000],
  ['in the future', 3_600_000],
])('a clock that is an hour %s is corrected, as by the SDK', async (_, offset) => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + offset });
  const date = new Date(Date.now() - offset).toUTCString();
  const refused = failed('InvalidSignatureException', { message: 'Signature expired' }, 403, { date });
  for (const modules of [sdk, own]) {
    expect(await outcome(modules, [refused, json({}, 200, { date })])).toMatchObject({ error: undefined });
    const [first, second] = server.received.map(({ headers }) => hourOf(String(headers['x-amz-date'])));
    expect(second, modules.name).toBe(hourOf(new Date(date).toISOString().replaceAll(/[-:]/g, '')));
    expect(second, modules.name).not.toBe(first);
  }
});

/** The hour of a time like `20261125T170000Z`. */
const hourOf = (time: string): string => time.slice(0, 11);

test('a call whose signal is aborted ends at once, as with the SDK', async () => {
  for (const modules of [sdk, own]) {
    const controller = new AbortController();
    server.answer(() => controller.abort());
    const { table } = server.clientsOf(modules);
    const Command = modules.commands.GetCommand as new (input: object) => object;
    const { signal } = controller;
    const call = table.send(new Command({ TableName: 'table', Key: { pk: 'a' } }), { abortSignal: signal });
    await expect(call, modules.name).rejects.toMatchObject({ name: 'AbortError' });
    expect(server.received, modules.name).toHaveLength(1);
  }
});

test.each(['AWS_ACCESS_KEY_ID', 'AWS_REGION'])('without %s, a call fails and sends nothing', async (variable) => {
  vi.stubEnv(variable, '');
  const { attempts, error } = await outcome(own, [success]);
  expect(attempts).toEqual([]);
  expect(error).toBeDefined();
});
