/** How a function becomes an endpoint: one Middy chain, built from the endpoint's entry in `shared/api/`. */
import middy from '@middy/core';
import formBodyParser from '@middy/http-urlencode-body-parser';
import type { Context } from 'aws-lambda';
import type { Endpoint } from '../api/endpoint.ts';
import { type Api, api, type EndpointName } from '../api/index.ts';
import { Problem } from '../core/problems.ts';
import { traced } from '../telemetry/trace.ts';
import type { HttpEvent, HttpResponse } from './event.ts';
import { authorize } from './middleware/authorize.ts';
import { checkBody } from './middleware/check-body.ts';
import { checkForm } from './middleware/check-form.ts';
import { exactPath } from './middleware/exact-path.ts';
import { jsonBody } from './middleware/json-body.ts';
import { multipartBody } from './middleware/multipart-body.ts';
import { problemDocuments } from './middleware/problem-documents.ts';
import { requestLog } from './middleware/request-log.ts';
import { type RequestOf, validRequest } from './request.ts';
import { type ResponseOf, toResponse } from './response.ts';

export { nextPage, noContent, notModified, ok } from './response.ts';

const bodyParsers = {
  json: () => [jsonBody()],
  form: () => [checkForm(), formBodyParser()],
  multipart: () => [multipartBody()],
};

/** Left for our own answer before Lambda ends the function, in milliseconds. */
const LAST_WORDS = 500;

/**
 * The Lambda handler of an endpoint: logs the request, checks the token's permission, parses the body, validates all
 * parts, calls `handle` with them, and renders what it returns or throws.
 */
export const endpoint = <Name extends EndpointName>(
  name: Name,
  handle: (request: RequestOf<Api[Name]>) => Promise<ResponseOf<Api[Name]>>,
) => serve<Api[Name]>(api[name], handle);

/**
 * The same for an endpoint that is described anywhere.
 *
 * @internal Tests and benchmarks use it, too.
 */
export const serve = <E extends Endpoint>(
  description: E,
  handle: (request: RequestOf<E>) => Promise<ResponseOf<E>>,
) => {
  const chain = middy<HttpEvent, HttpResponse>({
    timeoutEarlyInMillis: LAST_WORDS,
    timeoutEarlyResponse: () => {
      throw new Problem('unavailable', 'The request took too long. Retry in a moment.', { retryAfter: 1 });
    },
  })
    .use(requestLog())
    .use(problemDocuments());
  // Before the permission: a path that does not exist requires none.
  if (description.catchAll) chain.use(exactPath(description.routes));
  if (description.permission !== 'none') chain.use(authorize(description.permission));
  if (description.body) chain.use([checkBody(description.body.type), ...bodyParsers[description.body.type]()]);

  chain.handler(async (event: HttpEvent, context) => {
    const remaining = () => context.getRemainingTimeInMillis() - LAST_WORDS;
    return toResponse(await handle(validRequest(description, event, remaining)));
  });
  return (event: HttpEvent, context: Context): Promise<HttpResponse> =>
    traced(event.requestContext.requestId, () => chain(event, context));
};
