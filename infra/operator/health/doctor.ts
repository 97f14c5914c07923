/** `operator doctor`: checks what a deployment needs, and a stack that is deployed. */
import type { Command } from 'commander';
import { findStack } from '../local-stack/stack-file.ts';
import { printNote, printResult, shown, tinted } from '../output.ts';
import { UserError } from '../queries/accounts-admin.ts';
import { deployment } from '../target.ts';
import { EXIT } from '../terminal/exit-codes.ts';
import { width } from '../terminal/table.ts';
import { examples } from '../usage.ts';
import { checksInAws } from './aws-checks.ts';
import type { Check } from './check.ts';
import { checksHere } from './local-checks.ts';

const MARKS = { ok: tinted('green', '✓'), attention: tinted('yellow', '!'), failed: tinted('red', '✗') };

export const addDoctorCommand = (program: Command): void => {
  program
    .command('doctor')
    .description(
      `Checks what a deployment needs: region, clock, credentials, settings, CDK bootstrap and Lambda's quota. If the stack exists, also its status, outputs, secret, hosts and alarms. Without --stack, checks the local stack. Changes nothing.

The exit code is 1 if a check failed. What needs attention does not fail.`,
    )
    .addHelpText('after', examples('doctor --stack business-api-production', 'doctor'))
    .action(async (_options: object, command: Command) => {
      const checks: Check[] = [];
      for await (const check of await checksOf()) checks.push(check);
      printResult(command, { checks }, inWords(checks));
      if (checks.some(({ result }) => result === 'failed')) process.exitCode = EXIT.failed;
    });
};

/** @throws UserError — the command names a table in AWS, or the local stack has ended */
const checksOf = async (): Promise<AsyncIterable<Check>> => {
  const { runs, stack } = deployment();
  if (stack !== undefined) return checksInAws(stack);
  const local = runs === 'here' ? await findStack() : undefined;
  if (local === undefined) throw new UserError('A table has no deployment: name its stack with --stack.');
  printNote('The checks of an AWS account and of its deployment need the name of a stack: --stack.');
  return checksHere(local);
};

/** A line for each check, and below it what to do. */
const inWords = (checks: Check[]): string => {
  const widest = Math.max(...checks.map(({ name }) => width(name)));
  return checks
    .map(({ name, result, detail, fix }) => {
      const line = `${shown(MARKS[result])} ${name.padEnd(widest)}  ${shown(detail)}`;
      return fix === undefined ? line : `${line}\n  ${' '.repeat(widest)}  Fix: ${shown(fix)}`;
    })
    .join('\n');
};
