/** The stack: two hosts, one function per endpoint, one table, and the workers. */
import { CfnOutput, Duration, RemovalPolicy, Stack, type StackProps, Validations } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as InvokeFunction } from 'aws-cdk-lib/aws-events-targets';
import { RecursiveLoop } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import type { Endpoint } from '../shared/api/endpoint.ts';
import { api, type EndpointName } from '../shared/api/index.ts';
import { workers } from '../shared/api/workers.ts';
import { entryKey, messageKey } from '../shared/table/keys.ts';
import type { Bundles } from './bundle/bundle.ts';
import { Alarms } from './constructs/alarms.ts';
import { BusinessTable } from './constructs/business-table.ts';
import { ServiceDashboard, type Watched } from './constructs/dashboard.ts';
import { feedFromQueue, feedFromStream } from './constructs/event-sources.ts';
import { ServiceFunction, type Surroundings } from './constructs/function/service-function.ts';
import { HttpHost } from './constructs/http-host.ts';
import { MediaBucket } from './constructs/media-bucket.ts';
import { AlarmTopic, MonthlyBudget } from './constructs/notifications.ts';
import { SavedQueries } from './constructs/saved-queries.ts';
import { ServiceMetrics } from './constructs/service-metrics.ts';
import { FailedBatches, WakeUpQueue } from './constructs/wake-up-queue.ts';
import type { Settings } from './settings.ts';

interface BusinessApiProps extends StackProps {
  settings: Settings;
  bundles: Bundles;
}

/** Timeout of an endpoint's function, in seconds. Most return in milliseconds; the timeout allows for a slow table. */
const ENDPOINT_TIMEOUT = 10;

/** Maximum number of stream records per batch. `relay` sends ten in a call, `count` writes fifty in a transaction. */
const BATCH = 100;

export class BusinessApiStack extends Stack {
  constructor(scope: Construct, id: string, { settings, bundles, ...props }: BusinessApiProps) {
    const retain = settings.removalPolicy === 'retain';
    const tags = { service: 'business-api', stage: settings.stage, ...settings.tags };
    super(scope, id, { ...props, tags, terminationProtection: retain });
    const { logRetention } = settings;
    const metrics = new ServiceMetrics(settings.stage);

    const table = new BusinessTable(this, 'Table', { retain, tags, warmWriteUnits: settings.warmWriteUnits });
    const media = new MediaBucket(this, 'Media', { retain });

    const throttle = { rateLimit: settings.throttleRate, burstLimit: settings.throttleBurst };
    const hosts = {
      base: new HttpHost(this, 'Base', {
        name: `business-api-${settings.stage}`,
        description: 'Business API',
        domain: domainOf(settings.baseDomain, settings.baseCertificate),
        throttle,
        logRetention,
      }),
      bridge: new HttpHost(this, 'Bridge', {
        name: `business-api-${settings.stage}-bridge`,
        description: 'Messaging bridge of the Business API',
        domain: domainOf(settings.bridgeDomain, settings.bridgeCertificate),
        throttle,
        logRetention,
      }),
    };

    const surroundings: Surroundings = {
      table,
      logRetention,
      sourceMaps: settings.bundling === 'mapped',
      environment: {
        BASE_URL: hosts.base.url,
        BRIDGE_URL: hosts.bridge.url,
        JID_DOMAIN: settings.jidDomain,
        MESSAGE_RETENTION: String(settings.messageRetention),
        REQUEST_RETENTION: String(settings.requestRetention),
        COUNTER_RETENTION: String(settings.counterRetention),
        METRICS_NAMESPACE: metrics.namespace,
      },
    };

    const authorizer = new ServiceFunction(this, 'Authorizer', {
      ...surroundings,
      ...workerProps('authorizer', bundles),
    });
    for (const host of Object.values(hosts)) host.authorizeWith(authorizer.function);

    for (const [name, endpoint] of endpoints()) {
      const served = new ServiceFunction(this, pascal(name), {
        ...surroundings,
        ...(endpoint.bucket && {
          environment: { ...surroundings.environment, MEDIA_BUCKET: media.bucketName, URL_SUFFIX: this.urlSuffix },
        }),
        description: endpoint.summary,
        bundle: bundles[name],
        access: endpoint.table,
        timeout: endpoint.timeout ?? ENDPOINT_TIMEOUT,
        // Long polls must not use up the concurrency of the AWS account.
        concurrency: name === 'fetchUserData' ? settings.fetchConcurrency : undefined,
      });
      if (endpoint.bucket) media.allow(served, endpoint.bucket);
      for (const route of [...endpoint.routes, ...(endpoint.catchAll ?? [])]) {
        hosts[route.host].serve(route, endpoint.token, served.function);
      }
    }

    const wakeUps = new WakeUpQueue(this, 'WakeUps', { visibility: 6 * workers.deliver.timeout });
    const failures = new FailedBatches(this, 'FailedBatches');
    const waking = { ...surroundings.environment, QUEUE_URL: wakeUps.queue.queueUrl };

    const relay = new ServiceFunction(this, 'Relay', {
      ...surroundings,
      environment: waking,
      ...workerProps('relay', bundles),
    });
    feedFromStream(relay, table, { keys: entryKey('', ''), batchSize: BATCH, failures });

    const count = new ServiceFunction(this, 'Count', {
      ...surroundings,
      ...workerProps('count', bundles),
    });
    feedFromStream(count, table, {
      keys: { pk: messageKey('').pk },
      // An expired entry that the table still has is overwritten by a new one.
      changedWhileFalse: 'counted',
      batchSize: BATCH,
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
    const deliver = new ServiceFunction(this, 'Deliver', {
      ...surroundings,
      environment: { ...waking, APP_NETWORK_SECRET: appNetwork.secretArn },
      ...workerProps('deliver', bundles),
      // When time runs out before a conversation is empty, it sends a wake-up to its own queue. By default, Lambda stops
      // such a chain after about 16 invocations, which are about 250 slow entries. This chain ends by itself: the worker
      // sends no further wake-up if no entry left the outbox.
      recursiveLoop: RecursiveLoop.ALLOW,
    });
    deliver.allow(['secretsmanager:GetSecretValue'], appNetwork.secretArn);
    feedFromQueue(deliver, wakeUps.queue, settings.deliverConcurrency);

    const sweep = new ServiceFunction(this, 'Sweep', {
      ...surroundings,
      environment: waking,
      ...workerProps('sweep', bundles),
    });
    for (const waker of [relay, deliver, sweep]) waker.allow(['sqs:SendMessage'], wakeUps.queue.queueArn);
    const erase = new ServiceFunction(this, 'Erase', {
      ...surroundings,
      ...workerProps('erase', bundles),
    });
    // A run that fails or comes late is not repeated, because the next minute takes up the same work. By default, Lambda
    // repeats an event twice after an error, and for six hours while the function is throttled.
    for (const worker of [sweep, erase]) {
      worker.function.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.minutes(1) });
    }
    new Rule(this, 'EachMinute', {
      schedule: Schedule.rate(Duration.minutes(1)),
      targets: [sweep, erase].map((each) => new InvokeFunction(each.function, { retryAttempts: 0 })),
    });

    const watched: Watched = {
      hosts: Object.entries(hosts).map(([name, { api }]) => ({ name, api })),
      functions: {
        authorizer: authorizer.function,
        relay: relay.function,
        count: count.function,
        deliver: deliver.function,
        sweep: sweep.function,
        erase: erase.function,
      },
      allFunctions: this.node
        .findAll()
        .filter((construct) => construct instanceof ServiceFunction)
        .map((each) => each.function),
      queues: { wakeUps: wakeUps.queue, deadLetters: wakeUps.deadLetters, failedBatches: failures },
      table,
    };
    const alarms = new Alarms(this, 'Alarms', metrics, watched, {
      topics: this.#alarmTopics(settings),
      docsUrl: settings.docsUrl,
      age: settings.alarmAge,
      latency: settings.alarmLatency,
      accountConcurrency: settings.accountConcurrency,
    });
    new ServiceDashboard(this, 'Dashboard', { ...watched, metrics, alarms: alarms.all });
    new SavedQueries(this, 'SavedQueries', {
      stage: settings.stage,
      logGroups: this.node.findAll().filter((construct) => construct instanceof LogGroup),
    });

    new CfnOutput(this, 'BaseUrl', { value: hosts.base.url });
    new CfnOutput(this, 'BridgeUrl', { value: hosts.bridge.url });
    new CfnOutput(this, 'TableName', { value: table.tableName });
    new CfnOutput(this, 'MediaBucketName', { value: media.bucketName });
    new CfnOutput(this, 'AppNetworkSecret', { value: appNetwork.secretArn });
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

const workerProps = (name: keyof typeof workers, bundles: Bundles) => {
  const { summary, timeout, table } = workers[name];
  return { description: summary, bundle: bundles[name], access: table, timeout };
};

const pascal = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

const domainOf = (name: string | undefined, certificate: string | undefined) =>
  name === undefined || certificate === undefined ? undefined : { name, certificate };
