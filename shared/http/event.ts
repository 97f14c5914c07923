/** Input and output of the Middy chain: API Gateway's event (payload format 2.0), and its response. */
import type middy from '@middy/core';
import type {
  APIGatewayEventRequestContextV2,
  APIGatewayProxyEventV2WithRequestContext,
  APIGatewayProxyStructuredResultV2,
  Context,
} from 'aws-lambda';
import type { Admission } from '../accounts/rate-limit/leases.ts';
import type { ProblemCode } from '../core/problems.ts';

/** `authorizer` contains the authorizer's context. It is absent if the route has no authorizer. */
export type HttpEvent = APIGatewayProxyEventV2WithRequestContext<
  APIGatewayEventRequestContextV2 & { authorizer?: { lambda?: unknown } }
> & {
  /** The body as it was sent: bytes, if API Gateway passed it in base64. A parser replaces `body`. */
  sent?: string | Buffer;
  /** The valid request, for the handler of the endpoint: `RequestOf` of its description. */
  request?: unknown;
};

/** The bytes of the request's body. */
export const bytesOf = ({ sent = '' }: HttpEvent): Buffer => (typeof sent === 'string' ? Buffer.from(sent) : sent);

/** The context that the authorizer returns: `Identity` in `shared/accounts/tokens.ts`. */
export interface Caller {
  account: string;
  token: string;
  label: string;
  permissions: string[];
  rate?: number | undefined;
  burst?: number | undefined;
}

export type HttpResponse = APIGatewayProxyStructuredResultV2;

/** What middlewares of one request keep from `before` to `after`. */
interface Internal extends Record<string, unknown> {
  /** When the request began, in milliseconds since 1970. */
  started?: number;
  /** The code of the problem that the response describes. */
  code?: ProblemCode;
  /** The names of the fields and parameters that the endpoint does not know, for the header. */
  ignored?: string[];
  /** The decision of the rate limit. */
  admission?: Admission;
}

export type HttpMiddleware = middy.MiddlewareObj<HttpEvent, HttpResponse, Error, Context, Internal>;
