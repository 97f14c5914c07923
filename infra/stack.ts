/** The stack: two hosts, one function an endpoint, one table, and what runs beside them. */
import { CfnOutput, Duration, Stack, type StackProps } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as InvokeFunction } from 'aws-cdk-lib/aws-events-targets';
import type { Construct } from 'constructs';
import { api, type Endpoint, type EndpointName } from '../shared/api.ts';
import type { Bundles } from './bundle.ts';
import { BusinessTable } from './constructs/business-table.ts';
import { HttpHost } from './constructs/http-host.ts';
import { ServiceFunction, type Surroundings } from './constructs/service-function.ts';
import type { Settings } from './settings.ts';

interface BusinessApiProps extends StackProps {
  settings: Settings;
  bundles: Bundles;
}

/** Seconds that a function may take. Endpoints answer in milliseconds; the limit is for a table that does not. */
const TIMEOUT = { endpoint: 10, authorizer: 8, sweep: 55 };

export class BusinessApiStack extends Stack {
  constructor(scope: Construct, id: string, { settings, bundles, ...props }: BusinessApiProps) {
    super(scope, id, props);
    const retain = settings.removalPolicy === 'retain';
    const { logRetention } = settings;

    const table = new BusinessTable(this, 'Table', { retain });

    const throttle = { rateLimit: settings.throttleRate, burstLimit: settings.throttleBurst };
    const hosts = {
      base: new HttpHost(this, 'Base', {
        description: 'Business API',
        domain: domainOf(settings.baseDomain, settings.baseCertificate),
        throttle,
        logRetention,
      }),
      bridge: new HttpHost(this, 'Bridge', {
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
      environment: { BASE_URL: hosts.base.url, JID_DOMAIN: settings.jidDomain },
    };

    const authorizer = new ServiceFunction(this, 'Authorizer', {
      ...surroundings,
      description: 'Tells whose token a request carries',
      bundle: bundles.authorizer,
      access: ['findToken'],
      timeout: TIMEOUT.authorizer,
    });
    for (const host of Object.values(hosts)) host.authorizeWith(authorizer.function);

    for (const [name, endpoint] of endpoints()) {
      const served = new ServiceFunction(this, pascal(name), {
        ...surroundings,
        description: endpoint.summary,
        bundle: bundles[name],
        access: endpoint.table,
        timeout: TIMEOUT.endpoint,
      });
      for (const route of endpoint.routes) hosts[route.host].serve(route, endpoint.token, served.function);
    }

    const sweep = new ServiceFunction(this, 'Sweep', {
      ...surroundings,
      description: 'Takes up work that is due',
      bundle: bundles.sweep,
      access: ['listDueWork', 'listAnswers', 'removeAnswers', 'buryProfiler'],
      timeout: TIMEOUT.sweep,
    });
    new Rule(this, 'EachMinute', {
      schedule: Schedule.rate(Duration.minutes(1)),
      // A failed sweep is not repeated: the next minute takes up the same work.
      targets: [new InvokeFunction(sweep.function, { retryAttempts: 0 })],
    });

    new CfnOutput(this, 'BaseUrl', { value: hosts.base.url });
    new CfnOutput(this, 'BridgeUrl', { value: hosts.bridge.url });
    new CfnOutput(this, 'TableName', { value: table.tableName });
  }
}

const endpoints = (): [EndpointName, Endpoint][] => Object.entries(api) as [EndpointName, Endpoint][];

const pascal = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

const domainOf = (name: string | undefined, certificate: string | undefined) =>
  name === undefined || certificate === undefined ? undefined : { name, certificate };
