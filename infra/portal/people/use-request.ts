/** One request, which is read again while the page is visible. */
import { useCallback, useEffect, useState } from 'preact/hooks';
import { ApiError } from '../client.ts';
import { later } from '../use-call.ts';
import { findRequest, type Request } from './requests.ts';

export interface LiveRequest {
  request: Request | undefined;
  error: unknown;
  /** Whether there is no such request. */
  isGone: boolean;
  /** Whether it was accepted just now, and appears in the list within seconds. */
  isListing: boolean;
  reload: () => void;
}

/** Milliseconds until it is read again: while it is not listed yet, while the person is asked, and afterwards. */
const [UNLISTED_MS, PENDING_MS, ANSWERED_MS] = [1_000, 5_000, 30_000];

/** How often a stored request may be missing in the list, which is some seconds late. Then it is searched in the whole list. */
const MAX_MISSES = 8;

/** @param asked - when the request was made, by which it is found faster */
export const useRequest = (id: string, asked: string | undefined): LiveRequest => {
  const [state, setState] = useState<{ request?: Request; error?: unknown; isListing: boolean }>({ isListing: false });
  const [round, setRound] = useState(0);
  useEffect(() => {
    const ending = new AbortController();
    let endWait = () => {};
    let misses = 0;
    const read = async (): Promise<void> => {
      const request = await findRequest(id, misses < MAX_MISSES ? asked : undefined, ending.signal);
      if (ending.signal.aborted) return;
      misses = isUnlisted(request) ? misses + 1 : 0;
      const isListing = misses > 0 && misses <= MAX_MISSES;
      setState({ request, isListing });
      readLater(isListing ? UNLISTED_MS : request.status === 'pending' ? PENDING_MS : ANSWERED_MS);
    };
    const readLater = (after: number): void => {
      endWait = later(after, begin);
    };
    const begin = (): void => {
      read().catch((error: unknown) => {
        if (ending.signal.aborted) return;
        setState((before) => ({ ...before, error }));
        readLater(ANSWERED_MS);
      });
    };
    begin();
    return () => {
      ending.abort();
      endWait();
    };
  }, [id, asked, round]);
  return {
    ...{ request: undefined, error: undefined, ...state },
    isGone: state.error instanceof ApiError && state.error.status === 404,
    reload: useCallback(() => setRound((before) => before + 1), []),
  };
};

/** Whether it is stored, though the list lacks it. Of a request that is no longer stored, only ended consents are known. */
const isUnlisted = ({ listed, status, data }: Request): boolean =>
  listed === undefined &&
  (status === 'pending' || data.some((one) => one.status !== 'withdrawn' && one.status !== 'expired'));
