/**
 * Protects the simulators and their pages: only programs and pages of this machine may use them. A web page from
 * another origin may not, although the browser runs on this machine. This includes a page whose host name resolves to
 * loopback (DNS rebinding).
 */
import type { MiddlewareHandler } from 'hono';
import { httpError } from './http.ts';

const LOOPBACK = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/;

/** Rejects with 403 requests for another host, and requests from pages of another origin. */
export const originCheck: MiddlewareHandler = async ({ req }, next) => {
  const host = req.header('host') ?? '';
  const origin = req.header('origin');
  if (!LOOPBACK.test(host)) throw httpError(403, `The host "${host}" is not served: use 127.0.0.1 or localhost.`);
  if (origin !== undefined && origin !== `http://${host}`)
    throw httpError(403, `Pages of ${origin} are not served: open this server's own.`);
  await next();
};
