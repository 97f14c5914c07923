/**
 * Who may use what is beside the service, simulators and pages: programs and pages of this machine. A web page from
 * elsewhere may not, though the browser that shows it runs here, whether it names the address here or a name of its own
 * that leads there (DNS rebinding).
 */
import type { MiddlewareHandler } from 'hono';
import { httpError } from './http.ts';

const LOOPBACK = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/;

/** Rejects requests for another host, and those of another host's pages, with 403. */
export const originCheck: MiddlewareHandler = async ({ req }, next) => {
  const host = req.header('host') ?? '';
  const origin = req.header('origin');
  if (!LOOPBACK.test(host)) throw httpError(403, `The host "${host}" is not served: use 127.0.0.1 or localhost.`);
  if (origin !== undefined && origin !== `http://${host}`)
    throw httpError(403, `Pages of ${origin} are not served: open this server's own.`);
  await next();
};
