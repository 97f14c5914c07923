/**
 * Who may use what is beside the service, simulators and pages: programs and pages of this machine. A web page from
 * elsewhere may not, though the browser that shows it runs here, whether it names the address here or a name of its own
 * that leads there (DNS rebinding).
 */
import type { IncomingHttpHeaders } from 'node:http';
import { HttpRefusal } from './http.ts';

const LOOPBACK = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/;

/** @throws HttpRefusal — 403, the request is another host's, or another page's */
export const refuseStrangers = ({ host = '', origin }: IncomingHttpHeaders): void => {
  if (!LOOPBACK.test(host)) throw new HttpRefusal(403, `The host "${host}" is not served: use 127.0.0.1 or localhost.`);
  if (origin !== undefined && origin !== `http://${host}`)
    throw new HttpRefusal(403, `Pages of ${origin} are not served: open this server's own.`);
};
