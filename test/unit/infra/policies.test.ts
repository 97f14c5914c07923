import { describe, expect, test } from 'vitest';
import { touchesOf } from '../../../infra/local/aws/database/touches.ts';
import {
  deniedRequest,
  rightsFor,
  rightsOf,
  rightsUsed,
  type Statement,
  type TransactionEvaluation,
  transactionEvaluations,
} from '../../../infra/local/aws/iam/policies.ts';

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

/** Whether a call is allowed, however transactions are evaluated: all evaluations have to agree. */
const isAllowed = (action: string, input: object): boolean => {
  const touches = touchesOf(table, action, input);
  const denied = transactionEvaluations.filter((evaluation) => deniedRequest(policy, touches, evaluation));
  expect([0, transactionEvaluations.length]).toContain(denied.length);
  return touches.length > 0 && denied.length === 0;
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
  ['TransactWriteItems', { TransactItems: [{ Put: { Item: pk('USER#1') } }, { Put: { Item: pk('ACCOUNTS') } }] }],
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

describe('transactions evaluated', () => {
  const onTable = (action: string, ...leadingKeys: string[]): Statement => ({
    actions: [`dynamodb:${action}`],
    resources: ['Table.Arn'],
    leadingKeys,
  });
  const apart = [onTable('PutItem', 'A#*'), onTable('PutItem', 'B#*'), onTable('UpdateItem', 'C#*')];
  const byAction = [onTable('PutItem', 'A#*', 'B#*'), onTable('UpdateItem', 'C#*')];
  const whole = [onTable('PutItem', 'A#*', 'B#*', 'C#*'), onTable('UpdateItem', 'A#*', 'B#*', 'C#*')];
  const touches = touchesOf(table, 'TransactWriteItems', {
    TransactItems: [{ Put: { Item: pk('A#1') } }, { Put: { Item: pk('B#1') } }, { Update: { Key: pk('C#1') } }],
  });

  test.each<[TransactionEvaluation, boolean[]]>([
    ['per item', [true, true, true]],
    ['per action', [false, true, true]],
    ['whole call', [false, false, true]],
  ])('%s need these keys in one statement', (evaluation, allowed) => {
    const policies = [apart, byAction, whole];
    expect(policies.map((one) => deniedRequest(one, touches, evaluation) === undefined)).toEqual(allowed);
  });

  test('deniedRequest returns the first action that is denied, with the keys that no statement has together', () => {
    expect(deniedRequest(byAction, touches, 'whole call')).toEqual({
      action: 'dynamodb:PutItem',
      resource: 'Table.Arn',
      partitions: ['A#1', 'B#1', 'C#1'],
    });
  });

  test('rightsUsed lists the rights for every evaluation that allows the call, and none for one that denies it', () => {
    expect(rightsUsed(whole, touches).filter((right) => right.includes('UpdateItem'))).toEqual([
      'dynamodb:UpdateItem Table.Arn C#*',
      'dynamodb:UpdateItem Table.Arn C#*',
      ...['A', 'B', 'C'].map((key) => `dynamodb:UpdateItem Table.Arn ${key}#*`),
    ]);
    const widerForOne = [onTable('PutItem', 'A#*', 'B#*'), onTable('UpdateItem', 'A#*', 'C#*')];
    expect(rightsUsed(widerForOne, touches)).not.toContain('dynamodb:UpdateItem Table.Arn A#*');
  });
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
