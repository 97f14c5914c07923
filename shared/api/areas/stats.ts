/** Delivery logs, job counts, and jobs: the messages that requests name with the same `job_id`. */
import * as v from 'valibot';
import { dayIn, UTC } from '../../core/time-zones.ts';
import { JOB_POSITION } from '../../messaging/entities.ts';
import { contactError, personOf } from '../../messaging/jids.ts';
import { jobStatuses } from '../../messaging/jobs/statuses.ts';
import { LOG_POSITION } from '../../outbox/log-positions.ts';
import { reasonCodes, states } from '../../outbox/message.ts';
import { responseList } from '../../validation/bounded.ts';
import { timeParameter } from '../../validation/point-in-time.ts';
import { calendarDay, idOfAnything, reference, uuid, wholeNumber } from '../../validation/schemas.ts';
import { timeZone } from '../../validation/time-zone.ts';

import { define } from '../endpoint.ts';

/** Most days from the first to the last day of a period. */
const MAX_PERIOD = 366;

/** A day, or a time, which stands for the day that contains it. */
const dayOrTime = v.pipe(
  v.string(),
  v.check(
    (value) => v.is(calendarDay, value) || v.is(timeParameter, value),
    'must be a day that exists, as YYYY-MM-DD, or a time as RFC 3339 writes it or in Unix seconds',
  ),
);

/** A period as a caller names it: with either name of its first and last day. */
interface Period {
  job_reference?: string | undefined;
  by?: 'day' | undefined;
  start_date?: string | undefined;
  end_date?: string | undefined;
  start?: string | undefined;
  end?: string | undefined;
  time_zone: string;
}

/** The last day that a period may have: where the year 10000 begins earlier, its first day counts for it. */
const LAST_DAY = '9999-12-31';

/** `start` and `end` of a period as days of its time zone. */
const daysOf = ({ start, end, time_zone }: Period): Pick<Period, 'start' | 'end'> => {
  const dayOf = (value: string): string => {
    if (v.is(calendarDay, value)) return value;
    const day = dayIn(time_zone, v.parse(timeParameter, value) * 1_000);
    return v.is(calendarDay, day) ? day : LAST_DAY;
  };
  return { start: start && dayOf(start), end: end && dayOf(end) };
};

/** The errors of a period of days by parameter, besides those of single parameters. */
const periodErrors = ({ start_date, end_date, start, end }: Period): [parameter: keyof Period, message: string][] => {
  const errors: [keyof Period, string][] = [];
  const [first, last] = [start_date ?? start, end_date ?? end];
  if (first === undefined) errors.push(['start_date', 'is required']);
  if (last === undefined) errors.push(['end_date', 'is required']);
  if (start !== undefined && first !== start)
    errors.push(['start', 'must be the same day as start_date: use one of them']);
  if (end !== undefined && last !== end) errors.push(['end', 'must be the same day as end_date: use one of them']);
  if (first !== undefined && last !== undefined) {
    const days = (Date.parse(last) - Date.parse(first)) / 86_400_000;
    if (days < 0 || days > MAX_PERIOD) {
      const name = end_date === undefined ? 'end' : 'end_date';
      errors.push([name, `must not be before start_date, nor more than ${MAX_PERIOD} days after it`]);
    }
  }
  return errors;
};

const reachedState = v.pipe(v.string(), v.metadata({ enum: states }));

export const logEntry = v.object({
  id: v.string(),
  created: v.string(),
  contact: v.string(),
  state: reachedState,
  job_id: v.string(),
  payload_type: v.string(),
  reference: v.optional(v.string()),
  reason: v.optional(v.picklist(reasonCodes)),
});

export const jobCount = v.object({
  day: v.optional(v.string()),
  job_id: v.string(),
  state: reachedState,
  payload_type: v.string(),
  count: v.pipe(v.number(), v.metadata({ type: 'integer' })),
});

export const stats = {
  listLogs: define({
    area: 'stats',
    summary: 'List the delivery log of your messages, newest first.',
    routes: [{ host: 'base', method: 'GET', path: '/v1/stats/logs' }],
    token: 'header',
    permission: 'stats',
    query: v.object({
      limit: v.optional(wholeNumber(1, 1_000), '100'),
      contact: v.optional(
        v.pipe(
          v.string(),
          v.check(
            (contact) => personOf(contact) !== undefined,
            ({ input }) => contactError(input),
          ),
        ),
      ),
      state: v.optional(v.picklist(states)),
      job_id: v.optional(uuid),
      reference: v.optional(reference),
      start: v.optional(timeParameter),
      end: v.optional(timeParameter),
      cursor: v.optional(v.string()),
    }),
    position: v.pipe(v.string(), v.regex(LOG_POSITION)),
    responses: { 200: responseList(logEntry), 204: null },
    problems: [],
    table: ['listLogsByState', 'listLogsOfContact', 'listLogsOfJob', 'listLogsWithReference'],
  }),

  listJobs: define({
    area: 'stats',
    summary: 'Count the messages of your jobs by state, for a period.',
    routes: [{ host: 'base', method: 'GET', path: '/v1/stats/jobs' }],
    token: 'header',
    permission: 'stats',
    query: v.pipe(
      v.object({
        start_date: v.optional(calendarDay),
        end_date: v.optional(calendarDay),
        start: v.optional(dayOrTime),
        end: v.optional(dayOrTime),
        job_reference: v.optional(reference),
        time_zone: v.optional(timeZone, UTC),
        by: v.optional(v.picklist(['day'])),
      }),
      v.rawCheck<Period>(({ dataset, addIssue }) => {
        if (!dataset.typed || dataset.issues) return;
        const input = { ...dataset.value };
        for (const [key, message] of periodErrors({ ...input, ...daysOf(input) })) {
          addIssue({ message, path: [{ type: 'object', origin: 'value', input, key, value: input[key] }] });
        }
      }),
      v.transform((given) => {
        const { start_date, end_date, job_reference, time_zone, by } = given;
        const { start = '', end = '' } = daysOf(given);
        return { start_date: start_date ?? start, end_date: end_date ?? end, job_reference, time_zone, by };
      }),
    ),
    responses: { 200: responseList(jobCount), 204: null },
    problems: ['period_too_large'],
    table: ['listJobs', 'listJobsWithReference'],
  }),
} as const;

const wholeCount = v.pipe(v.number(), v.metadata({ type: 'integer' }));

export const jobStatus = v.object({
  job_id: v.string(),
  day: v.optional(v.string()),
  status: v.picklist(jobStatuses),
  created: v.string(),
  start: v.string(),
  reference: v.optional(v.string()),
  cancelled: v.optional(v.string()),
  recipients: wholeCount,
  expanded: wholeCount,
  pending: wholeCount,
  states: v.object(v.entriesFromList(states, v.optional(wholeCount))),
  pace: v.optional(v.number()),
  estimated_end: v.optional(v.string()),
  waits_until: v.optional(v.string()),
});

/** A job in a list. */
export const listedJob = v.object({
  job_id: v.string(),
  reference: v.optional(v.string()),
  created: v.string(),
  start: v.string(),
  cancelled: v.optional(v.string()),
  recipients: v.optional(wholeCount),
});

export const jobs = {
  listRecentJobs: define({
    area: 'jobs',
    summary: 'List your jobs, newest first.',
    routes: [{ host: 'base', method: 'GET', path: '/v1/jobs' }],
    token: 'header',
    permission: 'messages',
    query: v.object({
      limit: v.optional(wholeNumber(1, 100), '50'),
      start: v.optional(timeParameter),
      end: v.optional(timeParameter),
      cursor: v.optional(v.string()),
    }),
    position: v.pipe(v.string(), v.regex(JOB_POSITION)),
    responses: { 200: responseList(listedJob), 204: null },
    problems: [],
    table: ['listRecentJobs', 'findJobs'],
  }),

  readJob: define({
    area: 'jobs',
    summary: 'Read a job: how many of its messages reached each state.',
    routes: [{ host: 'base', method: 'GET', path: '/v1/jobs/{job_id}' }],
    token: 'header',
    permission: 'messages',
    path: v.object({ job_id: idOfAnything }),
    responses: { 200: jobStatus },
    problems: ['job_not_found'],
    table: ['findJob', 'listLogsOfJob', 'listJobs'],
  }),

  exportJobLog: define({
    area: 'jobs',
    summary: 'Export the delivery log of a job.',
    routes: [{ host: 'base', method: 'GET', path: '/v1/jobs/{job_id}/{file}' }],
    token: 'header',
    permission: 'stats',
    path: v.object({ job_id: idOfAnything, file: v.picklist(['log.csv', 'log.ndjson']) }),
    query: v.object({ cursor: v.optional(v.string()) }),
    // A state, and the place of an entry among those of the state.
    position: v.pipe(
      v.string(),
      v.regex(new RegExp(`^(?:${states.join('|')}) (?:0|${LOG_POSITION.source.slice(1, -1)})$`)),
    ),
    responses: { 200: v.instance(Uint8Array) },
    problems: ['job_not_found'],
    timeout: 29,
    table: ['findJob', 'listLogsOfJob'],
  }),

  cancelJob: define({
    area: 'jobs',
    summary: 'Stop the pending messages of a job.',
    routes: [{ host: 'base', method: 'DELETE', path: '/v1/jobs/{job_id}' }],
    token: 'header',
    permission: 'messages',
    path: v.object({ job_id: idOfAnything }),
    responses: { 204: null },
    problems: ['job_not_found', 'job_not_cancellable'],
    table: ['findJob', 'cancelJob'],
  }),
} as const;
