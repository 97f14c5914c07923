/** Attempts to deliver entries to destinations. */
import { now } from '../core/clock.ts';
import type { Entry } from '../outbox/event.ts';
import { type AttemptResult, interpretByStatus } from './attempt-result.ts';
import type { Destination, Exchange } from './destination.ts';
import { post } from './http/http-client.ts';
import { DeliveryError, type OutboundRequest } from './http/request.ts';

/**
 * Attempts to deliver an entry.
 *
 * @param observe - receives what happened, if a request was made or could not be built
 */
export const attempt = async (
  { buildRequest, interpret = interpretByStatus }: Destination,
  entry: Entry,
  observe: (exchange: Exchange) => void = () => undefined,
): Promise<AttemptResult> => {
  const started = now();
  let request: OutboundRequest | undefined;
  const seen = () => ({ started, ended: now(), ...(request && { url: request.url }) });
  try {
    request = buildRequest(entry);
    if (request === undefined) return { status: 'skipped' };
    const response = await post(request);
    observe({ ...seen(), response });
    return interpret(response, entry);
  } catch (error) {
    if (!(error instanceof DeliveryError)) throw error;
    observe({ ...seen(), error: error.reason });
    return { status: 'retry', cause: error.reason };
  }
};
