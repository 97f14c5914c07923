/**
 * What is deployed stays: a change of these resources would lose data, or URLs that customers have stored. CloudFormation
 * replaces a resource that has another logical id, or another value of certain properties, by an empty one. It neither
 * changes an index nor creates or deletes two at once.
 */
import { readFile } from 'node:fs/promises';
import * as v from 'valibot';
import { expect, type TestOptions, test } from 'vitest';
import { useStack } from './support/synthesised.ts';

const { synthesise } = await useStack('linked');

/** Types of resources that hold data, or a URL or name that others have stored. */
const HOLDING = [
  'AWS::ApiGatewayV2::Api',
  'AWS::ApiGatewayV2::DomainName',
  'AWS::DynamoDB::GlobalTable',
  'AWS::DynamoDB::Table',
  'AWS::KMS::Key',
  'AWS::S3::Bucket',
  'AWS::SNS::Topic',
  'AWS::SQS::Queue',
  'AWS::SecretsManager::Secret',
];

/** Properties whose change replaces a resource, by CloudFormation's reference of these types. */
const REPLACING = [
  'BucketName',
  'DomainName',
  'FifoQueue',
  'FifoTopic',
  'KeySchema',
  'LocalSecondaryIndexes',
  'Name',
  'ProtocolType',
  'QueueName',
  'TableName',
  'TopicName',
];

/** Types whose `Name` is a label: changing it replaces nothing. */
const LABELLED = ['AWS::ApiGatewayV2::Api'];

const properties = v.record(v.string(), v.unknown());
const resource = v.object({ Type: v.string(), Properties: v.optional(properties, {}) });
const resources = v.object({ Resources: v.record(v.string(), resource) });
const indexList = v.array(v.object({ IndexName: v.string(), KeySchema: v.unknown(), Projection: v.unknown() }));

/** A resource that must stay what it is. */
interface Pinned {
  type: string;
  /** Properties whose change would replace it. */
  fixed: Record<string, unknown>;
  /** The indexes of a table, by their names: keys and projection. */
  indexes?: Record<string, unknown>;
}

/** The resources of a template that must stay what they are, by their logical ids. */
const pinnedIn = (template: unknown): Record<string, Pinned> =>
  Object.fromEntries(
    Object.entries(v.parse(resources, template).Resources)
      .filter(([, { Type }]) => HOLDING.includes(Type))
      .map(([id, { Type: type, Properties }]) => [
        id,
        {
          type,
          fixed: Object.fromEntries(Object.entries(Properties).filter(([name]) => isReplacing(type, name))),
          ...(Properties.GlobalSecondaryIndexes !== undefined && {
            indexes: indexesIn(Properties.GlobalSecondaryIndexes),
          }),
        },
      ]),
  );

const isReplacing = (type: string, name: string): boolean =>
  REPLACING.includes(name) && !(name === 'Name' && LABELLED.includes(type));

const indexesIn = (given: unknown): Record<string, unknown> =>
  Object.fromEntries(v.parse(indexList, given).map(({ IndexName, ...index }) => [IndexName, index]));

const keys = (partition: string, sort: string) => [
  { AttributeName: partition, KeyType: 'HASH' },
  { AttributeName: sort, KeyType: 'RANGE' },
];

/** What an index of log entries contains beside its keys. */
const LOG_ENTRY = ['phone', 'job_id', 'payload_type', 'reason_code', 'reference', 'expires_at'];
const ofLogs = { NonKeyAttributes: LOG_ENTRY, ProjectionType: 'INCLUDE' };
/** Beside its keys, with the age of due conversations. */
const ofDueWork = { NonKeyAttributes: [...LOG_ENTRY, 'since', 'status'], ProjectionType: 'INCLUDE' };

/** The titles of the procedures in the guide for operators. */
const REPLACE = 'Replace a resource that holds data';
const CHANGE_INDEX = 'Change an index';

const REMEDY = `Undo it, or follow "${REPLACE}", or "${CHANGE_INDEX}" in infra/docs/operator.md. Then change this list.`;

/** The resources as they are deployed, by their logical ids. */
const DEPLOYED: Record<string, Pinned> = {
  TableCD117FA1: {
    type: 'AWS::DynamoDB::GlobalTable',
    fixed: { KeySchema: keys('pk', 'sk') },
    indexes: {
      gsi1: { KeySchema: keys('gsi1pk', 'gsi1sk'), Projection: ofDueWork },
      gsi2: { KeySchema: keys('gsi2pk', 'gsi2sk'), Projection: ofLogs },
      gsi3: { KeySchema: keys('gsi3pk', 'gsi3sk'), Projection: ofLogs },
      gsi4: { KeySchema: keys('gsi4pk', 'gsi4sk'), Projection: ofLogs },
    },
  },
  MediaA721A567: { type: 'AWS::S3::Bucket', fixed: {} },
  AppNetwork8F75F643: { type: 'AWS::SecretsManager::Secret', fixed: {} },
  HashSecret3D9FFBC2: { type: 'AWS::SecretsManager::Secret', fixed: {} },
  BaseApi18F81D61: { type: 'AWS::ApiGatewayV2::Api', fixed: { ProtocolType: 'HTTP' } },
  BridgeApi0C8010E3: { type: 'AWS::ApiGatewayV2::Api', fixed: { ProtocolType: 'HTTP' } },
  WakeUpsF7772DAC: { type: 'AWS::SQS::Queue', fixed: { FifoQueue: true } },
  Expansions3E031666: { type: 'AWS::SQS::Queue', fixed: { FifoQueue: true } },
  DeadLettersBBF8BAAB: { type: 'AWS::SQS::Queue', fixed: { FifoQueue: true } },
  FailedBatches983C92EC: { type: 'AWS::SQS::Queue', fixed: {} },
};

const domainOf = (name: string): Pinned => ({ type: 'AWS::ApiGatewayV2::DomainName', fixed: { DomainName: name } });

/** Tests that synthesise the stack with other settings. */
const LONG: TestOptions = { tags: ['long'] };

/** Compares what the stack with these settings pins. */
const expectPinned = (settings: Record<string, unknown>, deployed: Record<string, Pinned>): void =>
  expect(pinnedIn(synthesise(settings).toJSON()), REMEDY).toEqual(deployed);

test('a deployment keeps every resource that holds data or has a URL, and every index', () => {
  expectPinned({}, DEPLOYED);
});

test('a setting for the throughput of an index is no change of it', LONG, () => {
  expectPinned({ warmWriteUnits: 20_000 }, DEPLOYED);
});

test('a stack that adopts a table defines none, and keeps every other resource', LONG, () => {
  const existingTable = 'restored';
  const existingTableStream = `arn:aws:dynamodb:eu-west-1:111122223333:table/${existingTable}/stream/2030-01-01T00:00:00.000`;
  const { TableCD117FA1: _table, ...others } = DEPLOYED;
  expectPinned({ existingTable, existingTableStream }, others);
  const next = synthesise({ existingTable, existingTableStream });
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
  const BaseDomain2F5F090E = domainOf('api.example.com');
  expectPinned(settings, { ...DEPLOYED, BaseDomain2F5F090E, BridgeDomain43D1DDF8: domainOf('bridge.example.com') });
});

test('a deployment keeps the topic of alarms, whose subscription was confirmed', LONG, () => {
  const AlarmTopicD01E77F9: Pinned = { type: 'AWS::SNS::Topic', fixed: {} };
  expectPinned({ alarmEmail: 'alarms@example.com' }, { ...DEPLOYED, AlarmTopicD01E77F9 });
});

test('the procedures for a change of what is deployed are in the guide for operators', async () => {
  const guide = await readFile('infra/docs/operator.md', 'utf8');
  for (const title of [CHANGE_INDEX, REPLACE]) expect(guide).toContain(`## ${title}\n`);
});

test('an index contains no text of somebody else: only keys, references, states, codes and times', () => {
  const projected = Object.values(DEPLOYED.TableCD117FA1?.indexes ?? {});
  expect(projected).toHaveLength(4);
  expect(JSON.stringify(projected)).not.toMatch(/"(reason|content|outgoing|text|value)"/);
});
