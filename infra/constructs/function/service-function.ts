/** A Lambda function with its bundle, and a role with only the rights that it needs: two resources of the stack. */
import { Effect, PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  Architecture,
  Code,
  Function as LambdaFunction,
  LoggingFormat,
  type RecursiveLoop,
  Runtime,
  type SystemLogLevel,
} from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Duration, Stack } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import type { TableAccess } from '../../../shared/api/access-patterns.ts';
import type { ServiceTable } from '../business-table.ts';
import { type TableRight, tableRights } from './table-rights.ts';

/** The properties that all functions of a stack share. */
export interface SharedFunctionProps {
  table: ServiceTable;
  environment: Record<string, string>;
  /** Contains the lines of all functions. Names of log streams contain the function's name. */
  logGroup: ILogGroup;
  systemLogLevel: SystemLogLevel;
  sourceMaps: boolean;
}

export interface ServiceFunctionProps extends SharedFunctionProps {
  /** The folder of its bundle. */
  bundle: string;
  /** How it accesses the table. */
  access: readonly TableAccess[];
  /** The ARN of the secret of hashes, if it hashes personal data. */
  hashSecret?: string | undefined;
  /** In seconds. */
  timeout: number;
  /** In megabytes. Default: 512. */
  memory?: number;
  /** Reserved concurrency: both the maximum and the guaranteed number of calls. Default: the AWS account's limit. */
  concurrency?: number | undefined;
  /** Whether Lambda stops the function after it has caused about 16 of its own invocations; by default, it does. */
  recursiveLoop?: RecursiveLoop;
  description: string;
}

export class ServiceFunction extends Construct {
  readonly function: LambdaFunction;
  readonly #rights = new PolicyDocument();

  /** Allows actions in addition to the access patterns of the table. */
  readonly allow = (actions: string[], ...resources: string[]): void => {
    this.#rights.addStatements(new PolicyStatement({ actions, resources }));
  };

  constructor(scope: Construct, id: string, props: ServiceFunctionProps) {
    super(scope, id);
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      inlinePolicies: { Rights: this.#rights },
    });
    this.allow(['logs:CreateLogStream', 'logs:PutLogEvents'], props.logGroup.logGroupArn);
    for (const right of tableRights(props.access)) this.#rights.addStatements(tableStatement(props.table, right));

    this.function = new LambdaFunction(this, 'Function', {
      functionName: `${Stack.of(this).stackName}-${id}`,
      description: props.description,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: props.memory ?? 512,
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
      logGroup: props.logGroup,
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
