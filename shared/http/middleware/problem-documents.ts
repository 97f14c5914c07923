import { Problem, problemCatalogue } from '../../core/problems.ts';
import { isRetryable } from '../../core/retryable-errors.ts';
import { baseUrl } from '../../core/settings.ts';
import { describeError, log } from '../../telemetry/log.ts';
import type { HttpMiddleware } from '../event.ts';
import { toProblemResponse } from '../response.ts';

/** Turns every error of the chain into a problem document (RFC 9457). Internal causes are only logged. */
export const problemDocuments = (): HttpMiddleware => ({
  onError: function problemDocumentsOnError(request) {
    const problem = toProblem(request.error);
    const traceId = request.event.requestContext.requestId;
    if (problem.status >= 500) {
      log('error', problem.code, { ...describeError(problem.cause ?? problem), trace_id: traceId });
    }
    request.internal.code = problem.code;
    request.response = toProblemResponse(
      problem.status,
      {
        type: `${baseUrl()}/v1/openapi.json#/components/responses/${problem.code}`,
        title: problemCatalogue[problem.code].title,
        status: problem.status,
        code: problem.code,
        detail: problem.detail,
        errors: problem.errors,
        trace_id: traceId,
      },
      problem.retryAfter === undefined
        ? problem.headers
        : { ...problem.headers, 'retry-after': String(problem.retryAfter) },
    );
  },
});

const toProblem = (error: unknown): Problem => {
  if (error instanceof Problem) return error;
  if (isRetryable(error)) {
    return new Problem('unavailable', 'Retry in a moment.', { retryAfter: 1, cause: error });
  }
  return new Problem('internal_error', 'Send the trace_id to support.', { cause: error });
};
