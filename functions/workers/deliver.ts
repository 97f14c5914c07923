/** From the queue of wake-ups: delivers the pending entries of a conversation. */
import type { SQSEvent } from 'aws-lambda';
import { newId } from '../../shared/core/ids.ts';
import { deliver } from '../../shared/delivery/deliver.ts';
import { describeError, log } from '../../shared/telemetry/log.ts';
import { worker } from '../../shared/telemetry/worker.ts';
import { readWakeUp, returnAfterPause, returnSoon, wake } from '../../shared/wake-ups/conversations.ts';

/**
 * Handles one wake-up at a time. If time runs out, it sends the next one itself. Lambda does not stop this loop
 * (`RecursiveLoop` in the stack), so it ends here if no entry left the outbox: `sweep` wakes the conversation, because
 * its head stays in the index of due work. A wake-up that fails returns soon, and finally becomes a dead letter. If the
 * destination is paused, the wake-up returns when the pause is over.
 */
export const handler = worker('deliver', async ({ Records }: SQSEvent, remaining, leave) => {
  const done = { settled: 0, retry_scheduled: 0, unfinished: 0, stalled: 0, trace_ids: [] as string[] };
  for (const record of Records) {
    const { body, receiptHandle, messageId } = record;
    try {
      const { conversation, trace_id } = readWakeUp(body);
      if (trace_id !== undefined) done.trace_ids.push(trace_id);
      const { settled, retry_scheduled, paused_until, unfinished, stalled } = await deliver(conversation, remaining);
      if (unfinished && !stalled) await wake([{ conversation, once: newId(), trace_id }]);
      const isLeft =
        paused_until !== undefined && (await returnAfterPause(record, paused_until, conversation.direction));
      if (isLeft) leave(messageId);
      done.settled += settled;
      done.retry_scheduled += retry_scheduled ? 1 : 0;
      done.unfinished += unfinished ? 1 : 0;
      done.stalled += stalled ? 1 : 0;
    } catch (error) {
      // If this fails too, the wake-up returns when its visibility time-out ends.
      await returnSoon(receiptHandle).catch((again) =>
        log('error', 'wake-up not returned early', describeError(again)),
      );
      throw error;
    }
  }
  return done;
});
