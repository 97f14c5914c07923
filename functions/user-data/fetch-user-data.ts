/** GET /v1/user_data/fetch/{id}: what a user granted; waits for the answer as long as the caller likes. */
import { now } from '../../shared/core/clock.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';
import { pollUntil, type ReadMode } from '../../shared/http/long-poll.ts';
import { measure } from '../../shared/telemetry/metrics.ts';
import { fetchAgain, fetchRequest, type UserData } from '../../shared/user-data/requests.ts';

/** Milliseconds that are kept for the last look, and for the way back. */
const RESERVE = { look: 400, answer: 100 };

export const handler = endpoint('fetchUserData', async ({ account, path, query, remaining }) => {
  const start = now();
  const latest = start + remaining() - RESERVE.answer;
  const end = Math.min(start + query.long_poll * 1_000, latest - RESERVE.look);
  if (query.long_poll === 0) return ok(await fetchRequest(account, path.id));
  let looks = 0;
  const look = (how: ReadMode): Promise<UserData> => {
    looks += 1;
    return how === 'latest' ? fetchRequest(account, path.id) : fetchAgain(account, path.id);
  };
  const seen = await pollUntil(look, isCompleted, { end, latest });
  if (looks === 1) return ok(seen);
  const outcome = isCompleted(seen) ? 'answered' : 'pending';
  measure('info', 'long poll', { user_data_request_id: path.id, outcome, long_polls: 1, long_poll_ms: now() - start });
  return ok(seen);
});

const isCompleted = ({ status }: UserData): boolean => status === 'completed';
