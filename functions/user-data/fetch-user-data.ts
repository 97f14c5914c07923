/**
 * GET /v1/user_data/fetch/{id}: returns what a user granted, and waits for the user's answer if the caller asks for it.
 */
import { userDataRequests as api } from '../../shared/api/areas/user-data.ts';
import { now } from '../../shared/core/clock.ts';
import { waitDeadlines } from '../../shared/core/deadline.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';
import { pollUntil, type ReadMode } from '../../shared/http/long-poll.ts';
import { measureWait, slotOf } from '../../shared/http/wait-slot.ts';
import { fetchAgain, fetchRequest, type UserData } from '../../shared/user-data/requests.ts';

export const handler = endpoint(api.fetchUserData, async ({ account, path, query, remaining }) => {
  const start = now();
  const deadlines = waitDeadlines(query.long_poll, remaining());
  if (query.long_poll === 0) return ok(await fetchRequest(account, path.id));
  const read = (mode: ReadMode): Promise<UserData> =>
    mode === 'latest' ? fetchRequest(account, path.id) : fetchAgain(account, path.id);
  const place = slotOf(account, deadlines.end);
  const data = await pollUntil(read, isCompleted, deadlines, place);
  const request = { account, user_data_request_id: path.id };
  measureWait(place, request, { start, isAnswered: isCompleted(data) });
  return ok(data);
});

const isCompleted = ({ status }: UserData): boolean => status === 'completed';
