/** Translates calls of DynamoDB's API into the actions and resources that IAM checks. */
import type { TableCall } from '../iam/policies.ts';
import type { TableDefinition, TableKeys } from '../template/definitions.ts';

type Touched = Pick<TableDefinition, 'id' | 'arn' | 'keys'>;

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

/** The actions that IAM checks for the parts of a transaction. */
const PARTS: Record<string, string> = {
  Get: 'GetItem',
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  ConditionCheck: 'ConditionCheckItem',
};

/** The touches of a call of DynamoDB's API: one, or one per item of a batch or transaction. */
export const touchesOf = (
  { id, arn = `${id}.Arn`, keys: names }: Touched,
  action: string,
  input: Input,
): TableCall[] => {
  const touch = (as: string, keys: Attributes | undefined): TableCall => ({
    action: `dynamodb:${as}`,
    resource: arn,
    partition: keys?.[names.partition]?.S,
  });
  if (action === 'Query') {
    const resource = input.IndexName === undefined ? arn : `${arn}/index/${input.IndexName}`;
    return [{ action: 'dynamodb:Query', resource, partition: queriedPartition(names, input) }];
  }
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

/** The partition key's value in a query's condition. */
const queriedPartition = ({ partition, indexes }: TableKeys, input: Input): string | undefined => {
  const attribute = input.IndexName === undefined ? partition : indexes[input.IndexName];
  for (const [, name = '', value = ''] of (input.KeyConditionExpression ?? '').matchAll(/(#?\w+)\s*=\s*(:\w+)/g)) {
    if ((input.ExpressionAttributeNames?.[name] ?? name) === attribute)
      return input.ExpressionAttributeValues?.[value]?.S;
  }
  return undefined;
};
