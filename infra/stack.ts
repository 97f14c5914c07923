/** The stack: two hosts, one function per endpoint, one table, and the workers. */
import { Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as InvokeFunction } from 'aws-cdk-lib/aws-events-targets';
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type IFunction, RecursiveLoop, SystemLogLevel } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import {
  ArnFormat,
  CfnOutput,
  CfnRule,
  Duration,
  Fn,
  RemovalPolicy,
  Stack,
  type StackProps,
  Validations,
} from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { accessOf, type Endpoint } from '../shared/api/endpoint.ts';
import { api, type EndpointName } from '../shared/api/index.ts';
import { eraseSteps, sweepSteps, type Worker, workers } from '../shared/api/workers.ts';
import { batchKey } from '../shared/campaigns/entities.ts';
import { entryKey, messageKey } from '../shared/outbox/entities.ts';
import { answersOf } from '../shared/profilers/entities.ts';
import type { Bundles } from './bundle/bundle.ts';
import { Alarms } from './constructs/alarms.ts';
import { BusinessTable, existingTable, type ServiceTable } from './constructs/business-table.ts';
import { ServiceDashboard, type Watched } from './constructs/dashboard.ts';
import { feedFromQueue, feedFromStream } from './constructs/event-sources.ts';
import {
  ServiceFunction,
  type ServiceFunctionProps,
  type SharedFunctionProps,
} from './constructs/function/service-function.ts';
import { HttpHost } from './constructs/http-host.ts';
import { MediaBucket } from './constructs/media-bucket.ts';
import { AlarmTopic, MonthlyBudget } from './constructs/notifications.ts';
import { SavedQueries } from './constructs/saved-queries.ts';
import { ServiceMetrics } from './constructs/service-metrics.ts';
import { DeadLetters, FailedBatches, TlsOnly, WakeUpQueue } from './constructs/wake-up-queue.ts';
import { batchesOfShard, expandWorkers, type Settings, waitsInAll } from './settings.ts';

interface BusinessApiProps extends StackProps {
  settings: Settings;
  bundles: Bundles;
}

/** Timeout of an endpoint's function, in seconds. Most return in milliseconds; the timeout allows for a slow table. */
const ENDPOINT_TIMEOUT = 10;

/**
 * How workers read the table's stream and the queue of wake-ups. `relay` sends ten records in a call. `count` marks ninety
 * entries, and writes their counters in a transaction. It waits a second for them, so that counters take few writes: one a second from
 * each worker. `deliver` mostly waits for responses, so it handles ten wake-ups at the same time, as many as SQS gives at once.
 */
const BATCHES = { relay: { batchSize: 100 }, count: { batchSize: 90, window: 1 }, deliver: { batchSize: 10 } };

/** The prefixes of the keys of a batch of messages. */
const newBatch = { pk: batchKey('', '').pk.slice(0, -1), sk: batchKey('', '').sk };

/**
 * Regions in which DynamoDB, SQS, Secrets Manager and S3 all have hosts that FIPS 140 validates ("FIPS Endpoints by Service",
 * AWS compliance).
 */
const FIPS_REGIONS = ['us-east-1', 'us-east-2', 'us-west-1', 'us-west-2', 'us-gov-east-1', 'us-gov-west-1'];

export class BusinessApiStack extends Stack {
  constructor(scope: Construct, id: string, { settings, bundles, ...props }: BusinessApiProps) {
    const retain = settings.removalPolicy === 'retain';
    const tags = { service: 'business-api', stage: settings.stage, ...settings.tags };
    super(scope, id, { ...props, tags, terminationProtection: retain });
    const metrics = new ServiceMetrics(settings.stage);
    if (settings.fips) this.#requireFipsRegion();

    const { existingTable: name, existingTableStream: stream, warmWriteUnits, warmReadUnits } = settings;
    const table: ServiceTable =
      name === undefined || stream === undefined
        ? new BusinessTable(this, 'Table', { retain, tags, warmWriteUnits, warmReadUnits })
        : existingTable(this, 'ExistingTable', { name, stream });
    const media = new MediaBucket(this, 'Media', { retain });

    const hashSecret = new Secret(this, 'HashSecret', {
      description:
        'The key of all hashes of personal data in the table. Never change it: the table would not find its items.',
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
      removalPolicy: retain ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    Validations.of(hashSecret).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason: 'Keys of the table are made with the secret, so it cannot be rotated without a migration of the table.',
    });

    const logGroupOf = (what: string): LogGroup =>
      new LogGroup(this, `${pascal(what)}Logs`, {
        logGroupName: `/business-api/${settings.stage}/${what}`,
        retention: settings.logRetention,
        removalPolicy: RemovalPolicy.DESTROY,
      });
    const accessLogs = logGroupOf('access');
    const logGroup = logGroupOf('functions');

    const caller = this.#caller();
    const throttle = { rateLimit: settings.throttleRate, burstLimit: settings.throttleBurst };
    const hosts = {
      base: new HttpHost(this, 'Base', {
        name: `business-api-${settings.stage}`,
        description: 'Business API',
        domain: domainOf(settings.baseDomain, settings.baseCertificate),
        throttle,
        accessLogs,
        caller,
      }),
      bridge: new HttpHost(this, 'Bridge', {
        name: `business-api-${settings.stage}-bridge`,
        description: 'Messaging bridge of the Business API',
        domain: domainOf(settings.bridgeDomain, settings.bridgeCertificate),
        throttle,
        accessLogs,
        caller,
      }),
    };

    const sharedProps: SharedFunctionProps = {
      table,
      logGroup,
      systemLogLevel: SystemLogLevel[settings.systemLogLevel],
      sourceMaps: settings.bundling === 'mapped',
      environment: {
        BASE_URL: hosts.base.url,
        BRIDGE_URL: hosts.bridge.url,
        JID_DOMAIN: settings.jidDomain,
        MESSAGE_RETENTION: String(settings.messageRetention),
        REQUEST_RETENTION: String(settings.requestRetention),
        COUNTER_RETENTION: String(settings.counterRetention),
        APPROVE_NAMES: String(settings.approveNames),
        WAITS_PER_ACCOUNT: String(settings.waitsPerAccount),
        WAITS_IN_ALL: String(waitsInAll(settings)),
        CAMPAIGN_RATE: String(settings.campaignRate),
        CONTACT_ALLOWANCE: String(settings.contactAllowance),
        AUDIENCE_ALLOWANCE: String(settings.audienceAllowance),
        METRICS_NAMESPACE: metrics.namespace,
        ...(settings.logSampling > 1 && { LOG_SAMPLING: String(settings.logSampling) }),
        ...(settings.fips && { AWS_USE_FIPS_ENDPOINT: 'true' }),
        ...(Object.keys(settings.moreProperties).length > 0 && {
          MORE_PROPERTIES: JSON.stringify(settings.moreProperties),
        }),
      },
    };

    /**
     * @param environment - its variables besides those of all functions
     * @param special - what differs from all other functions
     */
    const worker = (
      name: keyof typeof workers,
      environment: Record<string, string> = {},
      special: Pick<ServiceFunctionProps, 'memory' | 'recursiveLoop'> = {},
    ): ServiceFunction => {
      const { summary, timeout, table: access, hashes }: Worker = workers[name];
      return new ServiceFunction(this, pascal(name), {
        ...sharedProps,
        environment: { ...sharedProps.environment, ...environment },
        hashSecret: hashes && hashSecret.secretArn,
        description: summary,
        bundle: bundles[name],
        access,
        timeout,
        ...special,
      });
    };

    const authorizer = worker('authorizer', {
      ACCOUNT_RATE: String(settings.accountRate),
      ACCOUNT_BURST: String(settings.accountBurst),
    });
    for (const host of Object.values(hosts)) host.authorizeWith(authorizer.function);

    const deadLetters = new DeadLetters(this, 'DeadLetters');
    const wakeUps = new WakeUpQueue(this, 'WakeUps', { visibility: 6 * workers.deliver.timeout, deadLetters });
    const expansions = new WakeUpQueue(this, 'Expansions', { visibility: 2 * workers.expand.timeout, deadLetters });
    const failures = new FailedBatches(this, 'FailedBatches');
    new TlsOnly(this, 'TlsOnly', [wakeUps, expansions, deadLetters, failures]);

    const reserved: IFunction[] = [];
    for (const [name, endpoint] of endpoints()) {
      const concurrency = name === 'fetchUserData' ? settings.fetchConcurrency : undefined;
      const served = new ServiceFunction(this, pascal(name), {
        ...sharedProps,
        environment: {
          ...sharedProps.environment,
          ...(endpoint.bucket && { MEDIA_BUCKET: media.bucketName, URL_SUFFIX: this.urlSuffix }),
          ...(endpoint.wakes && { QUEUE_URL: wakeUps.queueUrl }),
        },
        hashSecret: endpoint.hashes && hashSecret.secretArn,
        description: endpoint.summary,
        bundle: bundles[name],
        access: accessOf(endpoint),
        timeout: endpoint.timeout ?? ENDPOINT_TIMEOUT,
        concurrency,
      });
      if (concurrency !== undefined) reserved.push(served.function);
      if (endpoint.bucket) media.allow(served, endpoint.bucket);
      if (endpoint.wakes) served.allow(['sqs:SendMessage'], wakeUps.queueArn);
      for (const route of [...endpoint.routes, ...(endpoint.catchAll ?? [])]) {
        hosts[route.host].serve(route, endpoint, served.function);
      }
    }

    const waking = { QUEUE_URL: wakeUps.queueUrl, EXPANSION_QUEUE_URL: expansions.queueUrl };

    // Small accounts have too few executions for several workers of a shard.
    const parallelization = batchesOfShard(settings.accountConcurrency);
    const relay = worker('relay', waking);
    feedFromStream(relay, table, {
      ...BATCHES.relay,
      keys: [entryKey('', ''), newBatch],
      parallelization,
      failures,
    });

    const count = worker('count');
    feedFromStream(count, table, {
      ...BATCHES.count,
      keys: [{ pk: messageKey('').pk }, { pk: answersOf('') }],
      // Also changed ones: an expired entry that the table still has is overwritten by a new one.
      whileFalse: 'counted',
      parallelization,
      failures,
    });

    const appNetwork = new Secret(this, 'AppNetwork', {
      description: 'Address and signing secret of the app network: {"url": "https://…", "secret": "whsec_…"}',
      removalPolicy: retain ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    Validations.of(appNetwork).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason:
        'The app network must change the secret at the same time, so it is rotated by hand, with overlapping secrets.',
    });
    const deliver = worker(
      'deliver',
      { QUEUE_URL: wakeUps.queueUrl, APP_NETWORK_SECRET: appNetwork.secretArn },
      {
        // When time runs out before a conversation is empty, it sends a wake-up to its own queue. By default, Lambda stops
        // such a chain after about 16 invocations, which are about 250 slow entries. This chain ends by itself: the worker
        // sends no further wake-up if no entry left the outbox.
        recursiveLoop: RecursiveLoop.ALLOW,
      },
    );
    deliver.allow(['secretsmanager:GetSecretValue'], appNetwork.secretArn);
    feedFromQueue(deliver, wakeUps, { ...BATCHES.deliver, maxConcurrency: settings.deliverConcurrency });

    const bound = String(Math.max(Math.floor(settings.deliverConcurrency / 8), 1));
    const expand = worker(
      'expand',
      { ...waking, DELIVERY_QUEUE_BOUND: bound },
      {
        // When its time is over before all batches of an account are expanded, it sends a wake-up to its own queue.
        recursiveLoop: RecursiveLoop.ALLOW,
      },
    );
    // Each worker expands the batches of one account.
    feedFromQueue(expand, expansions, {
      batchSize: 1,
      maxConcurrency: expandWorkers(settings.accountConcurrency),
    });

    const sweep = worker('sweep', waking);
    for (const waker of [relay, deliver, expand, sweep]) waker.allow(['sqs:SendMessage'], wakeUps.queueArn);
    // They send fewer wake-ups while many wait.
    for (const waker of [expand, sweep]) waker.allow(['sqs:GetQueueAttributes'], wakeUps.queueArn);
    for (const waker of [relay, expand, sweep]) waker.allow(['sqs:SendMessage'], expansions.queueArn);
    // A whole processor (Lambda developer guide, "Configure memory"): half of an erasure's time is calculation, which
    // takes 3.5 times as long with 512 MB.
    const erase = worker('erase', {}, { memory: 1_769 });
    // A run that fails or comes late is not repeated, because the next minute takes up the same work. By default, Lambda
    // repeats an event twice after an error, and for six hours while the function is throttled.
    for (const one of [sweep, erase]) {
      one.function.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.minutes(1) });
    }
    const eachMinute = (target: ServiceFunction, steps: readonly string[]): void => {
      // EventBridge allows five targets for a rule ("Targets per rule", Amazon EventBridge quotas).
      new Rule(target, 'EachMinute', {
        schedule: Schedule.rate(Duration.minutes(1)),
        targets: steps.map(
          (step) =>
            new InvokeFunction(target.function, { retryAttempts: 0, event: RuleTargetInput.fromObject({ step }) }),
        ),
      });
    };
    eachMinute(sweep, sweepSteps);
    eachMinute(erase, eraseSteps);

    const watched: Watched = {
      hosts: Object.entries(hosts).map(([name, { api }]) => ({ name, api })),
      functions: {
        authorizer: authorizer.function,
        relay: relay.function,
        count: count.function,
        expand: expand.function,
        deliver: deliver.function,
        sweep: sweep.function,
        erase: erase.function,
      },
      reserved,
      queues: { wakeUps, expansions, deadLetters, failedBatches: failures },
      table,
    };
    const alarms = new Alarms(this, 'Alarms', metrics, watched, {
      topics: this.#alarmTopics(settings),
      baseUrl: hosts.base.url,
      age: settings.alarmAge,
      latency: settings.alarmLatency,
      accountConcurrency: settings.accountConcurrency,
    });
    new ServiceDashboard(this, 'Dashboard', { ...watched, metrics, alarms: alarms.all });
    new SavedQueries(this, 'SavedQueries', {
      stage: settings.stage,
      logGroups: [accessLogs, logGroup],
    });

    new CfnOutput(this, 'BaseUrl', { value: hosts.base.url });
    new CfnOutput(this, 'BridgeUrl', { value: hosts.bridge.url });
    new CfnOutput(this, 'TableName', { value: table.tableName });
    new CfnOutput(this, 'MediaBucketName', { value: media.bucketName });
    new CfnOutput(this, 'AppNetworkSecret', { value: appNetwork.secretArn });
    new CfnOutput(this, 'HashSecretName', { value: hashSecret.secretArn });
    // For the operator's command, which finds all that it needs by the stack's name.
    new CfnOutput(this, 'CounterRetention', { value: String(settings.counterRetention) });
  }

  /** Fails a deployment to a region without these hosts, before it changes anything. */
  #requireFipsRegion(): void {
    new CfnRule(this, 'FipsRegion', {
      assertions: [
        {
          assert: Fn.conditionContains(FIPS_REGIONS, this.region),
          assertDescription: `The setting fips requires one of the regions ${FIPS_REGIONS.join(', ')}.`,
        },
      ],
    });
  }

  /** The role with which API Gateway calls functions: all of this stack, by their names, and nothing else. */
  #caller(): Role {
    const functions = this.formatArn({
      service: 'lambda',
      resource: 'function',
      resourceName: `${this.stackName}-*`,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    const role = new Role(this, 'Caller', {
      assumedBy: new ServicePrincipal('apigateway.amazonaws.com'),
      inlinePolicies: {
        Rights: new PolicyDocument({
          statements: [new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [functions] })],
        }),
      },
    });
    Validations.of(role).acknowledge({
      id: `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:lambda:<AWS::Region>:<AWS::AccountId>:function:${this.stackName}-*]`,
      reason: 'The functions of this stack. Their ARNs, one by one, would exceed the size of a policy.',
    });
    return role;
  }

  /** The topics that alarms are sent to: one with a subscriber of its own, and one that exists. */
  #alarmTopics({ stage, alarmEmail, alarmTopic, monthlyBudget }: Settings): ITopic[] {
    const topics: ITopic[] = [];
    if (alarmEmail !== undefined) {
      const topic = new AlarmTopic(this, 'AlarmTopic', { email: alarmEmail, displayName: `Business API, ${stage}` });
      new CfnOutput(this, 'AlarmTopicArn', { value: topic.topicArn });
      topics.push(topic);
      if (monthlyBudget !== undefined) {
        new MonthlyBudget(this, 'MonthlyBudget', { amount: monthlyBudget, email: alarmEmail });
      }
    }
    if (alarmTopic !== undefined) topics.push(Topic.fromTopicArn(this, 'ExistingAlarmTopic', alarmTopic));
    return topics;
  }
}

const endpoints = (): [EndpointName, Endpoint][] => Object.entries(api) as [EndpointName, Endpoint][];

const pascal = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

const domainOf = (name: string | undefined, certificate: string | undefined) =>
  name === undefined || certificate === undefined ? undefined : { name, certificate };
