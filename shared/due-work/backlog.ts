/** The backlog: conversations with pending entries, those that are due and those with a scheduled retry. */
import { now } from '../core/clock.ts';
import { isHeadKey } from '../outbox/entities.ts';
import { type Due, ScheduledWork } from './scheduled-work.ts';

/** From so many conversations on, only the first turn is counted: a page of each account in each partition. */
const COUNTED = 10_000;

/** Sorts after every time, so that later work counts, too. */
const END_OF_TIME = '~';

/** Conversations with pending entries, and the age of the oldest pending entry in seconds. */
export interface Backlog {
  waiting: number;
  oldest_s: number;
}

/** Counts conversations with pending entries, until `isOver` returns true. 0.5 read units for 4 KB. */
export const countBacklog = async (isOver: () => boolean): Promise<Backlog> => {
  const backlog: Backlog = { waiting: 0, oldest_s: 0 };
  const note = (work: Due[]): void => {
    const heads = work.filter(isHeadKey);
    backlog.waiting += heads.length;
    // Conversations that are offered to listeners are not late. Those outside sending hours begin in the future.
    const ages = heads.filter(({ status }) => status === undefined).map(waitingSince);
    backlog.oldest_s = Math.max(backlog.oldest_s, ...ages);
  };
  const work = new ScheduledWork('conversations', END_OF_TIME);
  for await (const items of work.firstTurn()) {
    if (isOver()) return backlog;
    note(items);
  }
  for await (const items of work.furtherTurns()) {
    if (isOver() || backlog.waiting >= COUNTED) return backlog;
    note(items);
  }
  return backlog;
};

const waitingSince = ({ since }: Due): number =>
  since === undefined ? 0 : Math.round((now() - Date.parse(`${since}Z`)) / 1000);
