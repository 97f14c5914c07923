/** One of the two hosts: an HTTP API with access logs, throttling, authorizers, and optionally a custom domain. */
import { CfnOutput, Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import {
  ApiMapping,
  DomainName,
  HttpApi,
  HttpMethod,
  HttpRoute,
  HttpRouteKey,
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
import type { CatchAllRoute, Endpoint } from '../../shared/api/endpoint.ts';

interface HttpHostProps {
  /** In AWS's console and commands. */
  name: string;
  description: string;
  /** Custom domain and the ARN of its certificate. */
  domain: { name: string; certificate: string } | undefined;
  /** Requests per second, sustained and in bursts. */
  throttle: { rateLimit: number; burstLimit: number };
  logRetention: RetentionDays;
}

type Route = Endpoint['routes'][number] | CatchAllRoute;

/** Seconds that authorizations are cached: a revoked token works at most this long. */
const AUTHORIZER_CACHE = 60;

export class HttpHost extends Construct {
  readonly url: string;
  readonly api: HttpApi;
  #authorizers: Record<Endpoint['token'], IHttpRouteAuthorizer | undefined> | undefined;

  constructor(scope: Construct, id: string, { name, description, domain, throttle, logRetention }: HttpHostProps) {
    super(scope, id);
    this.api = new HttpApi(this, 'Api', {
      apiName: name,
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

  /** Sets the function that authorizes requests, for routes with a token. */
  authorizeWith(handler: IFunction): void {
    const common = { responseTypes: [HttpLambdaResponseType.SIMPLE] };
    this.#authorizers = {
      header: new HttpLambdaAuthorizer('Bearer', handler, {
        ...common,
        identitySource: ['$request.header.Authorization'],
        resultsCacheTtl: Duration.seconds(AUTHORIZER_CACHE),
      }),
      // A path parameter cannot be an identity source, and without identity sources there is no cache.
      path: new HttpLambdaAuthorizer('Path', handler, {
        ...common,
        identitySource: [],
        resultsCacheTtl: Duration.seconds(0),
      }),
      none: undefined,
    };
  }

  /** Adds an endpoint's route to its function. */
  serve({ method, path }: Route, token: Endpoint['token'], handler: IFunction): void {
    if (this.#authorizers === undefined) throw new Error('Call authorizeWith first.');
    // CloudFormation rejects a route that ends with a slash: the endpoint's catch-all routes take it.
    if (path.endsWith('/')) return;
    const authorizer = this.#authorizers[token];
    const route = new HttpRoute(this.api, `${method}${path}`, {
      httpApi: this.api,
      routeKey: path === '$default' ? HttpRouteKey.DEFAULT : HttpRouteKey.with(path, HttpMethod[method]),
      integration: new HttpLambdaIntegration(`${method} ${path}`, handler),
      ...(authorizer && { authorizer }),
    });
    if (authorizer !== undefined) return;
    Validations.of(route).acknowledge({
      id: 'AwsSolutions-APIG4',
      reason: 'Public: the URL is the secret, or the content is public.',
    });
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

/** The access log contains no paths, IP addresses or headers: tokens and media ids in paths are secret. */
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
