/**
 * Queues of the local stack, their event source mappings, and the secret, with AWS clients over HTTP.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import {
  ChangeMessageVisibilityCommand,
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  type SendMessageBatchCommandInput,
  SendMessageCommand,
  type SendMessageCommandInput,
  SQSClient,
} from '@aws-sdk/client-sqs';
import type { SQSEvent, SQSRecord } from 'aws-lambda';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { FaultInjection } from '../../infra/local/aws/fault-injection.ts';
import { openRemote, type Remote } from './support/remote.ts';
import { allow, arn, type SmallStack, type SmallTemplate, serve, withChanges } from './support/small-stack.ts';

/** A real minute is 300 times as long. A visibility timeout of one minute takes 200 ms. */
const MINUTE = 200;

const CONSUME = ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'];

const fifo = (properties: object = {}) => ({
  Type: 'AWS::SQS::Queue',
  Properties: {
    FifoQueue: true,
    DeduplicationScope: 'messageGroup',
    FifoThroughputLimit: 'perMessageGroupId',
    SqsManagedSseEnabled: true,
    ...properties,
  },
});

const mapping = (queue: string, functionId: string, properties: object = {}) => ({
  Type: 'AWS::Lambda::EventSourceMapping',
  Properties: {
    EventSourceArn: arn(queue),
    FunctionName: { Ref: functionId },
    BatchSize: 1,
    FunctionResponseTypes: ['ReportBatchItemFailures'],
    ...properties,
  },
});

let remote: Remote;
let small: SmallStack;

/** The faults that the queue injects. Tests set them. */
let faults: FaultInjection = {};

const templateOf = (): SmallTemplate => ({
  functions: {
    Deliver: {
      source: remote.source('Deliver'),
      statements: [
        allow([...CONSUME, 'sqs:ChangeMessageVisibility'], arn('Queue')),
        allow('secretsmanager:GetSecretValue', { Ref: 'AppNetwork' }),
      ],
    },
    Few: {
      source: remote.source('Few'),
      statements: [allow(CONSUME, arn('Narrow')), allow('sqs:SendMessage', arn('Plain'))],
    },
    Batch: { source: remote.source('Batch'), statements: [allow(CONSUME, arn('Wide'))] },
    Relay: {
      source: 'export const handler = async () => process.env.QUEUE + " " + process.env.SECRET',
      statements: [allow('sqs:SendMessage', arn('Queue'))],
      environment: { QUEUE: { Ref: 'Queue' }, SECRET: { Ref: 'AppNetwork' } },
    },
  },
  resources: {
    Queue: fifo({
      VisibilityTimeout: 60,
      RedrivePolicy: { deadLetterTargetArn: arn('Dead'), maxReceiveCount: 3 },
    }),
    Dead: fifo({ MessageRetentionPeriod: 1_209_600 }),
    Narrow: fifo(),
    Wide: fifo(),
    Plain: { Type: 'AWS::SQS::Queue' },
    QueuePolicy: { Type: 'AWS::SQS::QueuePolicy', Properties: {} },
    AppNetwork: { Type: 'AWS::SecretsManager::Secret', Properties: { GenerateSecretString: {} } },
    DeliverMapping: mapping('Queue', 'Deliver'),
    FewMapping: mapping('Narrow', 'Few', { ScalingConfig: { MaximumConcurrency: 2 } }),
    BatchMapping: mapping('Wide', 'Batch', { BatchSize: 10 }),
    Route: {
      Type: 'AWS::ApiGatewayV2::Route',
      Properties: { ApiId: { Ref: 'Base' }, RouteKey: 'GET /relay', Target: 'integrations/Relays' },
    },
    Relays: {
      Type: 'AWS::ApiGatewayV2::Integration',
      Properties: { ApiId: { Ref: 'Base' }, IntegrationUri: arn('Relay'), CredentialsArn: arn('Caller') },
    },
  },
});

beforeAll(async () => {
  remote = await openRemote();
  small = await serve(templateOf(), {
    minute: MINUTE,
    secret: 'the secret',
    faultInjection: {
      refuseMessage: (message) => faults.refuseMessage?.(message) ?? false,
      loseMessage: (message) => faults.loseMessage?.(message) ?? false,
      repeatMessage: (message) => faults.repeatMessage?.(message) ?? false,
    },
  });
});

afterAll(async () => {
  await small.close();
  await remote.close();
});

beforeEach(() => {
  for (const name of ['Deliver', 'Few', 'Batch']) remote.setHandler(name, () => undefined);
});

afterEach(() => {
  faults = {};
});

const settings = (caller: string) => ({
  endpoint: small.stack.awsEndpoint,
  region: 'us-east-1',
  credentials: { accessKeyId: caller, secretAccessKey: 'local' },
  maxAttempts: 1,
});

const client = (caller = 'operator') => new SQSClient(settings(caller));

const urlOf = (queue: string): string => small.stack.queueUrls()[queue] ?? '';

const sending = (queue: string, more: Partial<SendMessageCommandInput> = {}) =>
  new SendMessageCommand({ QueueUrl: urlOf(queue), MessageBody: 'x', ...more });

const sendingAll = (queue: string, Entries: SendMessageBatchCommandInput['Entries']) =>
  new SendMessageBatchCommand({ QueueUrl: urlOf(queue), Entries });

/** Sends a message, by default with a new deduplication id. */
const send = (queue: string, MessageBody: string, MessageGroupId = 'one', MessageDeduplicationId = `${randomUUID()}`) =>
  client().send(sending(queue, { MessageBody, MessageGroupId, MessageDeduplicationId }));

const receive = async (queue: string, more: object = {}) => {
  const QueueUrl = urlOf(queue);
  const { Messages = [] } = await client().send(
    new ReceiveMessageCommand({ QueueUrl, AttributeNames: ['All'], ...more }),
  );
  return Messages;
};

const isEmpty = (queue: string) => () => {
  const counts = small.stack.queueCounts()[queue];
  return counts && counts.visible + counts.inFlight === 0;
};

/** Makes a function record its messages, and call the handler with the first one of each batch. */
const record = (name: string, handler: (message: SQSRecord) => unknown = () => undefined): SQSRecord[] => {
  const records: SQSRecord[] = [];
  remote.setHandler(name, ({ Records }: SQSEvent) => {
    records.push(...Records);
    const [first] = Records;
    return first && handler(first);
  });
  return records;
};

const bodies = (records: { body: string }[]): string[] => records.map(({ body }) => body);

describe("AWS's client", () => {
  test('sends, receives, hides and deletes a message', async () => {
    const QueueUrl = urlOf('Plain');
    const { MessageId } = await client().send(sending('Plain', { MessageBody: 'é' }));
    expect(small.stack.queueCounts().Plain).toEqual({ visible: 1, inFlight: 0 });

    const [message, ...more] = await receive('Plain', { MaxNumberOfMessages: 10 });
    expect(more).toEqual([]);
    expect(message).toMatchObject({ MessageId, Body: 'é', Attributes: { ApproximateReceiveCount: '1' } });
    expect(await receive('Plain')).toEqual([]);
    const { Attributes } = await client().send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }));
    expect(Attributes).toMatchObject({
      ApproximateNumberOfMessages: '0',
      ApproximateNumberOfMessagesNotVisible: '1',
      QueueArn: 'arn:aws:sqs:us-east-1:000000000000:Plain',
    });

    const ReceiptHandle = message?.ReceiptHandle;
    await client().send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 }));
    const [again] = await receive('Plain');
    expect(again?.Attributes?.ApproximateReceiveCount).toBe('2');
    await client().send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: again?.ReceiptHandle }));
    expect(isEmpty('Plain')()).toBe(true);
  });

  test('waits for a message for the requested time', async () => {
    const waiting = receive('Plain', { WaitTimeSeconds: 20 });
    await client().send(sending('Plain', { MessageBody: 'late' }));
    const [message] = await waiting;
    expect(message?.Body).toBe('late');
    await client().send(new DeleteMessageCommand({ QueueUrl: urlOf('Plain'), ReceiptHandle: message?.ReceiptHandle }));
  });

  test('deletes a batch of messages, also one that is deleted already, and says which handle is invalid', async () => {
    const QueueUrl = urlOf('Plain');
    for (const MessageBody of ['one', 'two']) await client().send(sending('Plain', { MessageBody }));
    const received = [...(await receive('Plain')), ...(await receive('Plain'))];
    const Entries = received.map(({ ReceiptHandle }, index) => ({ Id: `${index}`, ReceiptHandle }));
    const remove = async (entries: typeof Entries) => {
      const { Successful = [], Failed = [] } = await client().send(
        new DeleteMessageBatchCommand({ QueueUrl, Entries: entries }),
      );
      return [Successful.map(({ Id }) => Id), Failed.map(({ Id, Code }) => `${Id} ${Code}`)];
    };
    expect(await remove(Entries)).toEqual([['0', '1'], []]);
    expect(isEmpty('Plain')()).toBe(true);
    const invalid = { Id: 'bad', ReceiptHandle: 'none' };
    expect(await remove([...Entries, invalid])).toEqual([['0', '1'], ['bad ReceiptHandleIsInvalid']]);
    await expect(remove([])).rejects.toThrow('The batch has no entries.');
  });

  test('sends a batch of ten messages', async () => {
    const records = record('Deliver');
    const Entries = Array.from({ length: 10 }, (_, index) => ({
      Id: `entry-${index}`,
      MessageBody: `batch ${index}`,
      MessageGroupId: 'batch',
      MessageDeduplicationId: `batch-${index}`,
    }));
    const { Successful, Failed } = await client().send(sendingAll('Queue', Entries));
    expect(Failed).toEqual([]);
    expect(Successful?.map(({ Id }) => Id)).toEqual(Entries.map(({ Id }) => Id));
    await expect.poll(() => bodies(records)).toEqual(Entries.map(({ MessageBody }) => MessageBody));
  });

  test('receives the list of rejected entries of a batch', async () => {
    faults = { refuseMessage: ({ body }) => body === 'refused' };
    const entry = (Id: string, MessageBody: string) => ({
      Id,
      MessageBody,
      MessageGroupId: 'part',
      MessageDeduplicationId: `part-${Id}`,
    });
    const Entries = [entry('1', 'taken'), entry('2', 'refused'), { Id: '3', MessageBody: 'groupless' }];
    const answer = await client().send(sendingAll('Queue', Entries));
    expect(answer.Successful?.map(({ Id }) => Id)).toEqual(['1']);
    expect(answer.Failed).toMatchObject([
      { Id: '2', SenderFault: false, Code: 'ServiceUnavailable' },
      { Id: '3', SenderFault: true, Code: 'MissingParameter' },
    ]);
  });

  const entries = (...ids: string[]) =>
    ids.map((Id) => ({ Id, MessageBody: 'x', MessageGroupId: 'g', MessageDeduplicationId: `many-${Id}` }));

  test.each<[string, string, (sqs: SQSClient) => Promise<unknown>]>([
    ['MissingParameter', 'without a group', (sqs) => sqs.send(sending('Queue', { MessageDeduplicationId: 'x' }))],
    [
      'InvalidParameterValue',
      'without a deduplication id',
      (sqs) => sqs.send(sending('Queue', { MessageGroupId: 'x' })),
    ],
    [
      'InvalidParameterValue',
      'with an unsupported parameter',
      (sqs) => sqs.send(sending('Plain', { DelaySeconds: 5 })),
    ],
    [
      'TooManyEntriesInBatchRequest',
      'with eleven entries',
      (sqs) => sqs.send(sendingAll('Queue', entries(...Array.from({ length: 11 }, (_, index) => String(index))))),
    ],
    ['BatchEntryIdsNotDistinct', 'with a repeated id', (sqs) => sqs.send(sendingAll('Queue', entries('1', '1')))],
    ['EmptyBatchRequest', 'with no entries', (sqs) => sqs.send(sendingAll('Queue', []))],
    [
      'QueueDoesNotExist',
      'to an unknown queue',
      (sqs) => sqs.send(sending('Plain', { QueueUrl: `${small.stack.awsEndpoint}/1/None` })),
    ],
    [
      'InvalidParameterValue',
      'with an expired receipt handle',
      (sqs) => {
        const ReceiptHandle = Buffer.from('{"group":"g","id":"i","receive":1}').toString('base64url');
        return sqs.send(
          new ChangeMessageVisibilityCommand({ QueueUrl: urlOf('Plain'), ReceiptHandle, VisibilityTimeout: 1 }),
        );
      },
    ],
  ])('receives the error %s for a call %s', async (name, _, call) => {
    await expect(call(client())).rejects.toMatchObject({ name });
  });
});

describe('a call of a queue', () => {
  const message = { MessageBody: 'x', MessageGroupId: 'rights', MessageDeduplicationId: 'rights' };

  test("succeeds if the caller's role allows it, also in a batch", async () => {
    await client('Relay').send(sending('Queue', message));
    await client('Relay').send(sendingAll('Queue', [{ Id: '1', ...message }]));
  });

  test.each<[string, string, (sqs: SQSClient) => Promise<unknown>]>([
    ['Deliver', 'sqs:SendMessage', (sqs) => sqs.send(sending('Queue', message))],
    ['Relay', 'sqs:SendMessage', (sqs) => sqs.send(sending('Plain'))],
    ['Relay', 'sqs:ReceiveMessage', (sqs) => sqs.send(new ReceiveMessageCommand({ QueueUrl: urlOf('Queue') }))],
    [
      'Nobody',
      'sqs:GetQueueAttributes',
      (sqs) => sqs.send(new GetQueueAttributesCommand({ QueueUrl: urlOf('Queue') })),
    ],
  ])("is rejected and logged if the caller's role does not allow it: %s %s", async (caller, action, call) => {
    await expect(call(client(caller))).rejects.toMatchObject({
      name: 'AccessDeniedException',
      message: expect.stringContaining(`${caller} is not authorized to perform ${action} on arn:aws:sqs:`),
    });
    const line = small.lines.find((text) => text.startsWith(`${caller} `) && text.includes(action));
    expect(line).toContain('refused by policy');
  });

  test('the rights that a mapping needs count as used, and unused rights are listed', () => {
    expect(small.stack.unusedRights().Few).toEqual(['sqs:SendMessage arn:aws:sqs:us-east-1:000000000000:Plain']);
  });
});

describe('the secret', () => {
  const readSecret = (caller: string, SecretId: string) =>
    new SecretsManagerClient(settings(caller)).send(new GetSecretValueCommand({ SecretId }));

  test('is returned to callers whose role allows it, by the name in their environment', async () => {
    const [queue, secret = ''] = String(await (await fetch(`${small.stack.baseUrl}/relay`)).json()).split(' ');
    expect(queue).toBe(urlOf('Queue'));
    expect((await readSecret('Deliver', secret)).SecretString).toBe('the secret');
    await expect(readSecret('Relay', secret)).rejects.toMatchObject({ name: 'AccessDeniedException' });
    await expect(readSecret('operator', 'other')).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  });
});

describe('a mapping', () => {
  test("calls its function with Lambda's event", async () => {
    const records = record('Deliver');
    const { MessageId, SequenceNumber } = await send('Queue', 'text', 'shape', 'shape-1');
    await expect.poll(() => records).toHaveLength(1);
    expect(records[0]).toEqual({
      messageId: MessageId,
      receiptHandle: expect.any(String),
      body: 'text',
      attributes: {
        ApproximateReceiveCount: '1',
        ApproximateFirstReceiveTimestamp: expect.stringMatching(/^\d{13}$/),
        SentTimestamp: expect.stringMatching(/^\d{13}$/),
        SenderId: 'local',
        MessageGroupId: 'shape',
        MessageDeduplicationId: 'shape-1',
        SequenceNumber,
      },
      messageAttributes: {},
      md5OfBody: '1cb251ec0d568de6a929b520c4aed8d1',
      eventSource: 'aws:sqs',
      eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:Queue.fifo',
      awsRegion: 'us-east-1',
    });
    await expect.poll(isEmpty('Queue')).toBe(true);
  });

  test('handles the messages of a group one by one, and different groups concurrently', async () => {
    const { promise: allHaveBegun, resolve } = Promise.withResolvers<void>();
    const traces: Record<string, string[]> = { a: [], b: [], c: [] };
    record('Deliver', async ({ body, attributes: { MessageGroupId = '' } }) => {
      const trace = traces[MessageGroupId];
      trace?.push(`${body} begins`);
      if (Object.values(traces).every(({ length }) => length > 0)) resolve();
      await allHaveBegun;
      trace?.push(`${body} ends`);
    });
    const order = ['1', '2', '3', '4'];
    for (const body of order) for (const group of Object.keys(traces)) await send('Queue', body, group);
    await expect.poll(isEmpty('Queue')).toBe(true);
    const trace = order.flatMap((body) => [`${body} begins`, `${body} ends`]);
    expect(traces).toEqual({ a: trace, b: trace, c: trace });
  });

  test('makes at most two calls at a time with a maximum concurrency of 2', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const records = record('Few', () => promise);
    for (const group of ['a', 'b', 'c', 'd', 'e']) await send('Narrow', 'text', group);
    await expect.poll(() => records.length).toBe(2);
    expect(small.stack.queueCounts().Narrow).toEqual({ visible: 3, inFlight: 2 });
    resolve();
    await expect.poll(isEmpty('Narrow')).toBe(true);
    expect(records).toHaveLength(5);
  });

  test('keeps a message whose function fails, blocks its group, and counts its receives', async () => {
    let failing = true;
    const records = record('Deliver', () => {
      if (!failing) return;
      failing = false;
      throw new Error('not now');
    });
    for (const body of ['1', '2']) await send('Queue', body, 'fails');
    await expect.poll(isEmpty('Queue')).toBe(true);
    expect(bodies(records)).toEqual(['1', '1', '2']);
    expect(records.map(({ attributes }) => attributes.ApproximateReceiveCount)).toEqual(['1', '2', '1']);
  });

  test('keeps a message whose function was killed', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const records = record('Deliver', () => promise);
    await send('Queue', 'text', 'killed');
    await expect.poll(() => records.length).toBe(1);
    expect(small.stack.kill('Deliver')).toBe(true);
    await expect.poll(() => records.length).toBe(2);
    resolve();
    await expect.poll(isEmpty('Queue')).toBe(true);
  });

  test('keeps the messages that its function reports, and deletes the others', async () => {
    const records: string[][] = [];
    remote.setHandler('Batch', ({ Records }: SQSEvent) => {
      records.push(bodies(Records));
      if (records.length > 1) return undefined;
      const itemIdentifier = Records.find(({ body }) => body === '2')?.messageId;
      return { batchItemFailures: [{ itemIdentifier }] };
    });
    const Entries = ['1', '2', '3'].map((body) => ({
      Id: body,
      MessageBody: body,
      MessageGroupId: 'named',
      MessageDeduplicationId: body,
    }));
    await client().send(sendingAll('Wide', Entries));
    await expect.poll(isEmpty('Wide')).toBe(true);
    expect(records).toEqual([['1', '2', '3'], ['2']]);
  });

  test('keeps a message hidden for the time that its function sets', async () => {
    const records = record('Deliver', async ({ receiptHandle, attributes, messageId }) => {
      if (attributes.ApproximateReceiveCount !== '1') return;
      const QueueUrl = urlOf('Queue');
      const hide = (VisibilityTimeout: number) =>
        client('Deliver').send(
          new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle: receiptHandle, VisibilityTimeout }),
        );
      // 12 hours: without the second call, the message would not return during the test.
      await hide(43_200);
      await hide(0);
      return { batchItemFailures: [{ itemIdentifier: messageId }] };
    });
    await send('Queue', 'text', 'patient');
    await expect.poll(() => records.length).toBe(2);
  });

  test('moves messages that fail three times to the dead-letter queue in order, and continues with the group', async () => {
    const records = record('Deliver', ({ body }) => {
      if (body.startsWith('bad')) throw new Error('never');
    });
    for (const body of ['bad 1', 'bad 2', 'good']) await send('Queue', body, 'poisoned');
    await expect.poll(() => bodies(records)).toEqual([...Array(3).fill('bad 1'), ...Array(3).fill('bad 2'), 'good']);
    await expect.poll(isEmpty('Queue')).toBe(true);
    const dead = await receive('Dead', { MaxNumberOfMessages: 10 });
    expect(dead).toMatchObject([
      { Body: 'bad 1', Attributes: { MessageGroupId: 'poisoned' } },
      { Body: 'bad 2', Attributes: { DeadLetterQueueSourceArn: 'arn:aws:sqs:us-east-1:000000000000:Queue.fifo' } },
    ]);
    const QueueUrl = urlOf('Dead');
    for (const { ReceiptHandle } of dead) await client().send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
  });
});

describe('fault injection makes the queue', () => {
  test('lose a sent message', async () => {
    const records = record('Deliver');
    faults = { loseMessage: ({ queue, group, body }) => `${queue} ${group} ${body}` === 'Queue lost 1' };
    for (const body of ['1', '2']) await send('Queue', body, 'lost');
    await expect.poll(() => bodies(records)).toEqual(['2']);
    await expect.poll(isEmpty('Queue')).toBe(true);
    expect(bodies(records)).toEqual(['2']);
  });

  test('repeat a deleted message', async () => {
    const records = record('Deliver');
    faults = { repeatMessage: ({ group }) => group === 'again' };
    await send('Queue', '1', 'again');
    await expect.poll(() => bodies(records)).toEqual(['1', '1']);
    await expect.poll(isEmpty('Queue')).toBe(true);
  });
});

describe('a template is rejected', () => {
  const deliver = () => templateOf().functions.Deliver ?? { source: '' };
  const withMapping = (properties: object) => ({
    resources: { DeliverMapping: mapping('Queue', 'Deliver', properties) },
  });
  const withStatement = (statement: object) => ({
    functions: { Deliver: { ...deliver(), statements: [...(deliver().statements ?? []), statement] } },
  });

  test.each<[string, () => Partial<SmallTemplate>, string]>([
    [
      'whose role lacks a right that a mapping needs',
      () => ({ functions: { Deliver: { ...deliver(), statements: [allow(CONSUME.slice(1), arn('Queue'))] } } }),
      'The role of Deliver lacks sqs:ReceiveMessage on arn:aws:sqs:us-east-1:000000000000:Queue.fifo, which DeliverMapping needs.',
    ],
    [
      'with an unknown property of a mapping',
      () => withMapping({ FilterCriteria: {} }),
      'DeliverMapping.FilterCriteria',
    ],
    ['with a disabled mapping', () => withMapping({ Enabled: false }), 'DeliverMapping.Enabled'],
    [
      'with a mapping of an unknown event source',
      () => withMapping({ EventSourceArn: 'arn:other' }),
      'event source of the',
    ],
    [
      'with an unknown property of a queue',
      () => ({ resources: { Plain: { Type: 'AWS::SQS::Queue', Properties: { DelaySeconds: 5 } } } }),
      'Plain.DelaySeconds',
    ],
    [
      'with deduplication by content',
      () => ({ resources: { Narrow: fifo({ ContentBasedDeduplication: true }) } }),
      'Narrow',
    ],
    [
      'with a standard queue as the dead-letter queue of a FIFO queue',
      () => ({
        resources: { Narrow: fifo({ RedrivePolicy: { deadLetterTargetArn: arn('Plain'), maxReceiveCount: 1 } }) },
      }),
      'dead-letter queue',
    ],
    [
      "with a visibility timeout below the function's timeout",
      () => ({ resources: { Narrow: fifo({ VisibilityTimeout: 4 }) } }),
      "queue's visibility below its function's timeout",
    ],
    [
      'with a secret that has no value',
      () => ({ resources: { Other: { Type: 'AWS::SecretsManager::Secret', Properties: {} } } }),
      'The secret Other needs a value.',
    ],
    ['with a right to all queues', () => withStatement(allow('sqs:SendMessage', '*')), 'statement of a policy'],
    ['with an unsupported right', () => withStatement(allow('sqs:PurgeQueue', arn('Queue'))), 'statement of a policy'],
    [
      'with a right under an unsupported condition',
      () => withStatement({ ...allow('sqs:SendMessage', arn('Queue')), Condition: { Bool: {} } }),
      'statement of a policy',
    ],
    [
      'with a right to an unknown resource',
      () => withStatement(allow('sqs:SendMessage', arn('None'))),
      'statement of a policy',
    ],
    [
      'with a right to items of the table without leading keys',
      () => withStatement(allow('dynamodb:GetItem', arn('Table'))),
      'statement',
    ],
  ])('%s', async (_, change, message) => {
    await expect(small.load(withChanges(templateOf(), change()))).rejects.toThrow(message);
  });
});

test('a reloaded stack keeps its messages, and messages in flight are visible again at once', async () => {
  const { promise: never } = Promise.withResolvers<void>();
  const before = record('Deliver', () => never);
  for (const body of ['1', '2']) await send('Queue', body, 'reload');
  await expect.poll(() => before.length).toBe(1);
  const { functions, resources } = templateOf();
  // Without the mapping, no function receives messages.
  const { DeliverMapping: _, ...others } = resources;
  await small.load({ functions, resources: others });
  expect(small.stack.queueCounts().Queue).toEqual({ visible: 2, inFlight: 0 });
  const after = record('Deliver');
  await small.load({ functions, resources });
  await expect.poll(() => bodies(after)).toEqual(['1', '2']);
  expect(after.map(({ attributes }) => attributes.ApproximateReceiveCount)).toEqual(['1', '1']);
});

test('a closed stack ends running calls, and does not repeat them', async () => {
  const other = await serve(templateOf(), { minute: MINUTE, secret: 'x' });
  const { promise: never } = Promise.withResolvers<void>();
  const records = record('Deliver', () => never);
  const { Queue, Plain } = other.stack.queueUrls();
  const operator = new SQSClient({ ...settings('operator'), endpoint: other.stack.awsEndpoint });
  const draft = { QueueUrl: Queue, MessageBody: 'x', MessageGroupId: 'x', MessageDeduplicationId: 'x' };
  await operator.send(new SendMessageCommand(draft));
  const receiving = operator.send(new ReceiveMessageCommand({ QueueUrl: Plain, WaitTimeSeconds: 20 }));
  receiving.catch(() => undefined);
  await expect.poll(() => records.length).toBe(1);
  await other.close();
  await expect(receiving).rejects.toThrow();
  await expect(operator.send(new SendMessageCommand(draft))).rejects.toThrow('ECONNREFUSED');
  expect(records).toHaveLength(1);
});
