/** From the table's stream: adds each new log entry once to the counter of its job, and each new answer to the results. */
import type { DynamoDBStreamEvent } from 'aws-lambda';
import { isAnswerKey } from '../../shared/profilers/entities.ts';
import { type CountableAnswer, countAnswers } from '../../shared/profilers/results.ts';
import { type Countable, countEntries } from '../../shared/stats/job-counters.ts';
import { imagesIn } from '../../shared/table/stream.ts';
import { worker } from '../../shared/telemetry/worker.ts';

export const handler = worker('count', async (event: DynamoDBStreamEvent) => {
  const images = imagesIn<Countable & CountableAnswer>(event);
  const [answers, entries] = [images.filter(isAnswerKey), images.filter((image) => !isAnswerKey(image))];
  const counted = (await countEntries(entries)) + (await countAnswers(answers));
  return { entries: entries.length, answers: answers.length, counted };
});
