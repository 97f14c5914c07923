/**
 * `npm run stack -- clock`: shows the clock of the running local stack. `clock advance 3d` moves it ahead and does what is
 * due on the way, `clock set 2027-01-31T09:00Z` moves it ahead to a time, `clock run x600` lets it run faster, and `clock
 * real` returns to real time. `npm run -s stack -- env` prints the stack's export lines again.
 */
import { Command, InvalidArgumentError } from 'commander';
import type { ClockView } from '../../operator/local-stack/clock-view.ts';
import { findStack, SeveralStacks, type StackFile } from '../../operator/local-stack/stack-file.ts';
import { printUsageError } from '../../operator/output.ts';
import { exportLines } from '../launch/export-lines.ts';
import { DURATION_FORM, durationOf, TIME_FORM, timeOf } from './times.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const fail = (line: string): void => {
  process.stderr.write(`${line}\n`);
  process.exitCode = 1;
};

/** Does something with the running stack. */
const withStack = async (action: (stack: StackFile) => void | Promise<void>): Promise<void> => {
  try {
    const stack = await findStack();
    if (stack === undefined) fail('No local stack is running. Start it with "npm start".');
    else await action(stack);
  } catch (error) {
    if (!(error instanceof SeveralStacks)) throw error;
    fail(error.message);
  }
};

const request = (body?: object): Promise<void> => withStack((stack) => requestClock(stack, body));

const requestClock = async (stack: StackFile, body?: object): Promise<void> => {
  const response = await fetch(`${stack.phone_url}/clock`, {
    ...(body && { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  const answer = (await response.json()) as ClockView & { message?: string };
  if (!response.ok) {
    fail(answer.message ?? `The local stack returned ${response.status}.`);
    return;
  }
  say(inWords(answer, body !== undefined && ('advance' in body || 'set' in body)));
};

/** The clock in a sentence, and what it did on the way, if it has moved ahead. */
const inWords = ({ time, ahead_s, rate, last_advance }: ClockView, hasMoved: boolean): string => {
  const ahead = ahead_s === 0 ? 'real time' : `${distance(ahead_s)} ahead of real time`;
  const speed = rate === 1 ? '' : `, ${rate} times as fast`;
  const way =
    hasMoved && last_advance
      ? `. Work was due at ${last_advance.stops} times and took ${(last_advance.ms / 1_000).toFixed(1)} s`
      : '';
  return `${time.slice(0, 19)}Z, ${ahead}${speed}${way}`;
};

const distance = (exact: number): string => {
  const seconds = exact < 3_600 ? exact : Math.round(exact / 60) * 60;
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ].filter(([count]) => count !== 0);
  return parts.map((part) => part.join(' ')).join(' ');
};

const read =
  <Value>(parse: (text: string) => Value | undefined, form: string) =>
  (text: string): string => {
    if (parse(text) === undefined) throw new InvalidArgumentError(`It must be ${form}.`);
    return text;
  };

const rateOf = (text: string): number | undefined => {
  const rate = /^x?(\d+(\.\d+)?)$/.exec(text)?.[1];
  return rate === undefined ? undefined : Number(rate);
};

const program = new Command('npm run stack --')
  .description('Controls the running local stack.')
  .configureOutput({ outputError: printUsageError });
program
  .command('env')
  .description('prints lines of a shell that set the URLs, numbers and token: eval "$(npm run -s stack -- env)"')
  .action(() => withStack((stack) => say(exportLines(stack))));
const clock = program
  .command('clock')
  .description('Shows the clock of the local stack, or sets it.')
  .action(() => request());
clock
  .command('advance')
  .description('moves the clock ahead, and does what is due on the way')
  .argument('<duration>', 'such as 3d, 90m or 1d12h', read(durationOf, DURATION_FORM))
  .action((advance: string) => request({ advance }));
clock
  .command('set')
  .description('moves the clock ahead to a time')
  .argument('<time>', 'such as 2027-01-31T09:00Z', read(timeOf, TIME_FORM))
  .action((set: string) => request({ set }));
clock
  .command('run')
  .description('lets the clock run faster, x1 as fast as real time')
  .argument('<rate>', 'such as x600', read(rateOf, 'a rate, such as x600'))
  .action((rate: string) => request({ run: rateOf(rate) }));
clock
  .command('real')
  .description('returns to real time')
  .action(() => request({ real: true }));

await program.parseAsync();
