/** The one table: keys, indexes, expiry, recovery. */
import { RemovalPolicy } from 'aws-cdk-lib';
import { AttributeType, Billing, ProjectionType, StreamViewType, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import { indexes } from '../../shared/table/access-patterns.ts';

interface BusinessTableProps {
  retain: boolean;
  /** Write units per second that the table handles at once; those of a new on-demand table, without it. */
  warmWriteUnits: number | undefined;
  tags: Record<string, string>;
}

/** Write units per second that a new on-demand table handles at once, and each of its indexes. It cannot be lowered. */
const INITIAL_WRITE_UNITS = 4_000;
/** An index takes less than a third of the table's writes: of a message, `gsi1` takes 6 of at least 21 (performance.md). */
const INDEX_SHARE = 1 / 3;

export class BusinessTable extends TableV2 {
  constructor(
    scope: Construct,
    id: string,
    { retain, tags, warmWriteUnits = INITIAL_WRITE_UNITS }: BusinessTableProps,
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
      ...warmedTo(warmWriteUnits),
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

const warmedTo = (writeUnitsPerSecond: number) =>
  writeUnitsPerSecond > INITIAL_WRITE_UNITS ? { warmThroughput: { writeUnitsPerSecond } } : {};
