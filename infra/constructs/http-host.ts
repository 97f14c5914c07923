/**
 * One of the two hosts: an HTTP API with access logs, throttling, authorizers, and optionally a custom domain.
 *
 * API Gateway calls functions with one role, instead of a permission for each route in the policy of its function:
 * `CredentialsArn` of an integration, and `AuthorizerCredentialsArn` ("CreateIntegration" and "CreateAuthorizer", API
 * reference of Amazon API Gateway V2).
 */
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import {
  ApiMapping,
  CfnAuthorizer,
  type CfnAuthorizerProps,
  CfnStage,
  DomainName,
  HttpApi,
  HttpAuthorizer,
  HttpIntegrationType,
  HttpMethod,
  HttpRoute,
  HttpRouteIntegration,
  type HttpRouteIntegrationConfig,
  HttpRouteKey,
  HttpStage,
  type IHttpRouteAuthorizer,
  IntegrationCredentials,
  LogGroupLogDestination,
  PayloadFormatVersion,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import type { IRole } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { CfnOutput, Stack, Validations } from 'aws-cdk-lib/core';
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
  /** Contains the access logs of all hosts: each line names its host. */
  accessLogs: ILogGroup;
  /** The role with which API Gateway calls the functions. */
  caller: IRole;
}

type Route = Endpoint['routes'][number] | CatchAllRoute;

/** The settings of a route in CloudFormation, whose type is JSON: the names stay as they are. */
interface RouteThrottle {
  ThrottlingRateLimit: number;
  ThrottlingBurstLimit: number;
}

/** Seconds that authorizations are cached: a revoked token works at most this long. */
const AUTHORIZER_CACHE = 60;

export class HttpHost extends Construct {
  readonly url: string;
  readonly api: HttpApi;
  readonly #caller: IRole;
  readonly #stage: HttpStage;
  readonly #routeSettings: Record<string, RouteThrottle> = {};
  readonly #integrations = new Map<IFunction, FunctionIntegration>();
  #authorizers: Record<Endpoint['token'], IHttpRouteAuthorizer | undefined> | undefined;

  constructor(scope: Construct, id: string, props: HttpHostProps) {
    super(scope, id);
    const { name, description, domain, throttle, accessLogs, caller } = props;
    this.#caller = caller;
    this.api = new HttpApi(this, 'Api', {
      apiName: name,
      description,
      createDefaultStage: false,
      disableExecuteApiEndpoint: domain !== undefined,
    });
    this.#stage = new HttpStage(this, 'Stage', {
      httpApi: this.api,
      autoDeploy: true,
      throttle,
      accessLogSettings: {
        destination: new LogGroupLogDestination(accessLogs),
        format: AccessLogFormat.custom(JSON.stringify({ host: id.toLowerCase(), ...ACCESS_LOG })),
      },
    });
    this.url = domain === undefined ? this.api.apiEndpoint : `https://${domain.name}`;
    if (domain !== undefined) this.#serveUnder(domain, this.#stage);
  }

  /** Sets the function that authorizes requests, for routes with a token. */
  authorizeWith(handler: IFunction): void {
    this.#authorizers = {
      header: this.#authorizer('Bearer', handler, {
        identitySource: ['$request.header.Authorization'],
        authorizerResultTtlInSeconds: AUTHORIZER_CACHE,
      }),
      // A path parameter cannot be an identity source, and without identity sources there is no cache.
      path: this.#authorizer('Path', handler, { identitySource: [], authorizerResultTtlInSeconds: 0 }),
      none: undefined,
    };
  }

  /** An authorizer, which becomes a resource with its first route. */
  #authorizer(
    name: string,
    { functionArn }: IFunction,
    options: Pick<CfnAuthorizerProps, 'identitySource' | 'authorizerResultTtlInSeconds'>,
  ): IHttpRouteAuthorizer {
    let bound: IHttpRouteAuthorizer | undefined;
    return {
      bind: (route) => {
        bound ??= HttpAuthorizer.fromHttpAuthorizerAttributes(this, `${name}Authorizer`, {
          authorizerId: new CfnAuthorizer(this, name, {
            apiId: this.api.apiId,
            name: `${this.node.id}${name}`,
            authorizerType: 'REQUEST',
            authorizerPayloadFormatVersion: '2.0',
            enableSimpleResponses: true,
            authorizerUri: Stack.of(this).formatArn({
              service: 'apigateway',
              account: 'lambda',
              resource: 'path',
              resourceName: `2015-03-31/functions/${functionArn}/invocations`,
            }),
            authorizerCredentialsArn: this.#caller.roleArn,
            ...options,
          }).ref,
          authorizerType: 'CUSTOM',
        });
        return bound.bind(route);
      },
    };
  }

  /** Adds an endpoint's route to its function. */
  serve({ method, path }: Route, { token, throttle }: Pick<Endpoint, 'token' | 'throttle'>, handler: IFunction): void {
    if (this.#authorizers === undefined) throw new Error('Call authorizeWith first.');
    // CloudFormation rejects a route that ends with a slash: the endpoint's catch-all routes take it.
    if (path.endsWith('/')) return;
    const authorizer = this.#authorizers[token];
    const routeKey = path === '$default' ? HttpRouteKey.DEFAULT : HttpRouteKey.with(path, HttpMethod[method]);
    const route = new HttpRoute(this.api, `${method}${path}`, {
      httpApi: this.api,
      routeKey,
      integration: this.#integrationWith(handler),
      ...(authorizer && { authorizer }),
    });
    if (throttle !== undefined) this.#throttle(route, routeKey, throttle);
    if (authorizer !== undefined) return;
    Validations.of(route).acknowledge({
      id: 'AwsSolutions-APIG4',
      reason: 'Public: the URL or the body has the secret, or the content is public.',
    });
  }

  /**
   * Gives a route a throttle of its own, for all its callers together. It replaces the stage's settings for the route as a whole
   * ("RouteSettings", AWS::ApiGatewayV2::Stage, AWS CloudFormation Template Reference), so it has both limits.
   */
  #throttle(route: HttpRoute, { key }: HttpRouteKey, { rate, burst }: NonNullable<Endpoint['throttle']>): void {
    const stage = this.#stage.node.defaultChild;
    if (!(stage instanceof CfnStage)) throw new Error('The stage is not made of an AWS::ApiGatewayV2::Stage.');
    this.#routeSettings[key] = { ThrottlingRateLimit: rate, ThrottlingBurstLimit: burst };
    stage.routeSettings = { ...this.#routeSettings };
    // API Gateway rejects settings of a route that does not exist: "Unable to find Route by key … within the provided
    // RouteSettings" (terraform-aws-modules/terraform-aws-apigateway-v2, pull request 80).
    stage.node.addDependency(route);
  }

  /** The integration with a function, which all of its routes share. */
  #integrationWith(handler: IFunction): FunctionIntegration {
    const integration = this.#integrations.get(handler) ?? new FunctionIntegration(handler, this.#caller);
    this.#integrations.set(handler, integration);
    return integration;
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

/** Calls a function with a role. */
class FunctionIntegration extends HttpRouteIntegration {
  readonly #config: HttpRouteIntegrationConfig;

  constructor({ functionArn }: IFunction, caller: IRole) {
    super('Integration');
    this.#config = {
      type: HttpIntegrationType.AWS_PROXY,
      uri: functionArn,
      payloadFormatVersion: PayloadFormatVersion.VERSION_2_0,
      credentials: IntegrationCredentials.fromRole(caller),
    };
  }

  bind(): HttpRouteIntegrationConfig {
    return this.#config;
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
