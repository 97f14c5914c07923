/** From the table's stream: turns each new entry of an outbox into a wake-up. Touches no table. */
import type { DynamoDBStreamEvent } from 'aws-lambda';
import { wake } from '../../shared/delivery/wake-ups.ts';
import { conversationOf } from '../../shared/table/keys.ts';
import { keysIn } from '../../shared/table/stream.ts';
import { worker } from '../../shared/telemetry/worker.ts';

/** Lambda retries a failed batch as a whole: the queue drops wake-ups that were sent before. */
export const handler = worker('relay', async (event: DynamoDBStreamEvent) => {
  const entries = keysIn(event);
  await wake(entries.map(({ pk, sk, trace_id }) => ({ conversation: conversationOf({ pk }), once: sk, trace_id })));
  return { entries: entries.length, trace_ids: entries.flatMap(({ trace_id }) => trace_id ?? []) };
});
