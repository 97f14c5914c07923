/** The router of Powertools for AWS Lambda, with its validation. */
import { RequestValidationError, Router } from '@aws-lambda-powertools/event-handler/http';
import type { Middleware } from '@aws-lambda-powertools/event-handler/types';
import type * as v from 'valibot';
import type { HttpEvent } from '../../../shared/http/event.ts';
import { pointerTo } from '../../../shared/validation/validation-errors.ts';
import {
  answer,
  callerIn,
  endpoint,
  type Handler,
  invalidRequest,
  logRequest,
  PERMISSION_REQUIRED,
  PROBLEM_HEADERS,
  problemOf,
} from './work.ts';

/** The router's types have no authorizer context. */
const eventOf = ({ event }: { event: unknown }): HttpEvent => event as HttpEvent;

/** Errors bypass this middleware, so error handlers log too. */
const logged: Middleware = async ({ reqCtx, next }) => {
  const start = Date.now();
  reqCtx.set('start', start);
  await next();
  const end = { status: reqCtx.res.status, code: reqCtx.get('code') as string | undefined };
  logRequest(eventOf(reqCtx), callerIn(eventOf(reqCtx)).account, end, start);
};

const permitted: Middleware = async ({ reqCtx, next }) => {
  if (callerIn(eventOf(reqCtx)).permissions.includes(endpoint.permission)) return next();
  const { requestId } = eventOf(reqCtx).requestContext;
  reqCtx.set('code', PERMISSION_REQUIRED.code);
  return new Response(JSON.stringify(problemOf(PERMISSION_REQUIRED, requestId)), {
    status: 403,
    headers: PROBLEM_HEADERS,
  });
};

/** The router's types have no optional headers. */
const headers = endpoint.headers as unknown as v.GenericSchema<unknown, Record<string, string>>;

const app = new Router();
app.use(logged);
app.post(
  '/v1/message',
  [permitted],
  (reqCtx) => {
    reqCtx.res.headers.set('cache-control', 'no-store');
    return answer(callerIn(eventOf(reqCtx)).account, reqCtx.valid.req.body);
  },
  { validation: { req: { query: endpoint.query, headers, body: endpoint.body.schema } } },
);

/** A validation issue of the router: the part of the request, and valibot's path within the part. */
interface Issue {
  message: string;
  path: [string, ...{ key: string | number }[]];
}

app.errorHandler(RequestValidationError, async (error, reqCtx) => {
  const issues = (error.details as { issues: Issue[] }).issues;
  const errors = issues.map(({ message, path: [part, ...path] }) => {
    const keys = path.map(({ key }) => String(key));
    return part === 'body'
      ? { pointer: pointerTo(keys), detail: message }
      : { parameter: keys.join('.'), detail: message };
  });
  const event = eventOf(reqCtx);
  const problem = invalidRequest(errors, event.requestContext.requestId);
  logRequest(event, callerIn(event).account, problem, reqCtx.get('start') as number);
  return { statusCode: 422, headers: PROBLEM_HEADERS, body: JSON.stringify(problem) };
});

export const handler: Handler = async (event, context) => (await app.resolve(event, context)) as never;
