/** GET /v1/jobs/{job_id}/{file}: the log of one of the caller's jobs, as log.csv or log.ndjson. */
import { jobs as api } from '../../shared/api/areas/stats.ts';
import { csvLine } from '../../shared/core/csv.ts';
import { decodeCursor, encodeCursor } from '../../shared/http/cursor.ts';
import { endpoint, nextPage, ok } from '../../shared/http/endpoint.ts';
import { asFile } from '../../shared/http/file.ts';
import type { LogEntry } from '../../shared/stats/delivery-log.ts';
import { exportLog } from '../../shared/stats/job-log.ts';

const COLUMNS = ['id', 'created', 'contact', 'state', 'job_id', 'payload_type', 'reference', 'reason'] as const;

const withZone = (entry: LogEntry): LogEntry => ({ ...entry, created: `${entry.created}Z` });

const inCsv = (entry: LogEntry): string => csvLine(COLUMNS.map((column) => withZone(entry)[column]));
const inJson = (entry: LogEntry): string => `${JSON.stringify(withZone(entry))}\n`;

export const handler = endpoint(api.exportJobLog, async ({ account, path: { job_id, file }, query: { cursor } }) => {
  const filters = [account, job_id, file];
  const isCsv = file === 'log.csv';
  const after = decodeCursor(api.exportJobLog, filters, cursor);
  const { lines, next } = await exportLog(account, job_id, isCsv ? inCsv : inJson, after);
  const header = isCsv && after === undefined ? csvLine(COLUMNS) : '';
  const link =
    next === undefined
      ? {}
      : nextPage(`/v1/jobs/${job_id}/${file}`, { cursor: encodeCursor(api.exportJobLog, filters, next) });
  return ok(Buffer.from(header + lines.join('')), { ...asFile(file, `job-${job_id}`), ...link });
});
