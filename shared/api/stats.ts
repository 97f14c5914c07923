/** Delivery logs and job counts. */
import * as v from 'valibot';
import { personOf } from '../messaging/contacts.ts';
import { states } from '../messaging/message.ts';
import { responseList } from '../validation/bounded.ts';
import { calendarDay, uuid, wholeNumber } from '../validation/schemas.ts';

import { define } from './endpoint.ts';

/** Days from the first to the last of a period. */
const MAX_PERIOD = 366;
/** The last second of the year 9999. */
const END_OF_TIME = 253_402_300_799;

const reachedState = v.pipe(v.string(), v.metadata({ enum: states }));

export const logEntry = v.object({ created: v.string(), contact: v.string(), state: reachedState, job_id: v.string() });

export const jobCount = v.object({
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
            'must be a contact as the logs show it, or its phone number',
          ),
        ),
      ),
      state: v.optional(v.picklist(states)),
      job_id: v.optional(uuid),
      start: v.optional(wholeNumber(0, END_OF_TIME)),
      end: v.optional(wholeNumber(0, END_OF_TIME)),
      cursor: v.optional(v.string()),
    }),
    responses: { 200: responseList(logEntry), 204: null },
    problems: [],
    table: ['listLogsByState', 'listLogsOfContact', 'listLogsOfJob'],
  }),

  listJobs: define({
    area: 'stats',
    summary: 'Count the messages of your jobs by state, for a period.',
    routes: [{ host: 'base', method: 'GET', path: '/v1/stats/jobs' }],
    token: 'header',
    permission: 'stats',
    query: v.pipe(
      v.object({ start_date: calendarDay, end_date: calendarDay }),
      v.forward(
        v.partialCheck(
          [['start_date'], ['end_date']],
          ({ start_date, end_date }) => {
            if (!v.is(calendarDay, start_date) || !v.is(calendarDay, end_date)) return true;
            const days = (Date.parse(end_date) - Date.parse(start_date)) / 86_400_000;
            return days >= 0 && days <= MAX_PERIOD;
          },
          `must not be before start_date, nor more than ${MAX_PERIOD} days after it`,
        ),
        ['end_date'],
      ),
    ),
    responses: { 200: responseList(jobCount), 204: null },
    problems: ['period_too_large'],
    table: ['listJobs'],
  }),
} as const;
