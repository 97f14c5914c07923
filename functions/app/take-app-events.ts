/** POST /v1/app/events: takes what the app network reports, one event or a batch. */
import { takeEvents } from '../../shared/app-events.ts';
import { endpoint, noContent } from '../../shared/http/endpoint.ts';
import { Problem } from '../../shared/problems.ts';

export const handler = endpoint('takeAppEvents', async ({ body }) => {
  const faults = Array.isArray(body)
    ? await takeEvents(body, (place) => [String(place)])
    : await takeEvents([body], () => []);
  if (faults.length === 0) return noContent();
  throw new Problem(
    'events_refused',
    'errors names each event that was not taken, by its place, and why; all others were. Correct these and send all again: a repetition is harmless.',
    { faults },
  );
});
