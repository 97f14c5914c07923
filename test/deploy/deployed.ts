/** What the emulated AWS has of the deployment, read with the SDK. */
import {
  CloudFormationClient,
  DescribeStacksCommand,
  paginateDescribeStackEvents,
  type Stack,
  UpdateTerminationProtectionCommand,
} from '@aws-sdk/client-cloudformation';
import { DescribeTableCommand, DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs';
import * as v from 'valibot';

const outputs = v.object({
  TableName: v.string(),
  BaseUrl: v.string(),
  BridgeUrl: v.string(),
  MediaBucketName: v.string(),
  AppNetworkSecret: v.string(),
  CounterRetention: v.string(),
});

export type Outputs = v.InferOutput<typeof outputs>;

const functions = v.object({
  Functions: v.array(
    v.object({
      FunctionName: v.string(),
      Environment: v.optional(v.object({ Variables: v.record(v.string(), v.string()) })),
    }),
  ),
});

const apis = v.object({ items: v.optional(v.array(v.object({ name: v.string() })), []) });

export class Deployed {
  readonly #stack: string;
  readonly #endpoint: string;
  readonly #region: string;
  readonly #cloudFormation: CloudFormationClient;
  readonly #tables: DynamoDBClient;
  readonly #buckets: S3Client;
  readonly #secrets: SecretsManagerClient;
  readonly #queues: SQSClient;

  constructor(stack: string, { endpoint, region }: { endpoint: string; region: string }) {
    const options = { endpoint, region, credentials: { accessKeyId: 'test', secretAccessKey: 'test' } };
    this.#stack = stack;
    this.#endpoint = endpoint;
    this.#region = region;
    this.#cloudFormation = new CloudFormationClient(options);
    this.#tables = new DynamoDBClient(options);
    this.#buckets = new S3Client({ ...options, forcePathStyle: true });
    this.#secrets = new SecretsManagerClient(options);
    this.#queues = new SQSClient(options);
  }

  /** Closes the connections, so that the process can end. */
  close(): void {
    for (const client of [this.#cloudFormation, this.#tables, this.#buckets, this.#secrets, this.#queues]) {
      client.destroy();
    }
  }

  async outputs(): Promise<Outputs> {
    const stack = await this.#describe();
    return v.parse(
      outputs,
      Object.fromEntries((stack.Outputs ?? []).map(({ OutputKey = '', OutputValue }) => [OutputKey, OutputValue])),
    );
  }

  async #describe(): Promise<Stack> {
    const { Stacks: [stack] = [] } = await this.#cloudFormation.send(
      new DescribeStacksCommand({ StackName: this.#stack }),
    );
    if (stack === undefined) throw new Error('There is no stack.');
    return stack;
  }

  /** By its id, the stack is found even after its deletion. */
  async stackId(): Promise<string> {
    const { StackId } = await this.#describe();
    if (StackId === undefined) throw new Error('The stack has no id.');
    return StackId;
  }

  /** The logical ids of what a deleted stack has kept, and of what it has removed. */
  async deletion(stackId: string): Promise<{ kept: string[]; removed: string[] }> {
    const ended = new Map<string | undefined, Set<string>>();
    for await (const { StackEvents = [] } of paginateDescribeStackEvents(
      { client: this.#cloudFormation },
      { StackName: stackId },
    )) {
      for (const { LogicalResourceId = '', PhysicalResourceId, ResourceStatus } of StackEvents) {
        // The stack itself is not one of its resources.
        if (PhysicalResourceId === stackId) continue;
        ended.set(ResourceStatus, (ended.get(ResourceStatus) ?? new Set()).add(LogicalResourceId));
      }
    }
    const idsOf = (status: string): string[] => [...(ended.get(status) ?? [])].sort();
    return { kept: idsOf('DELETE_SKIPPED'), removed: idsOf('DELETE_COMPLETE') };
  }

  async endTerminationProtection(): Promise<void> {
    await this.#cloudFormation.send(
      new UpdateTerminationProtectionCommand({ StackName: this.#stack, EnableTerminationProtection: false }),
    );
  }

  /** The table's id, which a new table of the same name would not have. */
  async tableId(TableName: string): Promise<string> {
    const { Table } = await this.#tables.send(new DescribeTableCommand({ TableName }));
    if (Table?.TableId === undefined) throw new Error('The table has no id.');
    return Table.TableId;
  }

  /** The keys of all items, in their order. */
  async itemKeys(TableName: string): Promise<string[]> {
    const keys: string[] = [];
    for await (const { Items = [] } of paginateScan(
      { client: this.#tables },
      { TableName, ProjectionExpression: 'pk, sk', ConsistentRead: true },
    )) {
      keys.push(...Items.map(({ pk, sk }) => `${pk?.S} ${sk?.S}`));
    }
    return keys.sort();
  }

  /** The names of all objects of a bucket. */
  async objects(Bucket: string): Promise<string[]> {
    const { Contents = [] } = await this.#buckets.send(new ListObjectsV2Command({ Bucket }));
    return Contents.map(({ Key = '' }) => Key).sort();
  }

  async secret(SecretId: string): Promise<string | undefined> {
    return (await this.#secrets.send(new GetSecretValueCommand({ SecretId }))).SecretString;
  }

  /** The URLs of all queues. */
  async queues(): Promise<string[]> {
    return (await this.#queues.send(new ListQueuesCommand())).QueueUrls ?? [];
  }

  /** The environments of all functions, by their names. */
  async functions(): Promise<Map<string, Record<string, string>>> {
    const { Functions } = v.parse(functions, await this.#get('lambda', '/2015-03-31/functions/?MaxItems=1000'));
    return new Map(Functions.map(({ FunctionName, Environment }) => [FunctionName, Environment?.Variables ?? {}]));
  }

  /** The names of all HTTP APIs. */
  async apis(): Promise<string[]> {
    return v.parse(apis, await this.#get('apigateway', '/v2/apis')).items.map(({ name }) => name);
  }

  /** Reads from a service without a client among our dependencies. The emulator reads the credential, but no signature. */
  async #get(service: string, path: string): Promise<unknown> {
    const credential = `test/20260101/${this.#region}/${service}/aws4_request`;
    const response = await fetch(`${this.#endpoint}${path}`, {
      headers: { authorization: `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=host, Signature=0` },
    });
    if (!response.ok) throw new Error(`${service} returned ${response.status}.`);
    return response.json();
  }
}
