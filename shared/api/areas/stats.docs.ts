/** Texts, names and examples of statistics and jobs. */
import { inDays, LOG_PERIOD_DAYS } from '../../core/lifetimes.ts';
import { type AreaDocs, TIME } from '../docs.ts';
import { placeholders } from '../placeholders.ts';
import { jobCount, jobStatus, type jobs, listedJob, logEntry, type stats } from './stats.ts';

const { user, day, job, message, time } = placeholders;

export const statsDocs: AreaDocs<typeof stats> = {
  name: 'Statistics',
  description: 'Delivery log and message counts.',
  endpoints: {
    listLogs: {
      text: `One entry for each state that a message reached, newest first. The default period is the last ${inDays(LOG_PERIOD_DAYS)}. Filters combine.
A page may be short, or even empty, and still have a next page; 204 means that nothing is left.`,
      names: { 'query.state': 'DeliveryState' },
      examples: {
        after: {
          shows: 'The user has read a message',
          body: [{ id: 'event-2', type: 'message.state', data: { id: message, state: 'read' } }],
        },
        shows: 'Messages that were read',
        query: { state: 'read', job_id: job, limit: '10' },
        answer: [
          {
            id: message,
            created: time,
            contact: `${user}@users.example.com`,
            state: 'read',
            job_id: job,
            payload_type: 'text',
            reference: 'order-1047',
          },
        ],
      },
    },
    listJobs: {
      text: `The number of messages of each job and payload type that reached a state in the period: the rows of a job form a funnel.
Both days are included, and are at most 366 days apart. The job with the latest activity comes first. With \`by=day\`, there is
a count for each day, job, payload type and state, and the newest day comes first.`,
      examples: [
        {
          shows: 'A day',
          query: { start_date: day, end_date: day },
          answer: [{ job_id: job, state: 'read', payload_type: 'text', count: 1 }],
        },
        {
          shows: 'Each day in a time zone',
          query: { start_date: day, end_date: day, time_zone: 'Africa/Accra', by: 'day' },
          answer: [{ day, job_id: job, state: 'read', payload_type: 'text', count: 1 }],
        },
      ],
    },
  },
  schemas: { LogEntry: logEntry, JobCount: jobCount },
  names: { 'LogEntry.state': 'DeliveryState', 'JobCount.state': 'DeliveryState', 'LogEntry.reason': 'ReasonCode' },
  fields: {
    count: 'The number of messages that reached this state.',
    end: 'Exclusive: RFC 3339, also without a zone, as in the logs (UTC), or Unix seconds, also with a fraction.',
    end_date: 'Required, unless `end` is given. The last day, `YYYY-MM-DD`, in `time_zone`, inclusive.',
    'LogEntry.id': 'The id of the message.',
    'LogEntry.reason':
      'The reason code of a failed state: `refused`, `unreachable`, `cancelled`, `expired`, `opted_out`, `bot_number_released`, `no_platform`, `user_erased` or `unknown`.',
    'LogEntry.reference': 'The `reference` of the message, if it has one.',
    'listLogs.reference': 'Only messages with this `reference`.',
    'listJobs.job_reference': 'Only jobs with this `job_reference`.',
    'listJobs.by': '`day` counts each day by itself. Default: the period as a whole.',
    'listJobs.end':
      'The same as `end_date`, or a time as RFC 3339 or in Unix seconds: the day in `time_zone` (default: UTC) that contains it.',
    'listJobs.start':
      'The same as `start_date`, or a time as RFC 3339 or in Unix seconds: the day in `time_zone` (default: UTC) that contains it.',
    'listJobs.time_zone': 'The time zone of the days: the name of an IANA time zone, as `Africa/Johannesburg`.',
    'JobCount.day': 'The day on which they reached it, `YYYY-MM-DD`, in `time_zone`. Only with `by=day`.',
    'listLogs.contact': 'One user, as in the logs, or without the domain. Erased users have a pseudonym.',
    start: `Inclusive: RFC 3339, also without a zone, as in the logs (UTC), or Unix seconds, also with a fraction. Default: ${inDays(LOG_PERIOD_DAYS)} ago.`,
    start_date: 'Required, unless `start` is given. The first day, `YYYY-MM-DD`, in `time_zone`, inclusive.',
  },
  guarantees: { 'LogEntry.id': 'id' },
};

export const jobsDocs: AreaDocs<typeof jobs> = {
  name: 'Jobs',
  description: 'Groups of messages that a request names with `job_id`.',
  endpoints: {
    listRecentJobs: {
      text: `The jobs of your requests: those that you name with \`job_id\`, and those that a request to many users, or for a later time,
gets by itself; also jobs of which no message was sent yet, and cancelled ones. A job is listed as long as it is stored: for a day more than its
messages. Messages without a \`job_id\` share the job of their day, which is no job of a request and is not listed. Read a job, or
\`GET /v1/stats/jobs\`, for what became of its messages. New jobs appear within seconds. A page may be short, or even empty, and still have a next page.`,
      examples: {
        shows: 'The newest jobs',
        query: { limit: '10' },
        answer: [{ job_id: job, reference: 'autumn-survey', created: time, start: time, recipients: 4 }],
      },
    },
    readJob: {
      text: `What became of the messages of a job so far. Works for the job of a \`job_id\`, and for the job of a day, which the messages
without a \`job_id\` share. The counts are those of \`GET /v1/stats/jobs\`, over all days and payload types; they are some two
seconds late. The permission is \`messages\`, so that whoever sends and stops a job also sees it; the response names no user.

The sending hours of a job are those of its last request to many users, or for a later time, whose messages all have the same ones.`,
      examples: {
        shows: 'A job of six messages',
        path: { job_id: job },
        answer: {
          job_id: job,
          reference: 'autumn-survey',
          status: 'completed',
          created: time,
          start: time,
          recipients: 6,
          expanded: 6,
          pending: 0,
          states: { sent: 6, delivered_to_server: 6, read: 1 },
        },
      },
    },
    exportJobLog: {
      text: `The delivery log of a job as CSV, or with a JSON object on each line: state by state in the order of a message's life, and of a state
the oldest entry first. The columns are those of \`GET /v1/stats/logs\`; times have a \`Z\`. A page has at most 4 MB. Longer files continue behind a
\`Link\` header: append the pages, of which only the first one has the names of the columns. A text that a spreadsheet would take for a
formula begins with an apostrophe.`,
      fileTypes: ['text/csv', 'application/x-ndjson'],
      examples: { shows: 'The log as CSV', path: { job_id: job, file: 'log.csv' } },
    },
    cancelJob: {
      text: `Stops the pending messages of a job. From one second after the response, no attempt to deliver one of them begins. An
attempt under way may finish, and its state counts. Every other message becomes \`sending_failed\` with the reason
\`cancelled\`, within two minutes. A new message with this \`job_id\` returns 409. Repeating the request changes nothing.
Messages without a \`job_id\` share the job of their day, which cannot be cancelled.`,
      examples: { shows: 'It takes no further messages', path: { job_id: job } },
    },
  },
  schemas: { JobStatus: jobStatus, ListedJob: listedJob },
  names: { 'JobStatus.states': 'StateCounts' },
  fields: {
    cancelled: `When the job was cancelled. ${TIME}`,
    estimated_end: `When no message will be pending any more, at the present pace and within the sending hours of the job. Missing if that is more than 366 days ahead. ${TIME}`,
    'JobStatus.waits_until': `When the sending hours of the job begin, if they are closed while messages are pending. With \`recipient\`, when they begin in the first country of its users, if they are closed in all. ${TIME}`,
    expanded: 'How many messages are logged. The others are of batches, and follow.',
    'JobStatus.day':
      'The day (UTC), `YYYY-MM-DD`, whose messages without a `job_id` share this job; missing for other jobs.',
    'JobStatus.reference': 'The `job_reference` of the job, if it has one.',
    'JobStatus.created': `When the first message was accepted. ${TIME}`,
    'JobStatus.start': `When the first message was sent, or will be. ${TIME}`,
    'JobStatus.states': 'How many messages reached each state. States that no message reached are missing.',
    'JobStatus.status':
      '`scheduled`: nothing was sent yet. `running`: messages are pending. `completed`: none is pending. `cancelled`: no further message is sent.',
    pace: 'How many messages the app network accepted in a second, lately.',
    pending:
      'How many messages may still be sent: they have neither reached the app network nor failed. After a cancellation, these are only those whose attempt may be under way; the others are logged as failed shortly afterwards.',
    'JobStatus.recipients': 'How many messages the job has.',
    'ListedJob.reference': 'The `job_reference` of the job, if it has one.',
    'ListedJob.created': `When the first message was accepted. ${TIME}`,
    'ListedJob.start': `When the first message of its requests to many users, or for a later time, is sent. Without such a request, the same as \`created\`. ${TIME}`,
    'ListedJob.recipients':
      'How many messages the job has, without those that were sent at once, one by one; missing if it has no others. `GET /v1/jobs/{job_id}` counts all.',
    'listRecentJobs.limit': 'The maximum number of jobs.',
    'listRecentJobs.start':
      'Only jobs that were created then or later: RFC 3339, also without a zone (UTC), or Unix seconds.',
    'listRecentJobs.end':
      'Only jobs that were created before then: RFC 3339, also without a zone (UTC), or Unix seconds.',
    'exportJobLog.job_id': 'The `job_id` of a message, of a log entry, or of `GET /v1/stats/jobs`.',
    'exportJobLog.file_name': 'The format of the file.',
    'readJob.job_id': 'The `job_id` of a message, of a log entry, or of `GET /v1/stats/jobs`.',
    'cancelJob.job_id': 'The `job_id` with which the messages were sent.',
  },
  guarantees: { 'JobStatus.pace': 'amount', 'ListedJob.job_id': 'id' },
};
