/** GET /v1/stats/logs: lists the delivery log of the caller's messages, newest first. */

import { stats as api } from '../../shared/api/areas/stats.ts';
import { decodeCursor, encodeCursor } from '../../shared/http/cursor.ts';
import { endpoint, nextPage, noContent, ok } from '../../shared/http/endpoint.ts';
import { personOf } from '../../shared/messaging/jids.ts';
import { listLogs } from '../../shared/stats/delivery-log.ts';

export const handler = endpoint(api.listLogs, async ({ account, query }) => {
  const { limit, contact, cursor, ...given } = query;
  const filter = { ...given, phone: contact === undefined ? undefined : personOf(contact) };
  const filters = [account, filter.phone, filter.state, filter.job_id, filter.reference, filter.start, filter.end];
  const { entries, next } = await listLogs(account, filter, limit, decodeCursor(api.listLogs, filters, cursor));
  if (next === undefined) return entries.length === 0 ? noContent() : ok(entries);
  return ok(entries, nextPage('/v1/stats/logs', { ...query, cursor: encodeCursor(api.listLogs, filters, next) }));
});
