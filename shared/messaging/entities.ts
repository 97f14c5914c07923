/**
 * The rows about jobs, opt-outs, erasures, the times of users' last messages, repeated requests of chat platforms, and status
 * receipts.
 */

import type { AnyItem, Entity } from '../table/entity.ts';
import { after, type Key, key } from '../table/keys.ts';

const STATUS_RECEIPTS = 'STATUS_RECEIPT#';

/** The receipt of a state that an account's chat platform was notified of, by the platform's id of the message. */
export const statusReceiptKey = (account: string, id: string, generation: number, state: string): Key =>
  key(`${STATUS_RECEIPTS}${account}#${id}`, `${generation > 0 ? `GENERATION#${generation}#` : ''}STATE#${state}`);

/** The repeated requests of a message of an account's chat platform: beside its status receipts, so that one query reads both. */
export const repeatsKey = (account: string, id: string): Key => key(statusReceiptKey(account, id, 0, '').pk, 'REPEATS');

/** Whether a key is that of repeated requests. */
export const isRepeatsKey = ({ sk }: Key): boolean => sk === 'REPEATS';

const ERASURE = 'ERASURE#';
const ERASURES = 'ERASURES';
const MARKED = 'MARKED';

/** The erasure of a user: the item exists until the erasure is complete. */
export const erasureKey = (phone: string): Key => key(`${ERASURE}${phone}`, 'ERASURE');

/** The user's phone number, by the key of the erasure. */
export const phoneOfErasure = (erasure: Key): string => after(ERASURE, erasure);

/** The partition of erasures in the index of due work, sorted by the time at which they continue. */
export const erasurePartition = ERASURES;

/** The partition of erasures that are complete except in pending batches, by the time at which they were so. */
export const markedPartition = MARKED;

/** The query for erasures that are due at a time. */
export const dueErasure = (time: string) => ({
  IndexName: 'gsi1' as const,
  KeyConditionExpression: 'gsi1pk = :due AND gsi1sk <= :time',
  ExpressionAttributeValues: { ':due': erasurePartition, ':time': time },
  ProjectionExpression: 'pk, sk',
});

const OPT_OUTS = 'OPT_OUT#';

/** Whether a user has stopped an account. */
export const optOutKey = (account: string, phone: string): Key => key(`${OPT_OUTS}${account}#${phone}`, 'OPT_OUT');

/** Whether a key is that of an opt-out. */
export const isOptOutKey = ({ pk }: Key): boolean => pk.startsWith(OPT_OUTS);

/** The account of an opt-out, by its key. */
export const accountOfOptOut = (optOut: Key): string => after(OPT_OUTS, optOut).split('#', 1)[0] ?? '';

const LAST_WRITTEN = 'LAST_WRITTEN#';

/** When a user has written to an account last. */
export const lastWrittenKey = (account: string, phone: string): Key =>
  key(`${LAST_WRITTEN}${account}#${phone}`, 'LAST_WRITTEN');

const JOB = 'JOB#';

/** A job that a request named. */
export const jobKey = (account: string, job: string): Key => key(`${JOB}${account}#${job}`, 'JOB');

/** Whether a key is that of a job. */
export const isJobKey = ({ pk }: Pick<Key, 'pk'>): boolean => pk.startsWith(JOB);

/** The account and the id of a job, by its key. */
export const jobNamed = (job: Pick<Key, 'pk'>): { account: string; job_id: string } => {
  const [account = '', job_id = ''] = after(JOB, job).split('#');
  return { account, job_id };
};

const JOBS = 'JOBS_OF#';

/** The index partition of an account's jobs. */
export const jobListOf = (account: string): string => `${JOBS}${account}`;

/** Index attributes of a job: they list an account's jobs, oldest first. */
export const ofJobList = (account: string, { created, job_id }: { created: string; job_id: string }) => ({
  gsi2pk: jobListOf(account),
  gsi2sk: `${created}#${job_id}`,
});

/** The pattern of positions in the list of jobs: time and id. */
export const JOB_POSITION = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}#[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const JOBS_WITH = 'JOBS_WITH#';

/** The index partition of an account's jobs with the business's own reference. */
export const jobsWithReference = (account: string, reference: string): string => `${JOBS_WITH}${account}#${reference}`;

/** Index attributes of a job with the business's own reference, oldest first. */
export const ofJobsWithReference = (
  account: string,
  { reference, created, job_id }: { reference: string; created: string; job_id: string },
) => ({ gsi4pk: jobsWithReference(account, reference), gsi4sk: `${created}#${job_id}` });

const CANCELLED = 'CANCELLED#';

/** The index partition of an account's cancelled jobs with messages that may be pending, by the time of the next look. */
export const cancelledJobsOf = (account: string): string => `${CANCELLED}${account}`;

/** The account in a key of the form `NAME#account#…`. */
const accountInKey = ({ pk }: AnyItem): string => pk.split('#')[1] ?? '';

const statusReceipt = {
  name: 'status receipt',
  pk: STATUS_RECEIPTS,
  sk: '',
  account: accountInKey,
  restore: 'missing',
  expires: true,
  person: 'none',
  access: { listStatusReceipts: 'Query', putStatusReceipt: 'PutItem', updateRepeats: 'UpdateItem' },
} as const satisfies Entity;

const erasure = {
  name: 'erasure',
  pk: ERASURE,
  sk: 'ERASURE',
  restore: 'everything',
  expires: false,
  person: { erasure: 'removed', exported: { not: 'it exists only until the erasure is complete' } },
  access: {
    findErasure: 'GetItem',
    checkErasure: 'BatchGetItem',
    beginErasure: 'UpdateItem',
    postponeErasure: 'UpdateItem',
    endErasure: 'DeleteItem',
    listDueErasures: { index: 'gsi1', partition: ERASURES },
    listMarked: { index: 'gsi1', partition: MARKED },
  },
} as const satisfies Entity;

const optOut = {
  name: 'opt-out',
  pk: OPT_OUTS,
  sk: 'OPT_OUT',
  account: accountInKey,
  restore: 'missing',
  expires: 'some',
  person: { erasure: 'removed', phone: ({ pk }) => pk.split('#')[2] ?? '', exported: 'opt_outs' },
  access: {
    findOptOut: 'GetItem',
    checkOptOut: 'BatchGetItem',
    updateOptOut: 'UpdateItem',
    removeOptOuts: 'BatchWriteItem',
  },
} as const satisfies Entity;

const lastWritten = {
  name: "time of a user's last message",
  pk: LAST_WRITTEN,
  sk: 'LAST_WRITTEN',
  account: accountInKey,
  restore: 'never',
  expires: true,
  person: { erasure: 'removed', exported: { not: 'the log has the time' } },
  access: { noteWritten: 'PutItem', findWritten: 'GetItem', forgetWritten: 'DeleteItem' },
} as const satisfies Entity;

const job = {
  name: 'job',
  pk: JOB,
  sk: 'JOB',
  account: (item) => String(item.account),
  restore: 'missing',
  expires: true,
  person: 'none',
  access: {
    findJob: 'GetItem',
    putJob: 'PutItem',
    updateJob: 'UpdateItem',
    findJobs: 'BatchGetItem',
    listRecentJobs: { index: 'gsi2', partition: JOBS },
    listJobsWithReference: { index: 'gsi4', partition: JOBS_WITH },
    listCancelledJobs: { index: 'gsi3', partition: CANCELLED },
  },
} as const satisfies Entity;

export const messagingEntities = [statusReceipt, erasure, optOut, lastWritten, job] as const;
