/** Records of the table's stream, as workers receive them. */
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { DynamoDBStreamEvent } from 'aws-lambda';
import type { Key } from './keys.ts';

/** The items of a batch, as they were after each change. Removals have none. */
export const imagesIn = <Item extends Key>({ Records }: DynamoDBStreamEvent): Item[] =>
  Records.flatMap(({ dynamodb }) =>
    dynamodb?.NewImage ? [unmarshall(dynamodb.NewImage as Record<string, AttributeValue>) as Item] : [],
  );

/** The keys of a batch's items, and the trace ids of the requests that wrote them. */
export const keysIn = ({ Records }: DynamoDBStreamEvent): (Key & { trace_id?: string | undefined })[] =>
  Records.flatMap(({ dynamodb }) =>
    dynamodb?.Keys
      ? [
          {
            ...(unmarshall(dynamodb.Keys as Record<string, AttributeValue>) as Key),
            trace_id: dynamodb.NewImage?.trace_id?.S,
          },
        ]
      : [],
  );
