/** The outputs of a deployed stack, which CloudFormation knows by the stack's name. */
import type { CloudFormationClient, StackResourceSummary } from '@aws-sdk/client-cloudformation';
import * as v from 'valibot';
import { UserError } from './queries/accounts-admin.ts';
import { ATTEMPTS } from './terminal/retries.ts';

/** The outputs that commands use, by their names in `infra/stack.ts`. */
const outputs = v.object({
  TableName: v.string(),
  BaseUrl: v.string(),
  BridgeUrl: v.string(),
  HashSecretName: v.string(),
  AppNetworkSecret: v.string(),
  CounterRetention: v.pipe(v.string(), v.digits()),
});

/** The table's name, the secret of hashes, the URLs of both hosts, and the retention of job counters in days. */
interface StackOutputs {
  table: string;
  hashSecret: string;
  /** The ARN of the secret with the app network's URL and signing secret. */
  appNetworkSecret: string;
  base: string;
  bridge: string;
  counterRetention: string;
  /** The ARN of the stack, with the AWS account and the region; undefined if CloudFormation does not tell. */
  arn: string | undefined;
}

/**
 * Reads the outputs of a stack.
 *
 * @throws UserError — there is no such stack, it is none of the Business API, or the credentials may not read it
 */
export const readStackOutputs = async (name: string): Promise<StackOutputs> => {
  const { arn, status, values } = await requireStack(name);
  if (status === DELETE_FAILED) throw new UserError(`${DELETE_FAILED_CAUSE} ${remedyForDeletion(name, values)}`);
  const { success, output } = v.safeParse(outputs, values);
  if (!success) {
    throw new UserError(
      `The stack "${name}" lacks the outputs ${missingOutputs(values).join(', ')}. It is not a stack of the Business API, or its deployment has failed: its status is ${status}. Deploy it again, or name the table with --table.`,
    );
  }
  return {
    table: output.TableName,
    hashSecret: output.HashSecretName,
    appNetworkSecret: output.AppNetworkSecret,
    base: output.BaseUrl,
    bridge: output.BridgeUrl,
    counterRetention: output.CounterRetention,
    arn,
  };
};

/** A stack, as CloudFormation describes it. */
export interface Described {
  arn: string | undefined;
  status: string;
  /** The values of the outputs, by name. */
  values: Record<string, string | undefined>;
}

/** The outputs that commands use and a stack lacks. */
export const missingOutputs = (values: Described['values']): string[] => {
  const { issues = [] } = v.safeParse(outputs, values);
  return [...new Set(issues.flatMap((issue) => v.getDotPath(issue) ?? []))];
};

/** The status of a stack whose deletion has failed. */
export const DELETE_FAILED = 'DELETE_FAILED';

export const DELETE_FAILED_CAUSE =
  'The deletion of the stack has failed: usually because of "The bucket you tried to delete is not empty".';

/** What to do about a failed deletion, as a sentence. The bucket has no versions, so that this removes all that it has. */
export const remedyForDeletion = (name: string, { MediaBucketName = 'BUCKET' }: Described['values']): string =>
  `Empty the bucket with "aws s3 rm s3://${MediaBucketName} --recursive", then delete the stack with "aws cloudformation delete-stack --stack-name ${name}".`;

/** A client of CloudFormation. Loaded only here: other commands start faster without it. */
export const cloudFormation = async (): Promise<CloudFormationClient> => {
  const { CloudFormationClient } = await import('@aws-sdk/client-cloudformation');
  return new CloudFormationClient({ maxAttempts: ATTEMPTS });
};

/**
 * A stack in CloudFormation.
 *
 * @throws the SDK's error; `ValidationError` if there is no such stack
 */
export const describeStack = async (client: CloudFormationClient, name: string): Promise<Described> => {
  const { DescribeStacksCommand } = await import('@aws-sdk/client-cloudformation');
  const { Stacks: [stack] = [] } = await client.send(new DescribeStacksCommand({ StackName: name }));
  const values = Object.fromEntries(
    (stack?.Outputs ?? []).flatMap(({ OutputKey, OutputValue }) => (OutputKey ? [[OutputKey, OutputValue]] : [])),
  );
  return { arn: stack?.StackId, status: stack?.StackStatus ?? 'unknown', values };
};

const requireStack = async (name: string): Promise<Described> => {
  const client = await cloudFormation();
  try {
    return await describeStack(client, name);
  } catch (error) {
    const reason = error instanceof Error ? REASONS[error.name] : undefined;
    throw reason === undefined ? error : new UserError(reason(name, await client.config.region()));
  } finally {
    client.destroy();
  }
};

/** Messages by the error's name. CloudFormation returns `ValidationError` if there is no such stack. */
const REASONS: Record<string, (name: string, region: string) => string> = {
  ValidationError: (name, region) =>
    `There is no stack "${name}" in the region ${region} of this AWS account. Check the name, AWS_REGION and AWS_PROFILE.`,
  AccessDenied: (name) => `These credentials may not describe the stack "${name}" (cloudformation:DescribeStacks).`,
};

/**
 * The resources of a stack.
 *
 * @throws UserError — the credentials may not list them
 */
export const resourcesOf = async (stack: string): Promise<StackResourceSummary[]> => {
  const { paginateListStackResources } = await import('@aws-sdk/client-cloudformation');
  const client = await cloudFormation();
  const found: StackResourceSummary[] = [];
  try {
    for await (const page of paginateListStackResources({ client }, { StackName: stack })) {
      found.push(...(page.StackResourceSummaries ?? []));
    }
    return found;
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'AccessDenied') throw error;
    throw new UserError(
      `These credentials may not list the resources of the stack "${stack}" (cloudformation:ListStackResources).`,
    );
  } finally {
    client.destroy();
  }
};
