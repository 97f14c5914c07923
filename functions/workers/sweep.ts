/**
 * Each minute: takes up what is due. Conversations whose next attempt is due, or whose wake-up was lost, are woken; the
 * answers of deleted profilers are removed. And it measures what waits.
 */
import type { ScheduledEvent } from 'aws-lambda';
import { removeAnswers } from '../../shared/answers.ts';
import { APP, isFailing } from '../../shared/circuit.ts';
import { now, sortableTime } from '../../shared/clock.ts';
import { type Due, dueWork, laterWork } from '../../shared/due.ts';
import { describeError, log } from '../../shared/log.ts';
import { measure } from '../../shared/metrics.ts';
import { conversationOf } from '../../shared/outbox.ts';
import { headKey, type Key } from '../../shared/table/keys.ts';
import { wake } from '../../shared/wake-ups.ts';
import { worker } from '../../shared/worker.ts';

/** Takes up no more work when this many milliseconds are left; the next minute goes on. */
const RESERVE = 10_000;
/** Conversations that are looked at, beside those that are due, to tell how many wait: some 300 read units a minute. */
const COUNTED = 10_000;

/** What fails is left for the next minute and fails the invocation at its end, after all others had their turn. */
export const handler = worker('sweep', async (event: Pick<ScheduledEvent, 'time'>, remaining) => {
  const time = sortableTime(Date.parse(event.time));
  const done = { woken: 0, answers: 0, profilers: 0, failed: 0 };
  const backlog = { waiting: 0, oldest_s: 0 };
  const note = (heads: Due[]): void => {
    backlog.waiting += heads.length;
    backlog.oldest_s = Math.max(backlog.oldest_s, ...heads.map(waitingSince));
  };
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      log('error', 'due work failed', describeError(error));
      done.failed += 1;
    }
  };

  const tombstones: Key[] = [];
  for await (const due of dueWork(time)) {
    if (remaining() < RESERVE) break;
    const heads = due.filter(isHead);
    await attempt(async () => {
      await wake(heads.map((head) => ({ conversation: conversationOf(head), once: `${head.pk}#${head.gsi1sk}` })));
      done.woken += heads.length;
    });
    note(heads);
    tombstones.push(...due.filter((item) => !isHead(item)));
  }
  await attempt(async () => {
    for await (const later of laterWork(time)) {
      if (backlog.waiting >= COUNTED || remaining() < RESERVE) break;
      note(later.filter(isHead));
    }
    measure('info', 'backlog', { ...backlog, app_network_failing: (await isFailing(APP)) ? 1 : 0 });
  });

  // A page of each at a time, so that one large deletion holds up no other.
  for (let round = tombstones; round.length > 0 && remaining() >= RESERVE; ) {
    const unfinished: Key[] = [];
    for (const tombstone of round) {
      if (remaining() < RESERVE) break;
      await attempt(async () => {
        const { removed, finished } = await removeAnswers(tombstone);
        done.answers += removed;
        if (finished) done.profilers += 1;
        else unfinished.push(tombstone);
      });
    }
    round = unfinished;
  }
  if (done.failed > 0) throw new Error(`${done.failed} pieces of due work failed.`);
  return done;
});

const isHead = ({ sk }: Key): boolean => sk === headKey('').sk;

/** Seconds that the oldest entry of a conversation has waited. */
const waitingSince = ({ created }: Due): number =>
  created === undefined ? 0 : Math.round((now() - Date.parse(`${created}Z`)) / 1000);
