/** Token buckets in the memory of this process, with the conditions of the table. They count their writes. */
import type { BucketTable } from '../../shared/accounts/rate-limit/bucket.ts';

export class MemoryBuckets implements BucketTable {
  /** When the bucket of an account was empty, in microseconds. */
  readonly emptyAt = new Map<string, number>();
  writes = 0;

  readonly refill: BucketTable['refill'] = async (account, { to, full, ahead }) => {
    const emptyAt = this.emptyAt.get(account);
    return this.#write(account, emptyAt === undefined || emptyAt < full || emptyAt > ahead, to);
  };

  readonly spend: BucketTable['spend'] = async (account, { by, latest }) => {
    const emptyAt = this.emptyAt.get(account) ?? Number.NaN;
    return this.#write(account, emptyAt <= latest, emptyAt + by);
  };

  #write(account: string, isDone: boolean, emptyAt: number) {
    this.writes += 1;
    if (isDone) this.emptyAt.set(account, emptyAt);
    return { isDone, emptyAt: this.emptyAt.get(account) };
  }
}
