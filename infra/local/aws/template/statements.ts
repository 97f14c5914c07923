/** Reads the statements of roles' policies. */

import type { Statement } from '../iam/policies.ts';
import type { BucketDefinition, QueueDefinition, SecretDefinition } from './definitions.ts';
import { field, type Json, oneOrMore, record, unknown } from './json.ts';

/** What statements may be about, besides the table's items. */
interface Subjects {
  queues: QueueDefinition[];
  /** The table's stream, as references to it resolve. */
  stream: string;
  secrets: SecretDefinition[];
  buckets: BucketDefinition[];
}

/** Reads a statement; those about logs have no counterpart here. */
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

/** The partition keys that a condition fences a statement into; nothing, if it is another condition. */
const fenceOf = (condition: Json): string[] | undefined => {
  const { 'ForAllValues:StringLike': like, Null: absent, ...others } = record(condition);
  if (field(absent, 'dynamodb:LeadingKeys') !== 'false' || Object.keys(others).length > 0) return undefined;
  return oneOrMore(field(like, 'dynamodb:LeadingKeys'));
};

/** Whether a statement without a condition says only what may stand without one. */
const isPlain = (actions: string[], resources: string[], { queues, stream, secrets, buckets }: Subjects): boolean => {
  const kinds = [
    { actions: QUEUE_ACTIONS, resources: queues.map(({ arn }) => arn) },
    { actions: STREAM_ACTIONS, resources: [stream] },
    { actions: ['dynamodb:ListStreams'], resources: [stream, '*'] },
    { actions: ['secretsmanager:GetSecretValue'], resources: secrets.map(({ arn }) => arn) },
    { actions: ['s3:PutObject', 's3:GetObject'], resources: buckets.map(({ arn }) => `${arn}/*`) },
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
