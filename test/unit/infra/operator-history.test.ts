/** The record of what operators did: which commands are recorded. */
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { kinds } from '../../../infra/operator/history/kinds.ts';
import { nameOf } from '../../../infra/operator/history/record.ts';
import { createProgram } from '../../../infra/operator/program.ts';

const leavesOf = (command: Command): Command[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);

test('each command says whether it changes something or reads personal data', async () => {
  expect(
    leavesOf(await createProgram())
      .map(nameOf)
      .toSorted(),
    'Add a line to infra/operator/history/kinds.ts.',
  ).toEqual(Object.keys(kinds).toSorted());
});
