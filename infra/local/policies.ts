/**
 * What a function's role allows it to do with the table, judged as IAM judges it: action, table or index, leading keys.
 */

/** A statement of a policy, as far as it speaks of the table. */
export interface Statement {
  /** `dynamodb:GetItem` and the like. */
  actions: string[];
  /** `Table.Arn`, or `Table.Arn/index/name`. */
  resources: string[];
  /** Partition keys that it is fenced into, with `*` for any text. */
  leadingKeys: string[];
}

/** One thing that a call does. */
export interface Touch {
  action: string;
  index: string | undefined;
  /** The partition key, or nothing where the call does not name it in a way that we know. */
  partition: string | undefined;
}

/** One thing that a policy allows, in words: action, resource, leading keys. */
export type Right = string;

/** Everything that the statements allow, one by one. */
export const rightsOf = (statements: Statement[]): Right[] =>
  statements.flatMap(({ actions, resources, leadingKeys }) =>
    actions.flatMap((action) =>
      resources.flatMap((resource) => leadingKeys.map((keys) => [action, resource, keys].join(' '))),
    ),
  );

/** The rights by which the statements allow what a call does with the table `table`; none where they do not. */
export const rightsFor = (statements: Statement[], table: string, { action, index, partition }: Touch): Right[] => {
  if (partition === undefined) return [];
  const resource = index === undefined ? `${table}.Arn` : `${table}.Arn/index/${index}`;
  return statements
    .filter(({ actions, resources }) => actions.includes(`dynamodb:${action}`) && resources.includes(resource))
    .flatMap(({ leadingKeys }) => leadingKeys.filter((pattern) => isLike(partition, pattern)))
    .map((pattern) => `dynamodb:${action} ${resource} ${pattern}`);
};

const isLike = (text: string, pattern: string): boolean =>
  new RegExp(`^${pattern.split('*').map(RegExp.escape).join('.*')}$`, 's').test(text);

type Attributes = Record<string, { S?: string } | undefined>;

interface Input {
  Key?: Attributes;
  Item?: Attributes;
  IndexName?: string;
  KeyConditionExpression?: string;
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Attributes;
  RequestItems?: Record<string, { Keys?: Attributes[] } | { PutRequest?: Input; DeleteRequest?: Input }[]>;
  TransactItems?: Record<string, Input>[];
}

/** Actions that parts of a transaction are authorised as. */
const PARTS: Record<string, string> = {
  Get: 'GetItem',
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  ConditionCheck: 'ConditionCheckItem',
};

/** What a call of DynamoDB's API does: several things, if it is a batch or a transaction. */
export const touchesOf = (action: string, input: Input): Touch[] => {
  const touch = (as: string, keys: Attributes | undefined): Touch => ({
    action: as,
    index: undefined,
    partition: keys?.pk?.S,
  });
  if (action === 'Query') return [{ action, index: input.IndexName, partition: queriedPartition(input) }];
  if (action.startsWith('Transact')) {
    return (input.TransactItems ?? []).flatMap((item) =>
      Object.entries(item).map(([part, { Key, Item }]) => touch(PARTS[part] ?? part, Key ?? Item)),
    );
  }
  if (action.startsWith('Batch')) {
    return Object.values(input.RequestItems ?? {}).flatMap((items) =>
      (Array.isArray(items)
        ? items.map((item) => item.PutRequest?.Item ?? item.DeleteRequest?.Key)
        : (items.Keys ?? [])
      ).map((keys) => touch(action, keys)),
    );
  }
  return [touch(action, input.Key ?? input.Item)];
};

/** The value that a query's condition sets the partition key equal to. */
const queriedPartition = (input: Input): string | undefined => {
  const attribute = input.IndexName === undefined ? 'pk' : `${input.IndexName}pk`;
  for (const [, name = '', value = ''] of (input.KeyConditionExpression ?? '').matchAll(/(#?\w+)\s*=\s*(:\w+)/g)) {
    if ((input.ExpressionAttributeNames?.[name] ?? name) === attribute)
      return input.ExpressionAttributeValues?.[value]?.S;
  }
  return undefined;
};
