import { now } from '../../core/clock.ts';
import { measure } from '../../telemetry/metrics.ts';
import type { HttpEvent, HttpMiddleware } from '../event.ts';
import { identityOf } from './authorize.ts';

/** One line in the log per request: route, account, status, milliseconds. */
export const requestLog = (): HttpMiddleware => {
  const started = new WeakMap<object, { at: number; event: HttpEvent }>();

  const requestLogBefore: HttpMiddleware['before'] = (request) => {
    started.set(request.context, { at: now(), event: request.event });
  };

  const requestLogAfter: HttpMiddleware['after'] = (request) => {
    const start = started.get(request.context);
    if (start === undefined) return;
    // Stryker disable next-line OptionalChaining: It never happens; only the compiler asks for it.
    const status = request.response?.statusCode ?? 500;
    measure('info', 'request', {
      route: start.event.routeKey,
      account: identityOf(start.event)?.account,
      status,
      outcome: outcomeOf(status),
      requests: 1,
      request_ms: now() - start.at,
    });
  };

  return { before: requestLogBefore, after: requestLogAfter, onError: requestLogAfter };
};

const outcomeOf = (status: number): 'succeeded' | 'rejected' | 'failed' => {
  if (status >= 500) return 'failed';
  return status >= 400 ? 'rejected' : 'succeeded';
};
