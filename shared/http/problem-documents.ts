import type { Endpoint } from '../api.ts';
import { describeError, log } from '../log.ts';
import { Problem, problemCatalogue } from '../problems.ts';
import { baseUrl } from '../settings.ts';
import { isBusy } from '../table/busy.ts';
import type { HttpMiddleware } from './event.ts';
import { toProblemResponse } from './reply.ts';

/** Turns every error of the chain into a problem document (RFC 9457). What only we should know goes to the log. */
export const problemDocuments = (body: Endpoint['body']): HttpMiddleware => ({
  onError: function problemDocumentsOnError(request) {
    const problem = toProblem(request.error, body && CONTENT_TYPES[body.type]);
    const traceId = request.event.requestContext.requestId;
    if (problem.status >= 500) {
      log('error', problem.code, describeError(problem.cause ?? problem));
    }
    request.response = toProblemResponse(
      problem.status,
      {
        type: `${baseUrl()}/v1/openapi.json#/components/responses/${problem.code}`,
        title: problemCatalogue[problem.code].title,
        status: problem.status,
        code: problem.code,
        detail: problem.detail,
        errors: problem.faults,
        trace_id: traceId,
      },
      problem.retryAfter,
    );
  },
});

const CONTENT_TYPES = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
  multipart: 'multipart/form-data',
};

const toProblem = (error: unknown, contentType: string | undefined): Problem => {
  if (error instanceof Problem) return error;
  const parserStatus = statusOfParser(error);
  if (parserStatus === 415) {
    return new Problem('unsupported_media_type', `Send the body as ${contentType}, and say so in Content-Type.`);
  }
  if (parserStatus !== undefined) {
    return new Problem(
      'malformed_body',
      `The body is missing, or cannot be read as ${contentType}. Send it well-formed.`,
    );
  }
  if (isBusy(error)) {
    return new Problem('unavailable', 'Try again in a moment.', { retryAfter: 1, cause: error });
  }
  return new Problem('internal_error', 'Tell support the trace_id.', { cause: error });
};

/** The status that one of Middy's body parsers gave its error. */
const statusOfParser = (error: unknown): number | undefined => {
  if (!(error instanceof Error) || !('statusCode' in error) || typeof error.statusCode !== 'number') return undefined;
  const { cause } = error;
  const fromParser =
    typeof cause === 'object' && cause !== null && 'package' in cause && String(cause.package).endsWith('-body-parser');
  return fromParser ? error.statusCode : undefined;
};
