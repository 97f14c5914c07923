/** GET /v1/user_data/fetch/{id}: returns what a user granted, and waits for the user's answer if the caller asks for it. */
import { now } from '../../shared/core/clock.ts';
import { waitDeadlines } from '../../shared/core/deadline.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';
import { pollUntil, type ReadMode } from '../../shared/http/long-poll.ts';
import { measure } from '../../shared/telemetry/metrics.ts';
import { fetchAgain, fetchRequest, type UserData } from '../../shared/user-data/requests.ts';

export const handler = endpoint('fetchUserData', async ({ account, path, query, remaining }) => {
  const start = now();
  const deadlines = waitDeadlines(query.long_poll, remaining());
  if (query.long_poll === 0) return ok(await fetchRequest(account, path.id));
  let reads = 0;
  const read = (mode: ReadMode): Promise<UserData> => {
    reads += 1;
    return mode === 'latest' ? fetchRequest(account, path.id) : fetchAgain(account, path.id);
  };
  const data = await pollUntil(read, isCompleted, deadlines);
  if (reads === 1) return ok(data);
  const outcome = isCompleted(data) ? 'answered' : 'pending';
  measure('info', 'long poll', { user_data_request_id: path.id, outcome, long_polls: 1, long_poll_ms: now() - start });
  return ok(data);
});

const isCompleted = ({ status }: UserData): boolean => status === 'completed';
