/** A complete erasure, as the worker `erase` makes it in its steps over some minutes. */
import { vi } from 'vitest';
import { type ErasedFromBatches, eraseFromBatches } from '../../../shared/campaigns/erase-batches.ts';
import { resumeErasure } from '../../../shared/user-data/erasure.ts';

/** Completes the erasure of a user that was requested a moment ago, with the pass over pending batches. */
export const completeErasure = async (phone: string): Promise<ErasedFromBatches> => {
  const [isFake, present] = [vi.isFakeTimers(), Date.now()];
  await resumeErasure(phone);
  vi.useFakeTimers({ toFake: ['Date'], now: present + 120_000 });
  await resumeErasure(phone);
  const done = await eraseFromBatches(() => false);
  if (isFake) vi.setSystemTime(present);
  else vi.useRealTimers();
  return done;
};
