/**
 * What a deployment may not change by itself, and what the template would change of it. CloudFormation replaces a resource
 * that has another logical id, or another value of certain properties, by an empty one. It neither changes an index nor
 * creates or deletes two at once.
 */
import * as v from 'valibot';

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
export interface Pinned {
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

const GUIDE = 'infra/docs/operator.md';
const REPLACED = `Undo it, or follow "Replace a resource that holds data" in ${GUIDE}. Only then change test/infra/pinned.test.ts.`;
const INDEX = `Follow "Change an index" in ${GUIDE}; each of its deployments changes test/infra/pinned.test.ts.`;

/** What deploying a template would break of what is deployed, each with what to do about it. */
export const breakingChanges = (deployed: Record<string, Pinned>, template: unknown): string[] => {
  const next = pinnedIn(template);
  const gone = Object.entries(deployed).filter(([id]) => next[id]?.type !== deployed[id]?.type);
  const added = Object.entries(next).filter(([id]) => deployed[id]?.type !== next[id]?.type);
  return [
    ...gone.map(
      ([id, { type }]) =>
        `${id} (${type}) is missing: CloudFormation would remove it, or make an empty one. ${REPLACED}`,
    ),
    ...added.map(
      ([id, { type }]) =>
        `${id} (${type}) is not pinned. If it is another name of a deployed resource, CloudFormation would make an empty one: ${REPLACED}`,
    ),
    ...Object.entries(deployed).flatMap(([id, before]) => {
      const after = next[id];
      return after?.type === before.type
        ? [...replacements(id, before, after), ...indexChanges(id, before, after)]
        : [];
    }),
  ];
};

const replacements = (id: string, before: Pinned, after: Pinned): string[] =>
  differing(before.fixed, after.fixed).map(
    (name) => `${id}.${name} differs: CloudFormation would replace the resource by an empty one. ${REPLACED}`,
  );

const indexChanges = (id: string, { indexes: before = {} }: Pinned, { indexes: after = {} }: Pinned): string[] => {
  const differ = differing(before, after);
  const changed = differ.filter((name) => name in before && name in after);
  return [
    ...changed.map(
      (name) => `Index ${name} of ${id} differs in keys or projection: CloudFormation cannot change an index. ${INDEX}`,
    ),
    ...differ
      .filter((name) => !changed.includes(name))
      .map((name) => `Index ${name} of ${id} is ${name in after ? 'new' : 'missing'}. ${INDEX}`),
    ...(differ.length > 1
      ? [`${differ.length} indexes of ${id} differ: a deployment can create or delete one. ${INDEX}`]
      : []),
  ];
};

/** Names whose values are not the same in both. */
const differing = (before: Record<string, unknown>, after: Record<string, unknown>): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
