/**
 * From the table's stream: sends a wake-up for each new entry of an outbox, and for each new batch. Does not access the
 * table.
 */
import type { DynamoDBStreamEvent } from 'aws-lambda';
import { batchOf, isBatchKey } from '../../shared/campaigns/entities.ts';
import { now } from '../../shared/core/clock.ts';
import { conversationOf } from '../../shared/outbox/entities.ts';
import { wake } from '../../shared/outbox/wake-ups/conversations.ts';
import { wakeExpansions } from '../../shared/outbox/wake-ups/expansions.ts';
import { keysIn } from '../../shared/table/stream.ts';
import { worker } from '../../shared/telemetry/worker.ts';

/** Lambda retries a failed batch as a whole: the queue drops wake-ups that were sent before. */
export const handler = worker('relay', async (event: DynamoDBStreamEvent) => {
  const { batches = [], entries = [] } = Object.groupBy(keysIn(event), (key) =>
    isBatchKey(key) ? 'batches' : 'entries',
  );
  await wake(entries.map(({ pk, sk, trace_id }) => ({ conversation: conversationOf({ pk }), once: sk, trace_id })));
  await wakeExpansions(
    batches.map(({ pk, trace_id }) => ({ ...batchOf({ pk }), at: now(), once: batchOf({ pk }).batch, trace_id })),
  );
  const trace_ids = [...entries, ...batches].flatMap(({ trace_id }) => trace_id ?? []);
  return { entries: entries.length, batches: batches.length, trace_ids };
});
