/** The rows of due-work. */
import { key } from '../table/keys.ts';

/** Where `sweep` continues with conversations, if its time was over before it had woken all that were due. */
export const sweepPositionsKey = key('SWEEP', 'CONVERSATIONS');
