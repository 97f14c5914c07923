/** Sends a campaign, portion by portion. Each has a key of its own, so that a repeat sends nothing twice. */
import { ApiError, call, isRejection } from '../client.ts';
import { go, linkTo } from '../router.ts';
import { discard, rememberer } from './memory.ts';
import type { Portion } from './message.ts';

export interface Sending {
  /** The id of the campaign's job. */
  job: string;
  name: string;
  portions: Portion[];
  /** So many portions were accepted. */
  accepted: number;
  busy: boolean;
  /** Why the next portion was not accepted, or whether it was is not known. */
  error: unknown;
}

export const peopleIn = (portions: Portion[]): number => portions.reduce((sum, { people }) => sum + people, 0);

/**
 * Sends the portions that are left, and then shows the campaign. If one fails, it is kept, to be continued; if the first one
 * was rejected, nothing was sent, and the draft can be changed. It stops when the user signs out.
 *
 * @returns whether all were accepted
 */
export const send = async (given: Sending): Promise<boolean> => {
  let sending: Sending = { ...given, busy: true, error: undefined };
  const remember = rememberer();
  const note = (changes: Partial<Sending>): boolean => {
    sending = { ...sending, ...changes };
    return remember({ sending, rejection: undefined });
  };
  note({});
  try {
    for (const portion of sending.portions.slice(sending.accepted)) {
      await sendPortion(sending, portion);
      if (!note({ accepted: sending.accepted + 1 })) return false;
    }
  } catch (error) {
    // After an attempt whose outcome is not known, nobody knows whether nothing was sent.
    if (sending.accepted === 0 && given.error === undefined && isRefused(error)) {
      remember({ sending: undefined, rejection: error });
    } else note({ busy: false, error });
    return false;
  }
  const isShown = location.hash === linkTo('campaigns', 'new');
  discard();
  // Who went on to another page stays there.
  if (isShown) go(linkTo('campaigns', sending.job));
  return true;
};

const sendPortion = async ({ job, name, accepted }: Sending, { endpoint, body }: Portion): Promise<void> => {
  const query = { job_id: job, job_reference: name };
  const idempotencyKey = `${job} ${accepted}`;
  if (endpoint === 'sendMessage') await call(endpoint, { query, body, idempotencyKey });
  else await call(endpoint, { query, body, idempotencyKey });
};

/** Whether nothing was accepted for certain. After other failures, it may have been: its response is lost. */
const isRefused = (error: unknown): boolean => isRejection(error) && !error.isUncertain;

/** Stops a campaign of which a part was accepted, and keeps the draft. */
export const giveUp = async ({ job }: Sending): Promise<void> => {
  const remember = rememberer();
  try {
    await call('cancelJob', { path: { job_id: job } });
  } catch (error) {
    // Nothing of it was accepted.
    if (!(error instanceof ApiError && error.status === 404)) throw error;
    remember({ sending: undefined });
    return;
  }
  discard();
  go(linkTo('campaigns', job));
};
