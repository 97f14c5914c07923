/** Jobs that requests name: when they began, and whether they were cancelled. */
import { validate as isUuid } from 'uuid';
import { now, timestamp, timestampOf } from '../../core/clock.ts';
import { invalidRequest, Problem } from '../../core/problems.ts';
import type { SendingHours } from '../../core/sending-hours.ts';
import { messageRetention } from '../../core/settings.ts';
import { logPartitions } from '../../outbox/entities.ts';
import { type LoggedState, timeAt } from '../../outbox/log-positions.ts';
import { getConsistent, hasExpired, page, pages, putIfAbsent, update } from '../../table/client.ts';
import type { Key } from '../../table/keys.ts';
import { putIfAbsentWrite, updateWrite, type Write } from '../../table/transactions.ts';
import { jobKey, jobsWithReference, ofJobList, ofJobsWithReference } from '../entities.ts';

/** The sending hours of a job. */
export interface JobHours extends SendingHours {
  /** With `recipient`: the first digits of its users' numbers, by which their zones are found. At most 20. */
  prefixes?: string[];
}

/** A job of an account. Default jobs have no item. */
export interface JobItem extends Key {
  account: string;
  job_id: string;
  /** When its first message was accepted. */
  created: string;
  /** The business's own name for it, by which an index finds it. */
  reference?: string;
  /** When it was cancelled. */
  cancelled?: string;
  /** The number of messages of its batches. */
  recipients?: number;
  /** When its first batch begins, in the form of the API. Messages that are accepted at once have no batch. */
  first_due?: string;
  /** The hours of its last batch whose messages all have the same ones, also if these were accepted at once. */
  hours?: JobHours;
  /** While its pending messages are being ended (`endCancelled`): when the next look at them is. */
  gsi3sk?: string;
  /** The positions of that look: in the account's pending batches, and in the job's log. */
  batches_from?: string;
  checked?: string;
  /** The position of the first pending message in the log that this look has found. */
  first_pending?: string;
  expires_at: number;
}

const DAY = 86_400;

/** When a job expires whose last message begins at `start`: not before its messages. Both in seconds since 1970. */
const lifetimeFrom = (start: number): number => Math.floor(start) + (messageRetention() + 1) * DAY;

/** A job of an account, by a consistent read; undefined if no request named it. 1 read unit. */
export const readJob = (account: string, job: string): Promise<JobItem | undefined> =>
  getConsistent<JobItem>(jobKey(account, job));

/**
 * The job of a new message: creates it with its first message, and keeps it for as long as its messages. 1 read unit; 2
 * more write units for the first message, and 1 for the first message of a later day.
 *
 * @param start - when its sending begins, in milliseconds since 1970
 * @param reference - the business's own name for it: 1 or 2 more write units for the first one
 * @throws invalid_request — the job has another reference
 */
export const openJob = async (
  account: string,
  job: string,
  { start = now(), reference }: { start?: number; reference?: string | undefined } = {},
): Promise<JobItem> => {
  const expires_at = lifetimeFrom(start / 1_000);
  let known = await readJob(account, job);
  if (known === undefined) {
    const item: JobItem = { ...newJob(account, job, timestamp(), reference), expires_at };
    known = await putIfAbsent(item);
    if (known === undefined) return item;
  }
  if (reference !== undefined) await nameJob(known, reference);
  if (known.expires_at < expires_at - DAY) {
    await update({
      Key: jobKey(account, job),
      UpdateExpression: 'SET expires_at = :end',
      ConditionExpression: 'attribute_exists(pk)',
      ExpressionAttributeValues: { ':end': expires_at },
    });
  }
  return known;
};

/**
 * Gives a job the business's own name for it, unless it has one.
 *
 * @throws invalid_request — the job has another reference
 */
const nameJob = async ({ account, job_id, created, ...known }: JobItem, reference: string): Promise<void> => {
  if (known.reference === reference) return;
  const { gsi4pk, gsi4sk } = ofJobsWithReference(account, { reference, created, job_id });
  const isNamed =
    known.reference === undefined &&
    (await update({
      Key: jobKey(account, job_id),
      UpdateExpression: 'SET #reference = :reference, gsi4pk = :jobs, gsi4sk = :position',
      ConditionExpression: 'attribute_exists(pk) AND (attribute_not_exists(#reference) OR #reference = :reference)',
      ExpressionAttributeNames: { '#reference': 'reference' },
      ExpressionAttributeValues: { ':reference': reference, ':jobs': gsi4pk, ':position': gsi4sk },
    }));
  if (!isNamed) throw otherReference();
};

const otherReference = (): Problem =>
  invalidRequest([
    { parameter: 'job_reference', detail: 'must be the reference that the job has already, or be left out' },
  ]);

/**
 * Checks that a job takes further messages, by a request that sends none. 1 read unit.
 *
 * @throws invalid_request — the job has another reference
 * @throws job_cancelled
 */
export const checkJob = async (account: string, job: string, reference: string | undefined): Promise<void> => {
  const known = await readJob(account, job);
  if (isCancelled(known)) throw jobCancelled();
  if (reference !== undefined && known?.reference !== undefined && known.reference !== reference)
    throw otherReference();
};

/**
 * Adds the messages of a batch, and their hours, to its job, within the transaction that accepts it; fails if the job is
 * cancelled.
 */
export const addRecipientsWrite = (
  account: string,
  job: string,
  recipients: number,
  hours: JobHours | undefined,
): Write =>
  updateWrite({
    Key: jobKey(account, job),
    UpdateExpression: `ADD recipients :recipients${hours === undefined ? '' : ' SET hours = :hours'}`,
    ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(cancelled)',
    ExpressionAttributeValues: { ':recipients': recipients, ...(hours !== undefined && { ':hours': hours }) },
  });

/** What a job of messages that name none begins with. */
interface OwnJob extends Pick<JobItem, 'first_due'> {
  /** When its sending begins, in milliseconds since 1970. */
  start: number;
  reference: string | undefined;
  hours: JobHours | undefined;
}

/** The job of messages that name none, within the transaction that accepts them: a request that fails leaves no job behind. */
export const ownJobWrite = (
  account: string,
  job: string,
  recipients: number,
  { start, first_due, reference, hours }: OwnJob,
): Write =>
  putIfAbsentWrite<JobItem>({
    ...{ ...newJob(account, job, timestamp(), reference), recipients },
    ...(first_due !== undefined && { first_due }),
    ...(hours !== undefined && { hours }),
    expires_at: lifetimeFrom(start / 1_000),
  });

/**
 * Notes when a batch of a job begins, before it is accepted, unless an earlier one is known: so the status of a job needs no
 * look at its batches, of which it may have any number. 1 write unit, if it is the first one.
 *
 * @param start - in milliseconds since 1970
 */
export const noteFirstDue = async (account: string, { job_id, first_due }: JobItem, start: number): Promise<void> => {
  const due = timestampOf(start);
  if (first_due !== undefined && first_due <= due) return;
  await update({
    Key: jobKey(account, job_id),
    UpdateExpression: 'SET first_due = :due',
    ConditionExpression: 'attribute_exists(pk) AND (attribute_not_exists(first_due) OR first_due > :due)',
    ExpressionAttributeValues: { ':due': due },
  });
};

const newJob = (account: string, job_id: string, created: string, reference: string | undefined) => ({
  ...jobKey(account, job_id),
  account,
  job_id,
  created,
  ...ofJobList(account, { created, job_id }),
  ...(reference !== undefined && { reference, ...ofJobsWithReference(account, { reference, created, job_id }) }),
});

/** The ids of an account's jobs with a reference. 0.5 read units for 4 KB of the index. */
export const jobsNamed = async (account: string, reference: string): Promise<Set<string>> => {
  const found = new Set<string>();
  for await (const items of pages<Pick<JobItem, 'job_id'>>({
    IndexName: 'gsi4',
    KeyConditionExpression: 'gsi4pk = :jobs',
    ExpressionAttributeValues: { ':jobs': jobsWithReference(account, reference) },
    ProjectionExpression: 'job_id',
  })) {
    for (const { job_id } of items) found.add(job_id);
  }
  return found;
};

/** Whether a job was cancelled. */
export const isCancelled = (job: Pick<JobItem, 'cancelled'> | undefined): boolean => job?.cancelled !== undefined;

/** What is known of a job: of one that no request has named in this version, only when its first message was accepted. */
export type KnownJob = Pick<JobItem, 'created'> & Partial<JobItem>;

/**
 * A job of an account, whether a request named it or not; undefined if it has no messages. 1 read unit; without an item, 1
 * more for its first log entry.
 */
export const findJob = async (account: string, job: string): Promise<KnownJob | undefined> => {
  // A key has at most 2,048 bytes.
  if (!isUuid(job)) return undefined;
  const item = await readJob(account, job);
  if (item !== undefined) return item;
  for (const state of FIRST_STATES) {
    const created = await firstReached(account, job, state);
    if (created !== undefined) return { created };
  }
  return undefined;
};

/** When the first message of a job reached a state; undefined if none did. 0.5 read units. */
export const firstReached = async (
  account: string,
  job_id: string,
  state: LoggedState,
): Promise<string | undefined> => {
  // Only the first entries may have expired.
  for (let start: Record<string, unknown> | undefined, limit = 1; ; limit = 1_000) {
    const { items, next } = await page<{ gsi3sk: string; expires_at: number }>({
      IndexName: 'gsi3',
      KeyConditionExpression: 'gsi3pk = :job',
      ExpressionAttributeValues: { ':job': logPartitions.gsi3(account, { job_id, state }) },
      ProjectionExpression: 'gsi3sk, expires_at',
      Limit: limit,
      ...(start && { ExclusiveStartKey: start }),
    });
    const found = items.find((item) => !hasExpired(item));
    if (found !== undefined) return timeAt(found.gsi3sk);
    if (next === undefined) return undefined;
    start = next;
  }
};

/** The first state of a message to a user, and of a message from a user. */
const FIRST_STATES = ['sent', 'received'] as const;

export const jobNotFound = (): Problem =>
  new Problem('job_not_found', 'None of your messages belongs to this job. GET /v1/stats/jobs lists your jobs.');

/** The problem of a new message with the id of a cancelled job. */
export const jobCancelled = (): Problem =>
  new Problem('job_cancelled', 'This job was cancelled, so it takes no further messages. Use another job_id.');
