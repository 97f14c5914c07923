/** From the queue of wake-ups: delivers the pending entries of conversations. */
import type { SQSEvent } from 'aws-lambda';
import { withHashes } from '../../shared/core/hash-secret.ts';
import { newId } from '../../shared/core/ids.ts';
import { queueUrl } from '../../shared/core/settings.ts';
import { deliver } from '../../shared/delivery/deliver.ts';
import { handleBatch } from '../../shared/outbox/wake-ups/batch.ts';
import { readWakeUp, returnAfterPause, wake } from '../../shared/outbox/wake-ups/conversations.ts';
import { worker } from '../../shared/telemetry/worker.ts';

/** If fewer milliseconds are left, the next wake-up of a group begins in another invocation, which has the whole time. */
const LEAST_MS = 30_000;

/**
 * Handles up to ten wake-ups, those of different groups at the same time. If time runs out, it sends the next one itself.
 * Lambda does not stop this loop (`RecursiveLoop` in the stack), so it ends here if no entry left the outbox: `sweep` wakes
 * the conversation, because its head stays in the index of due work. A wake-up that fails returns soon, and finally becomes
 * a dead letter. If the destination is paused, the wake-up returns when the pause is over.
 */
export const handler = worker<SQSEvent>(
  'deliver',
  withHashes(async ({ Records }, remaining, leave) => {
    const done = { settled: 0, retry_scheduled: 0, unfinished: 0, stalled: 0, trace_ids: [] as string[] };
    await handleBatch(queueUrl(), Records, async (record, isFirst) => {
      const { conversation, trace_id, ...ends } = readWakeUp(record.body);
      if (!isFirst && remaining() < LEAST_MS) {
        await wake([{ conversation, once: newId(), trace_id, ...ends }]);
        return 'handled';
      }
      if (trace_id !== undefined) done.trace_ids.push(trace_id);
      const { settled, retry_scheduled, paused_until, unfinished, stalled } = await deliver(
        conversation,
        remaining,
        ends,
      );
      if (unfinished && !stalled) await wake([{ conversation, once: newId(), trace_id, ...ends }]);
      done.settled += settled;
      done.retry_scheduled += retry_scheduled ? 1 : 0;
      done.unfinished += unfinished ? 1 : 0;
      done.stalled += stalled ? 1 : 0;
      const isLeft =
        paused_until !== undefined && (await returnAfterPause(record, paused_until, conversation.direction));
      if (isLeft) leave(record.messageId);
      return isLeft ? 'left' : 'handled';
    });
    return done;
  }),
);
