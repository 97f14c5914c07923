/** Endpoints: each is a Lambda handler with one Middy chain, built from the endpoint's entry in `shared/api/`. */
import middy from '@middy/core';
import formBodyParser from '@middy/http-urlencode-body-parser';
import type { Endpoint } from '../api/endpoint.ts';
import { beginTrace } from '../telemetry/trace.ts';
import type { HttpEvent, HttpMiddleware, HttpResponse } from './event.ts';
import { authorize } from './middleware/authorize.ts';
import { checkBody } from './middleware/check-body.ts';
import { checkForm } from './middleware/check-form.ts';
import { exactPath } from './middleware/exact-path.ts';
import { ignoredFields } from './middleware/ignored-fields.ts';
import { jsonBody } from './middleware/json-body.ts';
import { multipartBody } from './middleware/multipart-body.ts';
import { problemDocuments } from './middleware/problem-documents.ts';
import { rateLimit } from './middleware/rate-limit.ts';
import { requestLog } from './middleware/request-log.ts';
import { validRequest } from './middleware/valid-request.ts';
import type { RequestOf } from './request.ts';
import { type ResponseOf, toResponse } from './response.ts';
import { inTime } from './time-limit.ts';

export { created, nextPage, noContent, notModified, ok } from './response.ts';

const bodyParsers = {
  json: () => [jsonBody()],
  // `checkBody` has parsed Content-Type: a second parser could read it in another way.
  form: () => [checkForm(), formBodyParser({ disableContentTypeCheck: true })],
  multipart: () => [multipartBody()],
};

/** Milliseconds before Lambda's timeout at which the function responds with 503 itself. */
const TIMEOUT_RESERVE_MS = 500;

/** An endpoint whose callers have no limit, the app network and callers without a token, or one that counts no requests. */
type Unlimited = Endpoint & ({ permission: 'none' | 'app' } | { overLimit: 'none' });

type Limited = Endpoint & { permission: Exclude<Endpoint['permission'], 'none' | 'app'>; overLimit?: 'unavailable' };

/**
 * The Lambda handler of an endpoint: logs the request, applies the limit of the account, checks the token's permission,
 * parses the body, validates all parts, calls `handle` with them, and turns the result or the error into a response.
 *
 * @param description - from its file in `shared/api/areas/`: the bundle contains that file's endpoints
 */
export const endpoint = <E extends Limited>(
  description: E,
  handle: (request: RequestOf<E>) => Promise<ResponseOf<E>>,
) => serve(description, handle, rateLimit(description.overLimit));

/** The same for an endpoint without a limit. Its bundle contains nothing of the limit. */
export const unlimitedEndpoint = <E extends Unlimited>(
  description: E,
  handle: (request: RequestOf<E>) => Promise<ResponseOf<E>>,
) => serve(description, handle);

/**
 * The handler of any endpoint, with any limit.
 *
 * @internal Tests and benchmarks use it, too.
 */
export const serve = <E extends Endpoint>(
  description: E,
  handle: (request: RequestOf<E>) => Promise<ResponseOf<E>>,
  limit: HttpMiddleware | [] = [],
) => {
  const chain = middy<HttpEvent, HttpResponse>({
    // `inTime` does the same with one timer for all requests.
    timeoutEarlyInMillis: 0,
  })
    .use(requestLog())
    .use(ignoredFields())
    .use(limit)
    .use(problemDocuments());
  // Before `authorize`: an unknown path requires no permission.
  if (description.catchAll) chain.use(exactPath(description.routes));
  if (description.permission !== 'none') chain.use(authorize(description.permission));
  if (description.body) chain.use([checkBody(description.body.type), ...bodyParsers[description.body.type]()]);
  chain.use(validRequest(description, TIMEOUT_RESERVE_MS));
  chain.handler(({ request, requestContext }) => {
    const valid = request as RequestOf<E>;
    beginTrace(requestContext.requestId);
    return inTime(handle(valid), valid.remaining).then(toResponse);
  });
  return chain;
};
