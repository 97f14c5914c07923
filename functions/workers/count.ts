/** From the table's stream: adds new log entries to the counters of their jobs, each once. */
import type { DynamoDBStreamEvent } from 'aws-lambda';
import { type Countable, countEntries } from '../../shared/stats/job-counters.ts';
import { imagesIn } from '../../shared/table/stream.ts';
import { worker } from '../../shared/telemetry/worker.ts';

export const handler = worker('count', async (event: DynamoDBStreamEvent) => {
  const entries = imagesIn<Countable>(event);
  return { entries: entries.length, counted: await countEntries(entries) };
});
