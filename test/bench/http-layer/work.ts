/**
 * The work of every contestant: receive `POST /v1/message`, check the permission, validate query, headers and body with
 * the endpoint's schemas, return JSON or a problem document, and log one line.
 */
import type { Context } from 'aws-lambda';
import type * as v from 'valibot';
import { api } from '../../../shared/api/index.ts';
import { problemCatalogue, type ValidationError } from '../../../shared/core/problems.ts';
import { baseUrl } from '../../../shared/core/settings.ts';
import type { HttpEvent, HttpResponse } from '../../../shared/http/event.ts';
import { measure } from '../../../shared/telemetry/metrics.ts';

export const endpoint = api.sendMessage;

export type Handler = (event: HttpEvent, context: Context) => Promise<HttpResponse>;

/** The caller, from the context of the authorizer. */
export interface Caller {
  account: string;
  permissions: string[];
}

export const callerIn = ({ requestContext }: Pick<HttpEvent, 'requestContext'>): Caller =>
  requestContext.authorizer?.lambda as Caller;

/** The response of the endpoint. A placeholder for the domain, the same for all contestants. */
export const answer = (account: string, body: v.InferOutput<typeof endpoint.body.schema>) => ({
  id: `${account}-${body.to}`,
});

export const HEADERS = { 'content-type': 'application/json', 'cache-control': 'no-store' };
export const PROBLEM_HEADERS = { 'content-type': 'application/problem+json', 'cache-control': 'no-store' };

export const PERMISSION_REQUIRED = {
  code: 'permission_required',
  detail: 'This token lacks the permission "messages". Ask the operator for a token that has it.',
} as const;

export const problemOf = (
  { code, detail }: { code: 'permission_required' | 'malformed_body'; detail: string },
  traceId: string,
) => ({
  type: `${baseUrl()}/v1/openapi.json#/components/responses/${code}`,
  title: problemCatalogue[code].title,
  status: problemCatalogue[code].status,
  code,
  detail,
  trace_id: traceId,
});

/** The problem document with all validation errors. */
export const invalidRequest = (errors: ValidationError[], traceId: string) => {
  const { status, title } = problemCatalogue.invalid_request;
  return {
    type: `${baseUrl()}/v1/openapi.json#/components/responses/invalid_request`,
    title,
    status,
    code: 'invalid_request',
    detail: 'The request is not valid. See errors.',
    errors,
    trace_id: traceId,
  };
};

/** What a request ended with. */
interface End {
  status: number;
  /** The code of the problem; undefined if there was none. */
  code?: string | undefined;
}

/** @param start - when the request began, in milliseconds since 1970 */
export const logRequest = (
  { requestContext, routeKey }: Pick<HttpEvent, 'requestContext' | 'routeKey'>,
  account: string | undefined,
  { status, code }: End,
  start: number,
): void =>
  measure('info', 'request', {
    route: routeKey,
    account,
    status,
    code,
    outcome: status >= 400 ? 'rejected' : 'succeeded',
    requests: 1,
    request_ms: Date.now() - start,
    trace_id: requestContext.requestId,
  });
