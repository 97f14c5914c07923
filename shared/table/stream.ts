/** What the table's stream brings to a worker. */
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { DynamoDBStreamEvent } from 'aws-lambda';
import type { Key } from './keys.ts';

/** The items of a batch, as they were after each change. */
export const imagesIn = <Item extends Key>({ Records }: DynamoDBStreamEvent): Item[] =>
  Records.flatMap(({ dynamodb }) =>
    // Stryker disable next-line OptionalChaining,ArrayDeclaration: It never happens; only the compiler asks for it.
    dynamodb?.NewImage ? [unmarshall(dynamodb.NewImage as Record<string, AttributeValue>) as Item] : [],
  );

/** Their keys, and the traces in which they were written. */
export const keysIn = ({ Records }: DynamoDBStreamEvent): (Key & { trace_id?: string | undefined })[] =>
  Records.flatMap(({ dynamodb }) =>
    dynamodb?.Keys
      ? [
          {
            ...(unmarshall(dynamodb.Keys as Record<string, AttributeValue>) as Key),
            // Stryker disable next-line OptionalChaining: It never happens; only the compiler asks for it.
            trace_id: dynamodb.NewImage?.trace_id?.S,
          },
        ]
      : // Stryker disable next-line ArrayDeclaration: It never happens; only the compiler asks for it.
        [],
  );
