/** What is deployed stays: a change of these resources would lose data, or URLs that customers have stored. */
import { readFile } from 'node:fs/promises';
import { describe, expect, type TestOptions, test } from 'vitest';
import { breakingChanges, type Pinned } from './support/pinned.ts';
import { useStack } from './support/synthesised.ts';

const { synthesise } = await useStack('linked');
const template = synthesise().toJSON();

const keys = (partition: string, sort: string) => [
  { AttributeName: partition, KeyType: 'HASH' },
  { AttributeName: sort, KeyType: 'RANGE' },
];

/** What an index of log entries contains beside its keys. */
const ofLogs = {
  NonKeyAttributes: ['created', 'phone', 'state', 'job_id', 'payload_type', 'reason_code', 'expires_at'],
  ProjectionType: 'INCLUDE',
};

/**
 * The resources as they are deployed, by their logical ids. If a test below fails, its message says what to do: change
 * this list only together with the procedure that it names.
 */
const DEPLOYED: Record<string, Pinned> = {
  TableCD117FA1: {
    type: 'AWS::DynamoDB::GlobalTable',
    fixed: { KeySchema: keys('pk', 'sk') },
    indexes: {
      gsi1: { KeySchema: keys('gsi1pk', 'gsi1sk'), Projection: ofLogs },
      gsi2: { KeySchema: keys('gsi2pk', 'gsi2sk'), Projection: ofLogs },
      gsi3: { KeySchema: keys('gsi3pk', 'gsi3sk'), Projection: ofLogs },
    },
  },
  MediaA721A567: { type: 'AWS::S3::Bucket', fixed: {} },
  AppNetwork8F75F643: { type: 'AWS::SecretsManager::Secret', fixed: {} },
  HashSecret3D9FFBC2: { type: 'AWS::SecretsManager::Secret', fixed: {} },
  BaseApi18F81D61: { type: 'AWS::ApiGatewayV2::Api', fixed: { ProtocolType: 'HTTP' } },
  BridgeApi0C8010E3: { type: 'AWS::ApiGatewayV2::Api', fixed: { ProtocolType: 'HTTP' } },
  WakeUpsQueue2CC32346: { type: 'AWS::SQS::Queue', fixed: { FifoQueue: true } },
  WakeUpsDeadLetters603E8A91: { type: 'AWS::SQS::Queue', fixed: { FifoQueue: true } },
  ExpansionsQueue61207E13: { type: 'AWS::SQS::Queue', fixed: { FifoQueue: true } },
  ExpansionsDeadLettersAD92257E: { type: 'AWS::SQS::Queue', fixed: { FifoQueue: true } },
  FailedBatches983C92EC: { type: 'AWS::SQS::Queue', fixed: {} },
};

const domainOf = (name: string): Pinned => ({ type: 'AWS::ApiGatewayV2::DomainName', fixed: { DomainName: name } });

/** Tests that synthesise the stack with other settings. */
const LONG: TestOptions = { tags: ['long'] };

test('a deployment keeps every resource that holds data or has a URL, and every index', () => {
  expect(breakingChanges(DEPLOYED, template)).toEqual([]);
});

test('a setting for the throughput of an index is no change of it', LONG, () => {
  expect(breakingChanges(DEPLOYED, synthesise({ warmWriteUnits: 20_000 }).toJSON())).toEqual([]);
});

test('a stack that adopts a table defines none, and keeps every other resource', LONG, () => {
  const existingTable = 'restored';
  const existingTableStream = `arn:aws:dynamodb:eu-west-1:111122223333:table/${existingTable}/stream/2030-01-01T00:00:00.000`;
  const next = synthesise({ existingTable, existingTableStream });
  const { TableCD117FA1: _table, ...others } = DEPLOYED;
  expect(breakingChanges(others, next.toJSON())).toEqual([]);
  next.allResourcesProperties('AWS::Lambda::Function', { Environment: { Variables: { TABLE_NAME: existingTable } } });
  const sources = Object.values(next.findResources('AWS::Lambda::EventSourceMapping')).map(
    ({ Properties }) => Properties.EventSourceArn,
  );
  expect(sources.filter((source) => source === existingTableStream)).toHaveLength(2);
  expect(JSON.stringify(next.toJSON())).not.toMatch(/TableCD117FA1|AWS::DynamoDB::/);
});

test('a deployment keeps custom domains, which DNS records point to', LONG, () => {
  const settings = {
    baseDomain: 'api.example.com',
    baseCertificate: 'arn:aws:acm:eu-west-1:111122223333:certificate/a',
    bridgeDomain: 'bridge.example.com',
    bridgeCertificate: 'arn:aws:acm:eu-west-1:111122223333:certificate/b',
  };
  const domains = {
    BaseDomain2F5F090E: domainOf('api.example.com'),
    BridgeDomain43D1DDF8: domainOf('bridge.example.com'),
  };
  expect(breakingChanges({ ...DEPLOYED, ...domains }, synthesise(settings).toJSON())).toEqual([]);
});

test('a deployment keeps the topic of alarms, whose subscription was confirmed', LONG, () => {
  const topic: Pinned = { type: 'AWS::SNS::Topic', fixed: {} };
  const next = synthesise({ alarmEmail: 'alarms@example.com' }).toJSON();
  expect(breakingChanges({ ...DEPLOYED, AlarmTopicD01E77F9: topic }, next)).toEqual([]);
});

describe('a change of what is deployed is reported, with the procedure for it:', () => {
  const REPLACE = 'follow "Replace a resource that holds data" in infra/docs/operator.md';
  const CHANGE_INDEX = 'Follow "Change an index" in infra/docs/operator.md';
  const text = JSON.stringify(template);

  test.each<[string, RegExp | string, string, string[], string]>([
    [
      'the table has another name',
      /TableCD117FA1/g,
      'Store12345678',
      ['TableCD117FA1 (AWS::DynamoDB', 'is missing'],
      REPLACE,
    ],
    [
      'the bucket has another name',
      /MediaA721A567/g,
      'Files12345678',
      ['Files12345678 (AWS::S3', 'not pinned'],
      REPLACE,
    ],
    [
      'the secret has another name',
      /AppNetwork8F75F643/g,
      'App12345678',
      ['AppNetwork8F75F643', 'is missing'],
      REPLACE,
    ],
    ['a host has another name', /BaseApi18F81D61/g, 'Api12345678', ['BaseApi18F81D61', 'is missing'], REPLACE],
    ['a queue is a table', '"AWS::SQS::Queue"', '"AWS::DynamoDB::Table"', ['(AWS::SQS::Queue) is missing'], REPLACE],
    [
      'the table has other keys',
      '"AttributeName":"sk","KeyType"',
      '"AttributeName":"x","KeyType"',
      ['.KeySchema differs'],
      REPLACE,
    ],
    ['a queue is no FIFO queue', '"FifoQueue":true,', '', ['.FifoQueue differs'], REPLACE],
    [
      'the bucket gets a name of its own',
      '"BucketEncryption"',
      '"BucketName":"media","BucketEncryption"',
      ['.BucketName differs'],
      REPLACE,
    ],
    [
      'an index has other keys',
      '"AttributeName":"gsi2sk","KeyType"',
      '"AttributeName":"sk","KeyType"',
      ['Index gsi2 of', 'keys or projection'],
      CHANGE_INDEX,
    ],
    [
      'an index contains something else',
      '"reason_code"',
      '"reason"',
      ['Index gsi1 of', 'keys or projection'],
      CHANGE_INDEX,
    ],
    [
      'an index is gone',
      /\{"IndexName":"gsi2".*?\},(?=\{"IndexName")/,
      '',
      ['Index gsi2 of', 'is missing'],
      CHANGE_INDEX,
    ],
    [
      'an index has another name',
      '"IndexName":"gsi3"',
      '"IndexName":"gsi4"',
      ['gsi4 of', 'is new', '2 indexes of', 'can create or delete one'],
      CHANGE_INDEX,
    ],
    ['all indexes differ', /"reason_code"/g, '"reason"', ['3 indexes of'], CHANGE_INDEX],
  ])('%s', (_, from, to, parts, procedure) => {
    const changed = text.replace(from, to);
    expect(changed).not.toBe(text);
    const messages = breakingChanges(DEPLOYED, JSON.parse(changed));
    expect(messages).not.toEqual([]);
    for (const message of messages) expect(message).toContain(procedure);
    for (const part of parts) expect(messages.join('\n')).toContain(part);
  });

  test('both procedures are in the guide for operators', async () => {
    const guide = await readFile('infra/docs/operator.md', 'utf8');
    for (const title of ['Change an index', 'Replace a resource that holds data'])
      expect(guide).toContain(`## ${title}\n`);
  });
});

test('an index contains no text of somebody else: only keys, states, codes and times', () => {
  const projected = Object.values(DEPLOYED.TableCD117FA1?.indexes ?? {});
  expect(projected).toHaveLength(3);
  expect(JSON.stringify(projected)).not.toMatch(/"(reason|content|outgoing|text|value)"/);
});
