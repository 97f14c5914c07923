/** The whole log of a job, for exports: state by state, and of a state the oldest entry first. Each entry is read once. */
import { EXPORT_BYTES } from '../core/csv.ts';
import { findJob, jobNotFound } from '../messaging/jobs/job.ts';
import { logPartitions } from '../outbox/entities.ts';
import { states } from '../outbox/message.ts';
import { hasExpired, page } from '../table/client.ts';
import { type Listed, type LogEntry, toEntry } from './delivery-log.ts';

/** Entries that are read at a time. */
const READ = 1_000;

/** Entries from which a page ends: reading them takes some seconds. */
const MAX_ENTRIES = 20_000;

/**
 * A page of the log of a job of an account. 1.5 read units, and 0.5 for 4 KB of the entries.
 *
 * @param lineOf - returns the line of an entry, of which a page has at most `EXPORT_BYTES`
 * @param after - the position of the last entry of the previous page: its state, and its place among those of the state
 * @throws job_not_found — the account has no such job
 */
export const exportLog = async (
  account: string,
  job_id: string,
  lineOf: (entry: LogEntry) => string,
  after = '',
): Promise<{ lines: string[]; next?: string }> => {
  if ((await findJob(account, job_id)) === undefined) throw jobNotFound();
  const [given, place = ''] = after === '' ? [] : after.split(' ');
  const begun = states.find((one) => one === given) ?? states[0];
  const lines: string[] = [];
  let bytes = 0;
  for (const state of states.slice(states.indexOf(begun))) {
    let from = state === begun ? place : '';
    for (;;) {
      const { items, next } = await page<Listed>({
        IndexName: 'gsi3',
        KeyConditionExpression: 'gsi3pk = :log AND gsi3sk > :from',
        ExpressionAttributeValues: { ':log': logPartitions.gsi3(account, { job_id, state }), ':from': from || '0' },
        Limit: READ,
      });
      for (const item of items.filter((one) => !hasExpired(one))) {
        const { gsi3sk: position = '' } = item;
        const line = lineOf(toEntry({ item, position }));
        bytes += Buffer.byteLength(line);
        if (lines.length >= MAX_ENTRIES || bytes > EXPORT_BYTES) return { lines, next: `${state} ${from || '0'}` };
        lines.push(line);
        from = position;
      }
      from = items.at(-1)?.gsi3sk ?? from;
      if (next === undefined) break;
    }
  }
  return { lines };
};
