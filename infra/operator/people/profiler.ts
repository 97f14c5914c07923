/** `operator profiler …`: profilers, and the repair of their results. */
import type { Command } from 'commander';
import type { AnswerItem } from '../../../shared/profilers/answer.ts';
import { answersOf } from '../../../shared/profilers/entities.ts';
import { countAnswers } from '../../../shared/profilers/results.ts';
import { pages } from '../../../shared/table/client.ts';
import { uuid } from '../../../shared/validation/schemas.ts';
import { printChange } from '../history/record.ts';
import { count } from '../output.ts';
import { examples, readBy } from '../usage.ts';

export const addProfilerCommands = (program: Command): void => {
  const profiler = program
    .command('profiler')
    .description('Profilers of vendors.')
    .addHelpText('after', examples('profiler recount 0199a3f2-7c4e-7d10-9b1a-5f0c2e8d4b6a'));

  profiler
    .command('recount')
    .description(
      'Adds answers to the results of a profiler that the stream of the table did not deliver. Repeating it changes nothing.',
    )
    .argument('<profiler>', "the profiler's id", readBy(uuid))
    .addHelpText('after', examples('profiler recount 0199a3f2-7c4e-7d10-9b1a-5f0c2e8d4b6a'))
    .action(async (id: string, _options: object, command: Command) => {
      const found = { answers: 0, counted: 0 };
      for await (const answers of pages<AnswerItem>({
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': answersOf(id) },
        ConsistentRead: true,
      })) {
        found.answers += answers.length;
        found.counted += await countAnswers(answers.filter(({ counted }) => !counted));
      }
      const words = `${count(found.answers)} answers, of which ${count(found.counted)} were not counted before.`;
      printChange(command, found, words);
    });
};
