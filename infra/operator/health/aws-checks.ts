/** The checks of `operator doctor` in AWS: those of the account, before and after a deployment, and those of a stack. */
import { lookup } from 'node:dns/promises';
import type { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import * as v from 'valibot';
import { isAppNetworkSetUp } from '../../../shared/destinations/app-network.ts';
import { executionsOf, type Settings } from '../../settings.ts';
import { settingsFrom } from '../../stages.ts';
import { count } from '../output.ts';
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
  return ok(arn);
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
  const { AppNetworkSecret: secret, AlarmTopicArn } = values;
  yield check('App network', 'secretsmanager:GetSecretValue', () => appNetwork(secret));
  for (const url of [values.BaseUrl, values.BridgeUrl]) if (url !== undefined) yield resolves(url);
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

/** Reads the secret as the service does. Its value is never part of a finding. */
const appNetwork = async (secret: string | undefined): Promise<Finding> => {
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
    `Run aws secretsmanager put-secret-value --secret-id ${secret} --secret-string '{"url": "https://…", "secret": "whsec_…"}'.`,
  );
};

const resolves = (url: string): Promise<Check> => {
  const { hostname } = new URL(url);
  return check(hostname, undefined, async () => {
    try {
      await lookup(hostname);
      return ok('resolves');
    } catch (error) {
      if (!(error instanceof Error) || !('code' in error) || error.code !== 'ENOTFOUND') throw error;
      return failed('does not resolve', 'Create its DNS record, with the target that the outputs of the stack name.');
    }
  });
};

/** Whether a topic has subscribers, all of which have confirmed. Of more than a hundred, the first hundred are looked at. */
const subscribers = async (config: Config, topic: string): Promise<Finding> => {
  const form = { Action: 'ListSubscriptionsByTopic', Version: '2010-03-31', TopicArn: topic };
  const arns = elementsIn(await callAws(config, { service: 'sns', form }), 'SubscriptionArn');
  const pending = arns.filter((arn) => arn === 'PendingConfirmation').length;
  if (arns.length === 0) return failed('The topic has no subscriber', `Subscribe to ${topic}.`);
  return pending > 0
    ? failed(`${pending} of ${arns.length} subscriptions not confirmed`, 'Open the link in the email of AWS.')
    : ok(arns.length === 1 ? '1 subscription, confirmed' : `${arns.length} subscriptions, confirmed`);
};
