/** Hono with its adapter for Lambda, its router, and its validator. */
import { type Context, Hono } from 'hono';
import { handle } from 'hono/aws-lambda';
import { createMiddleware } from 'hono/factory';
import { validator } from 'hono/validator';
import * as v from 'valibot';
import type { ValidationError } from '../../../shared/core/problems.ts';
import type { HttpEvent } from '../../../shared/http/event.ts';
import { errorInBody, errorInParameter } from '../../../shared/validation/validation-errors.ts';
import {
  answer,
  type Caller,
  callerIn,
  endpoint,
  type Handler,
  invalidRequest,
  logRequest,
  PERMISSION_REQUIRED,
  PROBLEM_HEADERS,
  problemOf,
} from './work.ts';

interface Env {
  Bindings: { event: HttpEvent };
  Variables: { caller: Caller; code?: string };
}

const logged = createMiddleware<Env>(async (c, next) => {
  const start = Date.now();
  await next();
  logRequest(c.env.event, c.var.caller.account, { status: c.res.status, code: c.var.code }, start);
});

const permitted = createMiddleware<Env>(async (c, next) => {
  const { requestContext } = c.env.event;
  const caller = callerIn(c.env.event);
  c.set('caller', caller);
  if (caller.permissions.includes(endpoint.permission)) return next();
  c.set('code', PERMISSION_REQUIRED.code);
  return c.body(JSON.stringify(problemOf(PERMISSION_REQUIRED, requestContext.requestId)), 403, PROBLEM_HEADERS);
});

/** Responds with 422 and the validation errors. */
const reject = (c: Context<Env>, errors: ValidationError[]) => {
  const problem = invalidRequest(errors, c.env.event.requestContext.requestId);
  c.set('code', problem.code);
  return c.body(JSON.stringify(problem), 422, PROBLEM_HEADERS);
};

const validParameters = (target: 'query' | 'header', schema: v.GenericSchema<unknown, object>) =>
  validator(target, (given, c) => {
    const { success, output, issues } = v.safeParse(schema, given);
    return success ? output : reject(c, issues.map(errorInParameter));
  });

const validBody = validator('json', (given, c) => {
  const { success, output, issues } = v.safeParse(endpoint.body.schema, given);
  const errors = issues?.map((issue) => errorInBody(issue)) ?? [];
  return success ? output : reject(c, errors);
});

const app = new Hono<Env>();
app.use(logged);
app.post(
  '/v1/message',
  permitted,
  validParameters('query', endpoint.query),
  validParameters('header', endpoint.headers),
  validBody,
  (c) => {
    c.header('cache-control', 'no-store');
    return c.json(answer(c.var.caller.account, c.req.valid('json')));
  },
);

export const handler = handle(app) as Handler;
