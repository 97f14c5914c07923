/** POST /v1/app/events: receives one event of the app network, or a batch. */
import { app as api } from '../../shared/api/areas/app.ts';
import { receiveEvents } from '../../shared/app-network/event-batch.ts';
import { withHashes } from '../../shared/core/hash-secret.ts';
import { Problem, type ValidationError } from '../../shared/core/problems.ts';
import { isRetryable } from '../../shared/core/retryable-errors.ts';
import { noContent, unlimitedEndpoint } from '../../shared/http/endpoint.ts';
import { withWakeUps } from '../../shared/outbox/wake-ups/at-once.ts';

export const handler = unlimitedEndpoint(
  api.receiveAppEvents,
  withHashes(
    withWakeUps(async ({ body }) => {
      const errors = await (Array.isArray(body)
        ? receiveEvents(body, (index) => [String(index)])
        : receiveEvents([body], () => [])
      ).catch(failed);
      if (errors.length === 0) return noContent();
      throw new Problem(
        'events_refused',
        'errors lists each event that was not applied, by position, with the reason. All other events were applied. Correct these and send all again, in the same order; a repeat has no effect.',
        { errors },
      );
    }),
  ),
);

const failed = (cause: unknown): ValidationError[] => {
  if (!isRetryable(cause)) throw cause;
  throw new Problem(
    'unavailable',
    'Some events were not applied. Send all again in a moment, in the same order. If an event failed, no later event about that user was applied.',
    { retryAfter: 1, cause },
  );
};
