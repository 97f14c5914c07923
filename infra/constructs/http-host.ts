/** One of the two hosts: an HTTP API with access logs, throttling, authorizers, and perhaps a domain of its own. */
import { CfnOutput, Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import {
  ApiMapping,
  DomainName,
  HttpApi,
  HttpMethod,
  HttpStage,
  type IHttpRouteAuthorizer,
  LogGroupLogDestination,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaAuthorizer, HttpLambdaResponseType } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Endpoint } from '../../shared/api/endpoint.ts';
import { REST_OF_PATH } from '../../shared/http/middleware/exact-path.ts';

interface HttpHostProps {
  description: string;
  /** Custom domain and the ARN of its certificate. */
  domain: { name: string; certificate: string } | undefined;
  /** Requests a second, sustained and in bursts. */
  throttle: { rateLimit: number; burstLimit: number };
  logRetention: RetentionDays;
}

/** Seconds that an answer of the authorizer holds for: a revoked token works no longer than this. */
const AUTHORIZER_CACHE = 60;

export class HttpHost extends Construct {
  readonly url: string;
  readonly api: HttpApi;
  #authorizers: Record<Endpoint['token'], IHttpRouteAuthorizer | undefined> | undefined;

  constructor(scope: Construct, id: string, { description, domain, throttle, logRetention }: HttpHostProps) {
    super(scope, id);
    this.api = new HttpApi(this, 'Api', {
      description,
      createDefaultStage: false,
      disableExecuteApiEndpoint: domain !== undefined,
    });
    const stage = new HttpStage(this, 'Stage', {
      httpApi: this.api,
      autoDeploy: true,
      throttle,
      accessLogSettings: {
        destination: new LogGroupLogDestination(
          new LogGroup(this, 'AccessLogs', { retention: logRetention, removalPolicy: RemovalPolicy.DESTROY }),
        ),
        format: AccessLogFormat.custom(JSON.stringify(ACCESS_LOG)),
      },
    });
    this.url = domain === undefined ? this.api.apiEndpoint : `https://${domain.name}`;
    if (domain !== undefined) this.#serveUnder(domain, stage);
  }

  /** Has this function ask who calls, for routes that take a token. */
  authorizeWith(handler: IFunction): void {
    const common = { responseTypes: [HttpLambdaResponseType.SIMPLE] };
    this.#authorizers = {
      header: new HttpLambdaAuthorizer('Bearer', handler, {
        ...common,
        identitySource: ['$request.header.Authorization'],
        resultsCacheTtl: Duration.seconds(AUTHORIZER_CACHE),
      }),
      // A path parameter cannot be an identity source, and without a source nothing can be cached.
      path: new HttpLambdaAuthorizer('Path', handler, {
        ...common,
        identitySource: [],
        resultsCacheTtl: Duration.seconds(0),
      }),
      none: undefined,
    };
  }

  /** Serves an endpoint's route by its function. */
  serve({ method, path }: Endpoint['routes'][number], token: Endpoint['token'], handler: IFunction): void {
    if (this.#authorizers === undefined) throw new Error('Call authorizeWith first.');
    const authorizer = this.#authorizers[token];
    const routes = this.api.addRoutes({
      // A route that ends with a slash cannot be deployed; this one takes it, and more, which its function refuses.
      path: path.endsWith('/') ? `${path}{${REST_OF_PATH}+}` : path,
      methods: [HttpMethod[method]],
      integration: new HttpLambdaIntegration(`${method} ${path}`, handler),
      ...(authorizer && { authorizer }),
    });
    if (authorizer !== undefined) return;
    for (const route of routes) {
      Validations.of(route).acknowledge({
        id: 'AwsSolutions-APIG4',
        reason: 'Open to all: it shows what its address names.',
      });
    }
  }

  #serveUnder({ name, certificate }: { name: string; certificate: string }, stage: HttpStage): void {
    const domain = new DomainName(this, 'Domain', {
      domainName: name,
      certificate: Certificate.fromCertificateArn(this, 'Certificate', certificate),
    });
    new ApiMapping(this, 'Mapping', { api: this.api, domainName: domain, stage });
    new CfnOutput(this, 'DomainTarget', {
      description: `Point the DNS name ${name} at this one (CNAME or alias).`,
      value: domain.regionalDomainName,
    });
  }
}

/** No path, no address, no header: paths hold tokens and media addresses, which are secrets. */
const ACCESS_LOG = {
  trace_id: '$context.requestId',
  time: '$context.requestTimeEpoch',
  route: '$context.routeKey',
  status: '$context.status',
  account: '$context.authorizer.account',
  ms: '$context.responseLatency',
  function_ms: '$context.integrationLatency',
  bytes: '$context.responseLength',
  authorizer_error: '$context.authorizer.error',
  integration_error: '$context.integrationErrorMessage',
};
