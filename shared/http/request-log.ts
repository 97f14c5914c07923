import { now } from '../clock.ts';
import { log } from '../log.ts';
import { identityOf } from './authorize.ts';
import type { HttpEvent, HttpMiddleware } from './event.ts';

/** One line in the log per request: request id, route, account, status, milliseconds. */
export const requestLog = (): HttpMiddleware => {
  const started = new WeakMap<object, { at: number; event: HttpEvent }>();

  const requestLogBefore: HttpMiddleware['before'] = (request) => {
    started.set(request.context, { at: now(), event: request.event });
  };

  const requestLogAfter: HttpMiddleware['after'] = (request) => {
    const start = started.get(request.context);
    if (start === undefined) return;
    const { requestContext, routeKey } = start.event;
    log('info', 'request', {
      request_id: requestContext.requestId,
      route: routeKey,
      account: identityOf(start.event)?.account,
      status: request.response?.statusCode,
      ms: now() - start.at,
    });
  };

  return { before: requestLogBefore, after: requestLogAfter, onError: requestLogAfter };
};
