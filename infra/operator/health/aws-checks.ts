/** The checks of `operator doctor` in AWS: those of the account, before and after a deployment, and those of a stack. */
import { lookup } from 'node:dns/promises';
import type { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import * as v from 'valibot';
import { isAppNetworkSetUp } from '../../../shared/destinations/app-network.ts';
import { executionsOf, type Settings } from '../../settings.ts';
import { settingsFrom } from '../../stages.ts';
import { count, minute } from '../output.ts';
import {
  cloudFormation,
  DELETE_FAILED,
  DELETE_FAILED_CAUSE,
  type Described,
  describeStack,
  missingOutputs,
  remedyForDeletion,
} from '../stack-outputs.ts';
import { stageOf } from '../target.ts';
import { ATTEMPTS } from '../terminal/retries.ts';
import { callAws, clockDifference, elementsIn } from './aws.ts';
import { attention, type Check, check, type Finding, failed, ok } from './check.ts';

/** Milliseconds by which the time of a signed request may differ from AWS's ("Elements of a request signature", IAM). */
const MOST_SKEW = 300_000;

/**
 * The parameter of CDK's bootstrap stack with its version, and the version that the rule `CheckBootstrapVersion` of the
 * template requires.
 *
 * @internal A test compares it with the template.
 */
export const BOOTSTRAP = { parameter: '/cdk-bootstrap/hnb659fds/version', version: 6 };

type Config = CloudFormationClient['config'];

/** Makes the checks of an AWS account and of a stack, one after the other. */
export async function* checksInAws(stack: string): AsyncGenerator<Check> {
  const client = await cloudFormation();
  const { config } = client;
  try {
    const region = await check('Region', undefined, async () => ok(await config.region()));
    yield region;
    if (region.result === 'failed') return;
    yield check('Clock', undefined, async () => clock(await clockDifference(region.detail)));
    const caller = await check('Credentials', undefined, () => identity(config));
    yield caller;
    if (caller.result === 'failed') return;
    const { settings, ...found } = settingsOf(stack);
    yield { name: 'Settings', ...found };
    yield check('CDK bootstrap', 'ssm:GetParameter', () => bootstrap(config));
    yield check('Concurrency', 'lambda:GetAccountSettings', () => concurrency(config, settings));
    yield* checksOfStack(client, stack, settings);
  } finally {
    client.destroy();
  }
}

const clock = (difference: number): Finding => {
  if (Number.isNaN(difference)) return attention('not checked: the response of AWS has no time');
  const detail = `${count(Math.round(Math.abs(difference) / 1000))} s ${difference > 0 ? 'behind' : 'ahead of'} AWS`;
  if (Math.abs(difference) <= MOST_SKEW) return ok(detail);
  return failed(
    detail,
    'Set the clock of this machine, because AWS rejects requests that differ by more than 5 minutes.',
  );
};

const identity = async (config: Config): Promise<Finding> => {
  const form = { Action: 'GetCallerIdentity', Version: '2011-06-15' };
  const [arn = 'of an unknown caller'] = elementsIn(await callAws(config, { service: 'sts', form }), 'Arn');
  const { expiration } = await config.credentials();
  return ok(expiration === undefined ? arn : `${arn}, until ${minute(expiration.toISOString())}`);
};

/** The settings of a stack's stage, unless it has none. */
const settingsOf = (stack: string): Finding & { settings?: Settings } => {
  const stage = stageOf(stack);
  if (stage === undefined) return attention('not checked: the stack is not named business-api-STAGE');
  try {
    return {
      ...ok(`infra/stages/${stage}.json`),
      settings: settingsFrom((name) => (name === 'stage' ? stage : undefined)),
    };
  } catch (error) {
    // The message names the file and each wrong setting.
    return failed(
      error instanceof Error ? error.message : String(error),
      `Write valid settings to infra/stages/${stage}.json.`,
    );
  }
};

const parameter = v.object({ Parameter: v.object({ Value: v.pipe(v.string(), v.digits(), v.transform(Number)) }) });

const bootstrap = async (config: Config): Promise<Finding> => {
  const input = { Name: BOOTSTRAP.parameter };
  const target = 'AmazonSSM.GetParameter';
  const fix = 'Run "npx cdk bootstrap".';
  try {
    const text = await callAws(config, { service: 'ssm', target, version: '1.1', input });
    const { Value: version } = v.parse(parameter, JSON.parse(text)).Parameter;
    return version < BOOTSTRAP.version
      ? failed(`version ${version}, and the stack needs ${BOOTSTRAP.version}`, fix)
      : ok(`version ${version}`);
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'ParameterNotFound') throw error;
    return failed('This AWS account and region are not prepared for CDK', fix);
  }
};

const accountSettings = v.object({ AccountLimit: v.object({ ConcurrentExecutions: v.number() }) });

/** Compares Lambda's quota with the settings. Without settings, tells the quota only. */
const concurrency = async (config: Config, settings: Settings | undefined): Promise<Finding> => {
  const text = await callAws(config, { service: 'lambda', path: '/2016-08-19/account-settings' });
  const { ConcurrentExecutions: quota } = v.parse(accountSettings, JSON.parse(text)).AccountLimit;
  if (settings === undefined) return ok(`${count(quota)} executions`);
  const { accountConcurrency: set, stage } = settings;
  const file = `infra/stages/${stage}.json`;
  if (set > quota) {
    return failed(
      `Lambda allows ${count(quota)} executions, and accountConcurrency is ${count(set)}`,
      `Ask for a higher quota "Concurrent executions" in Service Quotas, or set "accountConcurrency": ${quota} in ${file}.`,
    );
  }
  const { longPolls, deliver, others } = executionsOf(settings);
  const shares = `${count(set)} executions: long polls ${longPolls}, deliver ${deliver}, at least ${others} for requests`;
  if (set < quota) return attention(shares, `Set "accountConcurrency": ${quota} in ${file}: Lambda allows as many.`);
  return others === 0
    ? attention(
        shares,
        'Ask for a higher quota "Concurrent executions" in Service Quotas, because workers may take all.',
      )
    : ok(shares);
};

async function* checksOfStack(
  client: CloudFormationClient,
  name: string,
  settings: Settings | undefined,
): AsyncGenerator<Check> {
  let stack: Described | undefined;
  const found = await check('Stack', 'cloudformation:DescribeStacks', async () => {
    try {
      stack = await describeStack(client, name);
      return stackFinding(name, stack);
    } catch (error) {
      if (!(error instanceof Error) || error.name !== 'ValidationError') throw error;
      return attention(
        `${name} is not deployed: the checks of a stack were not made`,
        'Deploy it, if all else is well.',
      );
    }
  });
  yield found;
  if (stack === undefined || stack.status === DELETE_FAILED) return;
  const { values } = stack;
  const missing = missingOutputs(values);
  yield {
    name: 'Outputs',
    ...(missing.length > 0 ? failed(`${missing.join(', ')} missing`, 'Deploy the stack again.') : ok('complete')),
  };
  if (settings !== undefined) yield { name: 'Deployed settings', ...deployedSettings(values, settings) };
  const { AppNetworkSecret: secret, HashSecretName: hashSecret, AlarmTopicArn } = values;
  yield check('App network', 'secretsmanager:GetSecretValue', () => appNetwork(name, secret));
  if (hashSecret !== undefined) {
    yield check('Secret of hashes', 'secretsmanager:GetSecretValue', () => secretOfHashes(hashSecret));
  }
  for (const host of ['Base', 'Bridge'] as const) {
    const url = values[`${host}Url`];
    if (url !== undefined) yield resolves(url, domainTarget(values, host));
  }
  const topics = [AlarmTopicArn, settings?.alarmTopic].filter((topic) => topic !== undefined);
  if (topics.length === 0) {
    yield { name: 'Alarms', ...attention('notify nobody', 'Set alarmEmail or alarmTopic, and deploy the stack.') };
  }
  for (const topic of topics) {
    yield check('Alarms', 'sns:ListSubscriptionsByTopic', () => subscribers(client.config, topic));
  }
}

const stackFinding = (name: string, { status, values }: Described): Finding => {
  if (status === DELETE_FAILED) return failed(`${status}. ${DELETE_FAILED_CAUSE}`, remedyForDeletion(name, values));
  if (/IN_PROGRESS$/.test(status)) return attention(status, 'Run the command again when CloudFormation has finished.');
  if (status === 'UPDATE_ROLLBACK_COMPLETE') {
    return attention(
      status,
      'The last deployment failed and was undone: see the events of the stack, and deploy again.',
    );
  }
  if (/FAILED$|ROLLBACK/.test(status)) return failed(status, 'See the events of the stack, and deploy again.');
  return ok(status);
};

/** Compares the stage's file with what the outputs tell of the deployed settings. */
const deployedSettings = (values: Described['values'], settings: Settings): Finding => {
  const domainOf = (host: 'Base' | 'Bridge'): string | undefined => {
    const url = values[`${host}Url`];
    return url === undefined || domainTarget(values, host) === undefined ? undefined : new URL(url).hostname;
  };
  const deployed = {
    counterRetention: values.CounterRetention,
    baseDomain: domainOf('Base'),
    bridgeDomain: domainOf('Bridge'),
  };
  const { counterRetention, baseDomain, bridgeDomain } = settings;
  const inFile = { counterRetention: String(counterRetention), baseDomain, bridgeDomain };
  const names = Object.keys(deployed) as (keyof typeof deployed)[];
  const shownValues = names.map((name) => `${name} ${deployed[name] ?? 'none'}`).join(', ');
  const others = names.filter((name) => deployed[name] !== inFile[name]);
  if (others.length === 0) return ok(shownValues);
  const differences = others.map((name) => `${name}: ${inFile[name] ?? 'none'}`).join(', ');
  return attention(
    `${shownValues}; the file of the stage has ${differences}`,
    `Deploy the stack, or correct infra/stages/${settings.stage}.json.`,
  );
};

/** The name in API Gateway that the DNS record of a host's own domain points at; undefined without such a domain. */
const domainTarget = (values: Described['values'], host: 'Base' | 'Bridge'): string | undefined =>
  Object.entries(values).find(([output]) => output.startsWith(`${host}DomainTarget`))?.[1];

/** Reads the secret as the service does. Its value is never part of a finding. */
const appNetwork = async (stack: string, secret: string | undefined): Promise<Finding> => {
  if (secret === undefined) return failed('The output AppNetworkSecret is missing', 'Deploy the stack again.');
  process.env.APP_NETWORK_SECRET = secret;
  const isSetUp = await isAppNetworkSetUp().catch((error: unknown) => {
    // It has no value yet.
    if (error instanceof Error && error.name === 'ResourceNotFoundException') return false;
    throw error;
  });
  if (isSetUp) return ok('URL and secret are set');
  return failed(
    'The secret has no valid URL and signing secret: messages stay pending',
    `Run "npm run operator -- app-network set --url https://… --stack ${stack}".`,
  );
};

/** Whether the secret can be read and has a value, which is never part of a finding. */
const secretOfHashes = async (secret: string): Promise<Finding> => {
  const client = new SecretsManagerClient({ maxAttempts: ATTEMPTS });
  const fix = 'Never write another value: see "The secret of hashes" in infra/docs/operator.md.';
  try {
    const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: secret }));
    return SecretString ? ok('exists') : failed('It has no value', fix);
  } catch (error) {
    const code = error instanceof Error ? error.name : undefined;
    if (code === 'ResourceNotFoundException') return failed('It does not exist, or has no value', fix);
    // Secrets Manager's code for a secret that somebody has deleted, and that it keeps for 7 to 30 days.
    if (code !== 'InvalidRequestException') throw error;
    return failed(
      'It is marked for deletion',
      `Run "aws secretsmanager restore-secret --secret-id ${secret}" before Secrets Manager deletes it.`,
    );
  } finally {
    client.destroy();
  }
};

/**
 * Whether the host of a URL has a DNS record, and one with an address of its target. Needs attention otherwise: the host may
 * be behind a proxy.
 */
const resolves = (url: string, target: string | undefined): Promise<Check> => {
  const { hostname } = new URL(url);
  return check(hostname, undefined, async () => {
    const addresses = await addressesOf(hostname);
    if (addresses.length === 0) {
      return failed('does not resolve', 'Create its DNS record, with the target that the outputs of the stack name.');
    }
    if (target === undefined) return ok('resolves');
    const expected = await addressesOf(target);
    if (addresses.some((address) => expected.includes(address))) return ok(`resolves to ${target}`);
    return attention(
      `resolves, but not to ${target}`,
      'Point its DNS record at this name, unless a proxy of yours forwards requests to it.',
    );
  });
};

/** The IP addresses of a host; none if it has no DNS record. */
const addressesOf = async (hostname: string): Promise<string[]> => {
  try {
    return (await lookup(hostname, { all: true })).map(({ address }) => address);
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'ENOTFOUND') throw error;
    return [];
  }
};

/** Whether a topic has subscribers, all of which have confirmed. Of more than a hundred, the first hundred are looked at. */
const subscribers = async (config: Config, topic: string): Promise<Finding> => {
  const form = { Action: 'ListSubscriptionsByTopic', Version: '2010-03-31', TopicArn: topic };
  const all = elementsIn(await callAws(config, { service: 'sns', form }), 'SubscriptionArn');
  // SNS lists a subscription that was removed for a while.
  const arns = all.filter((arn) => arn !== 'Deleted');
  const pending = arns.filter((arn) => arn === 'PendingConfirmation').length;
  if (arns.length === 0) return failed('The topic has no subscriber', `Subscribe to ${topic}.`);
  return pending > 0
    ? failed(`${pending} of ${arns.length} subscriptions not confirmed`, 'Open the link in the email of AWS.')
    : ok(arns.length === 1 ? '1 subscription, confirmed' : `${arns.length} subscriptions, confirmed`);
};
