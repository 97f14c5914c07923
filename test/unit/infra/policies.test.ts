import { describe, expect, test } from 'vitest';
import { touchesOf } from '../../../infra/local/aws/database/touches.ts';
import { refusedTouch, rightsFor, rightsOf, type Statement } from '../../../infra/local/aws/iam/policies.ts';

const policy: Statement[] = [
  { actions: ['dynamodb:GetItem', 'dynamodb:PutItem'], resources: ['Table.Arn'], leadingKeys: ['USER#*', 'ACCOUNTS'] },
  { actions: ['dynamodb:Query'], resources: ['Table.Arn/index/gsi1'], leadingKeys: ['DUE#*'] },
  { actions: ['dynamodb:BatchWriteItem', 'dynamodb:UpdateItem'], resources: ['Table.Arn'], leadingKeys: ['ANSWERS#*'] },
  { actions: ['dynamodb:BatchGetItem'], resources: ['Table.Arn'], leadingKeys: ['OUTBOX#*', 'ERASURE#*'] },
  { actions: ['dynamodb:BatchGetItem'], resources: ['Table.Arn'], leadingKeys: ['PLATFORM#*'] },
];

const table = {
  id: 'Table',
  keys: { attributes: ['pk', 'sk'], partition: 'pk', indexes: { gsi1: 'gsi1pk', gsi2: 'gsi2pk' } },
};

const pk = (value: string) => ({ pk: { S: value }, sk: { S: 'x' } });

const query = (value: string, more: object = {}) => ({
  IndexName: 'gsi1',
  KeyConditionExpression: 'gsi1pk = :due AND gsi1sk <= :time',
  ExpressionAttributeValues: { ':due': { S: value }, ':time': { S: 'y' } },
  ...more,
});

const isAllowed = (action: string, input: object): boolean => {
  const touches = touchesOf(table, action, input);
  return touches.length > 0 && refusedTouch(policy, touches) === undefined;
};

test.each<[string, object]>([
  ['GetItem', { Key: pk('USER#1') }],
  ['GetItem', { Key: pk('USER#with\na line break') }],
  ['PutItem', { Item: pk('ACCOUNTS') }],
  ['Query', query('DUE#1')],
  ['Query', query('DUE#1', { KeyConditionExpression: '(#p = :due)', ExpressionAttributeNames: { '#p': 'gsi1pk' } })],
  [
    'BatchWriteItem',
    { RequestItems: { t: [{ PutRequest: { Item: pk('ANSWERS#1') } }, { DeleteRequest: { Key: pk('ANSWERS#2') } }] } },
  ],
  ['TransactWriteItems', { TransactItems: [{ Put: { Item: pk('USER#1') } }, { Update: { Key: pk('ANSWERS#1') } }] }],
  ['BatchGetItem', { RequestItems: { t: { Keys: [pk('OUTBOX#1'), pk('ERASURE#1')] } } }],
  ['BatchGetItem', { RequestItems: { t: { Keys: [pk('PLATFORM#1')] } } }],
])('a call within a statement is allowed: %s %o', (action, input) => {
  expect(isAllowed(action, input)).toBe(true);
});

test.each<[string, object]>([
  ['GetItem', { Key: pk('TOKEN#1') }],
  ['GetItem', { Key: pk('xUSER#1') }],
  ['GetItem', { Key: pk('ACCOUNTS#1') }],
  ['GetItem', {}],
  ['DeleteItem', { Key: pk('USER#1') }],
  ['Query', query('USER#1')],
  ['Query', { ...query('DUE#1'), IndexName: undefined }],
  ['Query', query('DUE#1', { IndexName: 'gsi2' })],
  ['Query', query('DUE#1', { KeyConditionExpression: 'other = :due' })],
  ['Scan', {}],
  ['ExecuteStatement', { Statement: 'SELECT * FROM t' }],
  ['BatchGetItem', { RequestItems: { t: { Keys: [pk('USER#1')] } } }],
  // Each key is allowed, but by different statements.
  ['BatchGetItem', { RequestItems: { t: { Keys: [pk('OUTBOX#1'), pk('PLATFORM#1')] } } }],
  [
    'BatchWriteItem',
    { RequestItems: { t: [{ DeleteRequest: { Key: pk('ANSWERS#1') } }, { DeleteRequest: { Key: pk('USER#2') } }] } },
  ],
  ['BatchWriteItem', {}],
  ['TransactWriteItems', { TransactItems: [{ Put: { Item: pk('USER#1') } }, { Delete: { Key: pk('USER#1') } }] }],
  ['TransactWriteItems', { TransactItems: [{ ConditionCheck: { Key: pk('USER#1') } }] }],
])('a call outside of all statements is denied: %s %o', (action, input) => {
  expect(isAllowed(action, input)).toBe(false);
});

test('rightsOf lists each right separately, and rightsFor lists the rights that allow a call', () => {
  expect(rightsOf(policy.slice(0, 2))).toEqual([
    'dynamodb:GetItem Table.Arn USER#*',
    'dynamodb:GetItem Table.Arn ACCOUNTS',
    'dynamodb:PutItem Table.Arn USER#*',
    'dynamodb:PutItem Table.Arn ACCOUNTS',
    'dynamodb:Query Table.Arn/index/gsi1 DUE#*',
  ]);
  const [touch] = touchesOf(table, 'Query', query('DUE#7'));
  expect(touch && rightsFor(policy, touch)).toEqual(['dynamodb:Query Table.Arn/index/gsi1 DUE#*']);
});

describe('a statement without leading keys', () => {
  const plain: Statement[] = [
    { actions: ['sqs:SendMessage', 'sqs:DeleteMessage'], resources: ['arn:one', 'arn:two'], leadingKeys: undefined },
    { actions: ['dynamodb:ListStreams'], resources: ['*'], leadingKeys: undefined },
  ];

  test.each([
    ['sqs:SendMessage', 'arn:two', ['sqs:SendMessage arn:two']],
    ['dynamodb:ListStreams', 'Table.StreamArn', ['dynamodb:ListStreams *']],
    ['sqs:SendMessage', 'arn:three', []],
    ['sqs:ReceiveMessage', 'arn:one', []],
  ])('allows only its actions on its resources: %s on %s', (action, resource, rights) => {
    expect(rightsFor(plain, { action, resource })).toEqual(rights);
  });

  test('has one right for each action on each resource', () => {
    expect(rightsOf(plain)).toEqual([
      'sqs:SendMessage arn:one',
      'sqs:SendMessage arn:two',
      'sqs:DeleteMessage arn:one',
      'sqs:DeleteMessage arn:two',
      'dynamodb:ListStreams *',
    ]);
  });
});
