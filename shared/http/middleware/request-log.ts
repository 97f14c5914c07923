import { now } from '../../core/clock.ts';
import { measure } from '../../telemetry/metrics.ts';
import type { HttpMiddleware } from '../event.ts';
import { identityOf } from './authorize.ts';
import { loggedNames } from './ignored-fields.ts';

/** One line in the log per request: route, account, status, the problem's code, milliseconds. */
export const requestLog = (): HttpMiddleware => {
  const requestLogBefore: HttpMiddleware['before'] = ({ internal }) => {
    internal.started = now();
  };

  const requestLogAfter: HttpMiddleware['after'] = ({ event, response, internal: { started, code, ignored } }) => {
    if (started === undefined) return;
    const status = response?.statusCode ?? 500;
    measure('info', 'request', {
      route: event.routeKey,
      account: identityOf(event)?.account,
      status,
      code,
      ignored_fields: ignored?.length ? loggedNames(ignored) : undefined,
      outcome: outcomeOf(status),
      requests: 1,
      request_ms: now() - started,
      trace_id: event.requestContext.requestId,
    });
  };

  return { before: requestLogBefore, after: requestLogAfter, onError: requestLogAfter };
};

const outcomeOf = (status: number): 'succeeded' | 'rejected' | 'failed' => {
  if (status >= 500) return 'failed';
  return status >= 400 ? 'rejected' : 'succeeded';
};
