/** A Lambda function with its bundle, its own log group, and a role with only the rights that it needs. */
import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { Effect, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  Architecture,
  Code,
  Function as LambdaFunction,
  LoggingFormat,
  type RecursiveLoop,
  Runtime,
  type SystemLogLevel,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { TableAccess } from '../../../shared/api/access-patterns.ts';
import type { ServiceTable } from '../business-table.ts';
import { type TableRight, tableRights } from './table-rights.ts';

/** The properties that all functions of a stack share. */
export interface SharedFunctionProps {
  table: ServiceTable;
  environment: Record<string, string>;
  logRetention: RetentionDays;
  systemLogLevel: SystemLogLevel;
  sourceMaps: boolean;
}

interface ServiceFunctionProps extends SharedFunctionProps {
  /** The folder of its bundle. */
  bundle: string;
  /** How it accesses the table. */
  access: readonly TableAccess[];
  /** The ARN of the secret of hashes, if it hashes personal data. */
  hashSecret?: string | undefined;
  /** In seconds. */
  timeout: number;
  /** Reserved concurrency: both the maximum and the guaranteed number of calls. Default: the AWS account's limit. */
  concurrency?: number | undefined;
  /** Whether Lambda stops the function after it has caused about 16 of its own invocations; by default, it does. */
  recursiveLoop?: RecursiveLoop;
  description: string;
}

export class ServiceFunction extends Construct {
  readonly function: LambdaFunction;
  readonly logGroup: LogGroup;

  /** Allows actions in addition to the access patterns of the table. */
  readonly allow = (actions: string[], resource: string): void => {
    this.function.addToRolePolicy(new PolicyStatement({ actions, resources: [resource] }));
  };

  constructor(scope: Construct, id: string, props: ServiceFunctionProps) {
    super(scope, id);
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    const logGroup = new LogGroup(this, 'Logs', {
      retention: props.logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.logGroup = logGroup;
    logGroup.grantWrite(role);
    for (const right of tableRights(props.access)) role.addToPrincipalPolicy(tableStatement(props.table, right));

    this.function = new LambdaFunction(this, 'Function', {
      description: props.description,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: 512,
      timeout: Duration.seconds(props.timeout),
      ...(props.concurrency !== undefined && { reservedConcurrentExecutions: props.concurrency }),
      ...(props.recursiveLoop !== undefined && { recursiveLoop: props.recursiveLoop }),
      code: Code.fromAsset(props.bundle),
      handler: 'index.handler',
      environment: {
        ...props.environment,
        TABLE_NAME: props.table.tableName,
        ...(props.hashSecret !== undefined && { HASH_SECRET: props.hashSecret }),
        ...(props.sourceMaps && { NODE_OPTIONS: '--enable-source-maps' }),
      },
      role,
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      systemLogLevelV2: props.systemLogLevel,
    });
    if (props.hashSecret !== undefined) this.allow(['secretsmanager:GetSecretValue'], props.hashSecret);
  }
}

/** IAM has one statement for each right: `table-rights.ts` says why. */
const tableStatement = (table: ServiceTable, { action, index, partitions }: TableRight): PolicyStatement =>
  new PolicyStatement({
    effect: Effect.ALLOW,
    actions: [`dynamodb:${action}`],
    resources: [index === undefined ? table.tableArn : `${table.tableArn}/index/${index}`],
    conditions: {
      'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': partitions },
      // Without this condition, a call without keys would satisfy "for all values".
      Null: { 'dynamodb:LeadingKeys': 'false' },
    },
  });
