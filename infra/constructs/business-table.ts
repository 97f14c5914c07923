/** The one table: keys, indexes, expiry, recovery. Or one that exists, because AWS has restored it. */
import {
  AttributeType,
  Billing,
  type ITableV2,
  ProjectionType,
  StreamViewType,
  TableV2,
} from 'aws-cdk-lib/aws-dynamodb';
import { RemovalPolicy } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { indexes } from '../../shared/table/indexes.ts';

interface BusinessTableProps {
  retain: boolean;
  /** Write units per second that the table handles at once; those of a new on-demand table, without it. */
  warmWriteUnits: number | undefined;
  /** The same for read units. Functions hardly read indexes while messages are sent, so indexes get none. */
  warmReadUnits: number | undefined;
  tags: Record<string, string>;
}

/** The table as the rest of the stack uses it, created by the stack or not. */
export type ServiceTable = Pick<
  ITableV2,
  'tableName' | 'tableArn' | 'metricConsumedReadCapacityUnits' | 'metricConsumedWriteCapacityUnits'
> & { readonly tableStreamArn?: string | undefined };

/** Units per second that a new on-demand table handles at once, and each of its indexes. They cannot be lowered. */
const INITIAL = { write: 4_000, read: 12_000 };
/** An index takes up to two fifths of the table's writes: of a message, `gsi1` takes 6 of at least 15.4 (performance.md). */
const INDEX_SHARE = 0.4;

export class BusinessTable extends TableV2 {
  constructor(
    scope: Construct,
    id: string,
    { retain, tags, warmWriteUnits = INITIAL.write, warmReadUnits = INITIAL.read }: BusinessTableProps,
  ) {
    super(scope, id, {
      partitionKey: { name: 'pk', type: AttributeType.STRING },
      sortKey: { name: 'sk', type: AttributeType.STRING },
      globalSecondaryIndexes: Object.entries(indexes).map(([indexName, { keys, holds }]) => ({
        indexName,
        partitionKey: { name: `${keys}pk`, type: AttributeType.STRING },
        sortKey: { name: `${keys}sk`, type: AttributeType.STRING },
        projectionType: ProjectionType.INCLUDE,
        nonKeyAttributes: holds,
        ...warmedTo(Math.ceil(warmWriteUnits * INDEX_SHARE)),
      })),
      billing: Billing.onDemand(),
      ...warmedTo(warmWriteUnits, warmReadUnits),
      timeToLiveAttribute: 'expires_at',
      dynamoStream: StreamViewType.NEW_IMAGE,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: retain,
      // Those of the stack reach other resources by CloudFormation: a replica has tags of its own.
      tags: Object.entries(tags).map(([key, value]) => ({ key, value })),
      removalPolicy: retain ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
  }
}

/**
 * A table that the stack adopts instead of creating one. AWS, not the stack, has its settings: the guide for operators lists
 * what a restored table lacks.
 */
export const existingTable = (
  scope: Construct,
  id: string,
  { name, stream }: { name: string; stream: string },
): ServiceTable => TableV2.fromTableAttributes(scope, id, { tableName: name, tableStreamArn: stream });

const warmedTo = (write: number, read: number = INITIAL.read) => {
  const warmThroughput = {
    ...(write > INITIAL.write && { writeUnitsPerSecond: write }),
    ...(read > INITIAL.read && { readUnitsPerSecond: read }),
  };
  return Object.keys(warmThroughput).length > 0 ? { warmThroughput } : {};
};
