/** What passes through the Middy chain: API Gateway's event (payload format 2.0) and its answer. */
import type middy from '@middy/core';
import type {
  APIGatewayEventRequestContextV2,
  APIGatewayProxyEventV2WithRequestContext,
  APIGatewayProxyStructuredResultV2,
} from 'aws-lambda';

/** The authorizer's context reaches functions here; it is absent where a route has no authorizer. */
export type HttpEvent = APIGatewayProxyEventV2WithRequestContext<
  APIGatewayEventRequestContextV2 & { authorizer?: { lambda?: unknown } }
> & {
  /** The body as it came, where there is a parser that replaces it. */
  bytes?: Buffer;
};

export type HttpResponse = APIGatewayProxyStructuredResultV2;

export type HttpMiddleware = middy.MiddlewareObj<HttpEvent, HttpResponse>;
