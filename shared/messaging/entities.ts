/** The rows of messaging. */
import { after, type Key, key } from '../table/keys.ts';

const STATUS_RECEIPTS = 'TOLD#';

/** The receipt of a state that an account's chat platform was notified of, by the platform's id of the message. */
export const statusReceiptKey = (account: string, id: string, generation: number, state: string): Key =>
  key(`${STATUS_RECEIPTS}${account}#${id}`, `${generation > 0 ? `GENERATION#${generation}#` : ''}STATE#${state}`);

/** The repeated requests of a message of an account's chat platform: beside its status receipts, so that one query reads both. */
export const repeatsKey = (account: string, id: string): Key => key(statusReceiptKey(account, id, 0, '').pk, 'REPEATS');

/** Whether a key is that of repeated requests. */
export const isRepeatsKey = ({ sk }: Key): boolean => sk === 'REPEATS';

const ERASURE = 'ERASURE#';

/** The erasure of a user: the item exists until the erasure is complete. */
export const erasureKey = (phone: string): Key => key(`${ERASURE}${phone}`, 'ERASURE');

/** The user's phone number, by the key of the erasure. */
export const phoneOfErasure = (erasure: Key): string => after(ERASURE, erasure);

/** The partition of erasures in the index of due work, sorted by the time at which they continue. */
export const erasurePartition = 'ERASURES';

/** The partition of erasures that are complete except in pending batches, by the time at which they were so. */
export const markedPartition = 'MARKED';

/** The query for erasures that are due at a time. */
export const dueErasure = (time: string) => ({
  IndexName: 'gsi1' as const,
  KeyConditionExpression: 'gsi1pk = :due AND gsi1sk <= :time',
  ExpressionAttributeValues: { ':due': erasurePartition, ':time': time },
  ProjectionExpression: 'pk, sk',
});

const OPT_OUTS = 'STOP#';

/** Whether a user has stopped an account. */
export const optOutKey = (account: string, phone: string): Key => key(`${OPT_OUTS}${account}#${phone}`, 'STOP');

/** Whether a key is that of an opt-out. */
export const isOptOutKey = ({ pk }: Key): boolean => pk.startsWith(OPT_OUTS);

/** The account of an opt-out, by its key. */
export const accountOfOptOut = (optOut: Key): string => after(OPT_OUTS, optOut).split('#', 1)[0] ?? '';

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

/** The index partition of an account's jobs. */
export const jobListOf = (account: string): string => `JOBS_OF#${account}`;

/** Index attributes of a job: they list an account's jobs, oldest first. */
export const ofJobList = (account: string, { created, job_id }: { created: string; job_id: string }) => ({
  gsi2pk: jobListOf(account),
  gsi2sk: `${created}#${job_id}`,
});

/** The index partition of an account's cancelled jobs with messages that may be pending, by the time of the next look. */
export const cancelledJobsOf = (account: string): string => `CANCELLED#${account}`;

/** The pattern for the partitions of jobs, for access rights. */
export const anyJob = `${JOB}*`;
