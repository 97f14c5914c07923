/** The deployment that the command uses: a stack or a table in AWS, else the running local stack. */
import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import { readHashSecret } from '../../shared/core/hash-secret.ts';
import { documents } from '../../shared/table/client.ts';
import { callTableOf } from './local-stack/call-table.ts';
import { followClock } from './local-stack/follow-clock.ts';
import { findStack, SeveralStacks } from './local-stack/stack-file.ts';
import { printNote } from './output.ts';
import { UserError } from './queries/accounts-admin.ts';
import { readStackOutputs } from './stack-outputs.ts';

/** What commands know of the deployment besides its table. */
export interface Deployment {
  /** Where its functions run: in AWS, or on this machine. */
  runs: 'in AWS' | 'here';
  /** The name of its stack in AWS; undefined if only the table is named. */
  stack?: string;
  /** The deployment in words: each command prints them, so that nobody changes another one by mistake. */
  target: string;
  /** URLs of both hosts, without a slash at the end; undefined if only the table is named. */
  hosts?: { base: string; bridge: string };
  /** The ARN of the secret of the app network; undefined except for a stack in AWS. */
  appNetworkSecret?: string;
}

let current: Deployment | undefined;

/** The deployment of the command that runs. */
export const deployment = (): Deployment => {
  if (current === undefined) throw new Error('No deployment is chosen.');
  return current;
};

/**
 * Sets the deployment that this process uses, and prints it on stderr.
 *
 * @param named - a stack or a table in AWS; without either, the local stack. The SDK finds region and credentials as
 * usual
 * @throws UserError — the stack is not one of the Business API, or nothing is named and no local stack is running
 */
export const useDeployment = async (named: { stack?: string; table?: string }): Promise<void> => {
  current = await (named.stack ? useStack(named.stack) : named.table ? useTable(named.table) : useLocalStack());
  printNote(`target: ${current.target}`);
};

/** The name of a stage's stack begins with this. */
const STACK_PREFIX = 'business-api-';

/** The stage of a stack; undefined if it has another name. */
export const stageOf = (stack: string): string | undefined =>
  stack.startsWith(STACK_PREFIX) ? stack.slice(STACK_PREFIX.length) : undefined;

/** Sets a stack that may not exist yet, without reading its outputs. */
export const useNamedStack = (name: string): void => {
  current = { runs: 'in AWS', stack: name, target: `stack ${name}` };
  printNote(`target: ${current.target}`);
};

const useStack = async (name: string): Promise<Deployment> => {
  const { table, hashSecret, appNetworkSecret, base, bridge, counterRetention, arn } = await readStackOutputs(name);
  process.env.TABLE_NAME = table;
  process.env.COUNTER_RETENTION ??= counterRetention;
  await useHashSecret(hashSecret);
  const stage = stageOf(name);
  return {
    runs: 'in AWS',
    stack: name,
    target: [`stack ${name}`, ...(stage === undefined ? [] : [`stage ${stage}`]), ownerOf(arn)].join(', '),
    hosts: { base, bridge },
    appNetworkSecret,
  };
};

/** Reads the secret by which commands find a person's data. Without it, others still work. */
const useHashSecret = async (name: string): Promise<void> => {
  process.env.HASH_SECRET = name;
  await readHashSecret().catch(() => undefined);
};

const useTable = async (name: string): Promise<Deployment> => {
  process.env.TABLE_NAME = name;
  const { HASH_SECRET } = process.env;
  if (HASH_SECRET) await useHashSecret(HASH_SECRET);
  const place = process.env.AWS_ENDPOINT_URL_DYNAMODB || process.env.AWS_ENDPOINT_URL;
  return {
    runs: 'in AWS',
    target: [`table ${name}`, ownerOf(await arnOf(name)), ...(place ? [`at ${place}`] : [])].join(', '),
  };
};

/** The table's ARN; undefined if the credentials may not describe it. */
const arnOf = async (TableName: string): Promise<string | undefined> => {
  try {
    const { Table } = await documents.send(new DescribeTableCommand({ TableName }));
    return Table?.TableArn;
  } catch (error) {
    if (error instanceof Error && error.name === 'AccessDeniedException') return undefined;
    throw error;
  }
};

/** The AWS account and the region of an ARN (`arn:aws:SERVICE:REGION:ACCOUNT:…`), in words. */
const ownerOf = (arn: string | undefined): string => {
  const [, , , region, account] = arn?.split(':') ?? [];
  return region && account ? `account ${account}, region ${region}` : 'account unknown';
};

const useLocalStack = async (): Promise<Deployment> => {
  const stack = await findStack().catch((error: unknown) => {
    throw error instanceof SeveralStacks ? new UserError(error.message) : error;
  });
  if (stack === undefined) {
    const where = process.env.PORT ? ` on port ${process.env.PORT}` : '';
    throw new UserError(
      `No local stack is running${where}. Start it with "npm start", or name a stack in AWS with --stack and sign in to AWS.`,
    );
  }
  const { dynamodb_endpoint: dynamodbEndpoint, s3_endpoint: bucketsEndpoint, table } = stack;
  callTableOf({ dynamodbEndpoint, table, bucketsEndpoint });
  await followClock(stack.phone_url);
  return {
    runs: 'here',
    target: `local stack at ${stack.base_url}`,
    hosts: { base: stack.base_url, bridge: stack.bridge_url },
  };
};
