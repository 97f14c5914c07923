/** A call of DynamoDB's API, as far as the parts look into it that stand in for DynamoDB's consistency. */

export type Attributes = Record<string, { S?: string } | undefined>;

/** What a call asks for; a member is missing where its action has none. */
export interface Input {
  TableName?: string;
  ConsistentRead?: boolean;
  Key?: Attributes;
  Item?: Attributes;
  /** Of a batch, by table. */
  RequestItems?: Record<string, BatchReads | BatchWrite[]>;
  TransactItems?: Partial<Record<string, Part>>[];
}

/** What a batch reads of a table. */
export interface BatchReads {
  Keys?: Attributes[];
  ConsistentRead?: boolean;
}

/** One write of a batch. */
export interface BatchWrite {
  PutRequest?: { Item?: Attributes };
  DeleteRequest?: { Key?: Attributes };
}

/** One write of a transaction: its table, and the item or its key. */
type Part = Pick<Input, 'TableName' | 'Key' | 'Item'>;
