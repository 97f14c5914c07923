/** Settings of a deployment, and quotas of its AWS account, that limit how many messages the service takes. */
import { readSettings } from '../../../infra/settings.ts';
import { limits } from './limits.ts';

export interface Deployment {
  /** Requests per second of each host, and of an account of the service. */
  throttleRate: number;
  accountRate: number;
  accountConcurrency: number;
  deliverConcurrency: number;
  warmWriteUnits: number;
  warmReadUnits: number;
  tableQuota: number;
  apiQuota: number;
}

/** A new stack with the default settings, and the default quotas. */
export const asInstalled = (): Deployment => {
  const { throttleRate, accountRate, accountConcurrency, deliverConcurrency, warmWriteUnits, warmReadUnits } =
    readSettings({});
  return {
    throttleRate,
    accountRate,
    accountConcurrency,
    deliverConcurrency,
    warmWriteUnits: warmWriteUnits ?? limits.newWrites.value,
    warmReadUnits: warmReadUnits ?? limits.newReads.value,
    tableQuota: limits.tableQuota.value,
    apiQuota: limits.apiRequests.value,
  };
};

/**
 * A new stack that was prepared for so many messages per second: limits of requests and quotas are no limit, `deliver` has
 * all executions that a queue may have, and `warmWriteUnits` and `warmReadUnits` are what the guide for operators
 * says.
 */
export const prepared = (rate: number): Deployment => ({
  throttleRate: Number.POSITIVE_INFINITY,
  accountRate: Number.POSITIVE_INFINITY,
  accountConcurrency: 20 * limits.executions.value,
  deliverConcurrency: limits.queueExecutions.value,
  warmWriteUnits: Math.max(40 * rate, limits.newWrites.value),
  warmReadUnits: Math.max(15 * rate, limits.newReads.value),
  tableQuota: Number.POSITIVE_INFINITY,
  apiQuota: Number.POSITIVE_INFINITY,
});

/** As in the stack: batches of a shard of the stream at the same time. */
export const parallelOf = (accountConcurrency: number): number =>
  Math.min(Math.max(Math.floor(accountConcurrency / 100), 1), 4);
