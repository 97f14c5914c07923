/** Cancellation of jobs. */
import { validate as isUuid } from 'uuid';
import { now, sortableTime, timestamp } from '../../core/clock.ts';
import { Problem } from '../../core/problems.ts';
import { deletionWrite } from '../../table/deletion-markers.ts';
import { dueAt } from '../../table/keys.ts';
import { transact, updateWrite } from '../../table/transactions.ts';
import { cancelledJobsOf, jobKey } from '../entities.ts';
import { defaultJobsOf } from './default-jobs.ts';
import { jobNotFound, readJob } from './job.ts';

/**
 * Cancels a job: no attempt to deliver its messages begins after this, and `expand` ends the pending ones. Repeating it
 * changes nothing. 1 read unit, 4 write units, and 3 on the indexes.
 *
 * @throws job_not_found — the account has no such job
 * @throws job_not_cancellable — the job is a default job, which messages without a job share
 */
export const cancelJob = async (account: string, job: string): Promise<void> => {
  if (defaultJobsOf(account).has(job)) {
    throw new Problem(
      'job_not_cancellable',
      'This is the job of all messages of a day that name no job. To be able to stop messages, send them with `job_id`.',
    );
  }
  // A key has at most 2,048 bytes.
  if (!isUuid(job) || (await readJob(account, job)) === undefined) throw jobNotFound();
  const look = sortableTime(now());
  const due = dueAt('expansions', { account, id: job, time: look });
  const cancellation = updateWrite({
    Key: jobKey(account, job),
    UpdateExpression:
      'SET cancelled = :now, gsi1pk = :shard, gsi1sk = :due, gsi3pk = :cancelled, gsi3sk = :look REMOVE batches_from, checked, first_pending',
    ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(cancelled)',
    ExpressionAttributeValues: {
      ':now': timestamp(),
      ':shard': due.gsi1pk,
      ':due': due.gsi1sk,
      ':cancelled': cancelledJobsOf(account),
      ':look': look,
    },
  });
  await transact([cancellation, deletionWrite('job', nameOfJob(account, job))]);
};

/** The name of a job in its deletion marker. */
export const nameOfJob = (account: string, job: string): string => `${account} ${job}`;
