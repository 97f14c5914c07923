/** GET /v1/user_data/fetch/{id}: what a user granted; waits for the answer as long as the caller likes. */
import { now } from '../../shared/clock.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';
import { lookUntil } from '../../shared/long-poll.ts';
import { measure } from '../../shared/metrics.ts';
import { fetchRequest, type UserData } from '../../shared/user-data.ts';

/** Milliseconds that are kept for the last look, and for the way back. */
const RESERVE = { look: 400, answer: 100 };

export const handler = endpoint('fetchUserData', async ({ account, path, query, remaining }) => {
  const start = now();
  const latest = start + remaining() - RESERVE.answer;
  const end = Math.min(start + query.long_poll * 1_000, latest - RESERVE.look);
  const look = () => fetchRequest(account, path.id);
  const first = await look();
  if (isCompleted(first) || query.long_poll === 0) return ok(first);
  const last = await lookUntil(first, look, isCompleted, { end, latest });
  const outcome = isCompleted(last) ? 'answered' : 'pending';
  measure('info', 'waited', { user_data_request_id: path.id, outcome, waits: 1, wait_ms: now() - start });
  return ok(last);
});

const isCompleted = ({ status }: UserData): boolean => status === 'completed';
