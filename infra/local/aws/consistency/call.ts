/** The parameters of DynamoDB's API that matter for stale reads and transaction conflicts. */

export type Attributes = Record<string, { S?: string } | undefined>;

/** The parameters of a call. Each action has some of them. */
export interface Input {
  TableName?: string;
  ConsistentRead?: boolean;
  Key?: Attributes;
  Item?: Attributes;
  /** The reads or writes of a batch, by table. */
  RequestItems?: Record<string, BatchReads | BatchWrite[]>;
  TransactItems?: Partial<Record<string, Part>>[];
}

/** The items that a batch reads from a table. */
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
