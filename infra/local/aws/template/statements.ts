/** Reads the statements of roles' policies. */

import type { Statement } from '../iam/policies.ts';
import type { BucketDefinition, QueueDefinition, SecretDefinition } from './definitions.ts';
import { field, type Json, oneOrMore, record, unknown } from './json.ts';

/** Resources that statements may be about, in addition to the table's items. */
interface Subjects {
  queues: QueueDefinition[];
  /** The table's stream, as references to it resolve. */
  stream: string;
  secrets: SecretDefinition[];
  buckets: BucketDefinition[];
}

/** Reads a statement. Statements about logs are skipped: the emulator has no log service. */
export const readStatement = (statement: Json, subjects: Subjects): Statement[] => {
  const actions = oneOrMore(field(statement, 'Action'));
  if (actions.every((action) => action.startsWith('logs:'))) return [];

  const { Effect, Action, Resource, Condition, Sid, ...others } = record(statement);
  const resources = oneOrMore(Resource);
  const leadingKeys = Condition === undefined ? undefined : fenceOf(Condition);
  const isKnown =
    Effect === 'Allow' &&
    Object.keys(others).length === 0 &&
    (Condition === undefined ? isPlain(actions, resources, subjects) : leadingKeys !== undefined);
  if (!isKnown) throw unknown('statement of a policy', statement);
  return [{ actions, resources, leadingKeys }];
};

/** Whether a statement allows calls of a function. Resources may end with a wildcard. */
export const mayInvoke = (statement: Json, functionArn: string): boolean =>
  oneOrMore(field(statement, 'Action')).includes('lambda:InvokeFunction') &&
  oneOrMore(field(statement, 'Resource')).some((resource) =>
    resource.endsWith('*') ? functionArn.startsWith(resource.slice(0, -1)) : functionArn === resource,
  );

/** The leading keys of a condition; undefined if it is another condition. */
const fenceOf = (condition: Json): string[] | undefined => {
  const { 'ForAllValues:StringLike': like, Null: absent, ...others } = record(condition);
  if (field(absent, 'dynamodb:LeadingKeys') !== 'false' || Object.keys(others).length > 0) return undefined;
  return oneOrMore(field(like, 'dynamodb:LeadingKeys'));
};

/** Whether a statement contains only actions and resources that need no condition. */
const isPlain = (actions: string[], resources: string[], { queues, stream, secrets, buckets }: Subjects): boolean => {
  const kinds = [
    { actions: QUEUE_ACTIONS, resources: queues.map(({ arn }) => arn) },
    { actions: STREAM_ACTIONS, resources: [stream] },
    { actions: ['dynamodb:ListStreams'], resources: [stream, '*'] },
    { actions: ['secretsmanager:GetSecretValue'], resources: secrets.map(({ arn }) => arn) },
    { actions: ['s3:PutObject', 's3:GetObject', 's3:DeleteObject'], resources: buckets.map(({ arn }) => `${arn}/*`) },
  ];
  return actions.every((action) =>
    resources.every((resource) =>
      kinds.some((kind) => kind.actions.includes(action) && kind.resources.includes(resource)),
    ),
  );
};

const QUEUE_ACTIONS = [
  'sqs:SendMessage',
  'sqs:ReceiveMessage',
  'sqs:DeleteMessage',
  'sqs:ChangeMessageVisibility',
  'sqs:GetQueueAttributes',
];

const STREAM_ACTIONS = ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'];
