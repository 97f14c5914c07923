/** The outputs of a deployed stack, which CloudFormation knows by the stack's name. */
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
  const { arn, status, values } = await describe(name);
  const { success, output, issues = [] } = v.safeParse(outputs, values);
  if (!success) {
    const missing = [...new Set(issues.map((issue) => v.getDotPath(issue)))].join(', ');
    throw new UserError(
      `The stack "${name}" lacks the outputs ${missing}. It is not a stack of the Business API, or its deployment has failed: its status is ${status}. Deploy it again, or name the table with --table.`,
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

interface Described {
  arn: string | undefined;
  status: string;
  /** The values of the outputs, by name. */
  values: Record<string, string | undefined>;
}

const describe = async (name: string): Promise<Described> => {
  // Loaded only here: other commands start faster without this client.
  const { CloudFormationClient, DescribeStacksCommand } = await import('@aws-sdk/client-cloudformation');
  const client = new CloudFormationClient({ maxAttempts: ATTEMPTS });
  try {
    const { Stacks: [stack] = [] } = await client.send(new DescribeStacksCommand({ StackName: name }));
    const values = Object.fromEntries(
      (stack?.Outputs ?? []).flatMap(({ OutputKey, OutputValue }) => (OutputKey ? [[OutputKey, OutputValue]] : [])),
    );
    return { arn: stack?.StackId, status: stack?.StackStatus ?? 'unknown', values };
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
  InvalidClientTokenId: () =>
    'AWS rejects the credentials. Sign in to AWS again, or choose credentials with AWS_PROFILE.',
  SignatureDoesNotMatch: () =>
    'AWS rejects the credentials. Sign in to AWS again, or choose credentials with AWS_PROFILE.',
};
