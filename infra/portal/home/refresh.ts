/** The page reads its figures again while it is visible. */
import { OfflineError } from '../client.ts';
import type { Loaded } from '../use-call.ts';

/** Milliseconds. */
export const EVERY = 30_000;

/** The frame says that the service cannot be reached; what was read before stays. */
export const errorToShow = ({ ready, error }: Pick<Loaded<unknown>, 'ready' | 'error'>): unknown =>
  ready && error instanceof OfflineError ? undefined : error;
