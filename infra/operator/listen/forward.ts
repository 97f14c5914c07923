/** Sends a claimed event to a program: one POST, within the time that a webhook has. */
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { listenerErrors } from '../../../shared/delivery/history/statuses.ts';
import { keptConnections } from '../../../shared/destinations/http/connections.ts';
import { exchange } from '../../../shared/destinations/http/exchange.ts';
import { DeliveryError } from '../../../shared/destinations/http/request.ts';
import { truncate } from '../../../shared/validation/schemas.ts';
import type { ClaimedEvent, Outcome } from './session.ts';

/** Characters of a response that the delivery history may keep. */
const RESPONSE = 1_024;

/** What a program returned, and the error of Node.js, if there was no response. */
export interface Forwarded {
  outcome: Outcome & { duration_ms: number };
  reason?: string;
}

/** Sends an event to a program. Any URL is allowed: the request comes from this machine, not from the service. */
export const forward = async (
  to: URL,
  { headers, body }: Pick<ClaimedEvent, 'headers' | 'body'>,
): Promise<Forwarded> => {
  const begin = performance.now();
  const protocol = to.protocol === 'https:' ? 'https:' : 'http:';
  const request = protocol === 'https:' ? requestHttps : requestHttp;
  const took = () => ({ duration_ms: Math.round(performance.now() - begin) });
  try {
    const response = await exchange((connection) => {
      const agent = connection === 'kept' && keptConnections(protocol);
      return request(to, { method: 'POST', agent, headers }).end(body);
    });
    const retryAfter = response.headers['retry-after'];
    return {
      outcome: {
        ...took(),
        status_code: Math.max(response.status, 100),
        ...(retryAfter !== undefined && { retry_after: retryAfter.slice(0, 1_000) }),
        ...(response.body !== '' && { response: truncate(response.body, RESPONSE) }),
      },
    };
  } catch (error) {
    if (!(error instanceof DeliveryError)) throw error;
    const known = listenerErrors.find((one) => one === error.reason) ?? 'no_connection';
    const { cause } = error;
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : undefined;
    return { outcome: { ...took(), error: known }, ...(code !== undefined && { reason: code }) };
  }
};
