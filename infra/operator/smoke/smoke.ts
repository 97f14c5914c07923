/** `operator smoke`: plays a day of a customer against a deployment, and removes everything that it created. */
import { type Command, Option } from 'commander';
import * as v from 'valibot';
import { wholeNumber } from '../../../shared/validation/schemas.ts';
import { noteChanges } from '../history/record.ts';
import { type Cell, columns, count, masked, printNote, printResult, tinted } from '../output.ts';
import { progressBar } from '../progress.ts';
import { UserError } from '../queries/accounts-admin.ts';
import { deployment } from '../target.ts';
import { confirm } from '../terminal/confirm.ts';
import { examples, readBy, readPhoneNumber } from '../usage.ts';
import { createTemporaryAccount, requireStranger } from './account.ts';
import type { Day } from './day.ts';
import { Hosts } from './http.ts';
import { PlatformServer } from './platform-server.ts';
import { newRun, runOf } from './run.ts';
import { countOf, removed, runSteps, type StepResult } from './runner.ts';
import { steps } from './steps.ts';

interface Given {
  user?: string;
  appNetwork: boolean;
  callbackUrl?: string;
  callbackPort?: number;
  wait: number;
  remove?: string;
}

const callbackUrl = v.pipe(v.string(), v.url('must be a URL'), v.regex(/^[^?#]*$/, 'must have no ? and #'));

export const addSmokeCommand = (program: Command): void => {
  program
    .command('smoke')
    .description(
      `Tests a deployment: plays a day of a customer with a temporary account, prints each step with its result and duration, and removes everything that it created. The exit code is 1 if a step failed.

The test plays the app network and the user: it sends their events with a temporary token. The user's number is one that nobody can have, so no phone receives a message. The app network may reject messages to it, which proves the way to it as well.

In AWS, the chat platform needs a public URL. Without --callback-url there is none: the test then proves that the service posts users' messages, but not what a platform receives.`,
    )
    .option(
      '--user <number>',
      'a number that the app network knows, but the service does not; its user is erased',
      readPhoneNumber,
    )
    .option('--no-app-network', 'leave out what needs a response of the app network, for example before its URL is set')
    .addOption(
      new Option(
        '--callback-url <url>',
        'a public https URL that forwards to --callback-port, such as a tunnel',
      ).argParser(readBy(callbackUrl)),
    )
    .addOption(
      new Option('--callback-port <port>', 'the port of this machine on which the test is the chat platform').argParser(
        readBy(wholeNumber(1, 65_535)),
      ),
    )
    .addOption(
      new Option('--wait <seconds>', 'how long to wait for workers in each step')
        .argParser(readBy(wholeNumber(1, 3_600)))
        .default(150),
    )
    .addOption(
      new Option('--remove <id>', 'only remove what the test with this id has left, with its --user').conflicts([
        'callbackUrl',
        'callbackPort',
      ]),
    )
    .addHelpText(
      'after',
      examples(
        'smoke',
        'smoke --stack business-api-staging',
        'smoke --stack business-api-staging --callback-url https://tunnel.example.com --callback-port 8080',
        'smoke --stack business-api-staging --remove 1a2b3c4d',
      ),
    )
    .action(async (given: Given, command: Command) => {
      if ((given.callbackUrl === undefined) !== (given.callbackPort === undefined)) {
        command.error('error: --callback-url and --callback-port belong together');
      }
      if (given.remove !== undefined && given.user !== undefined) {
        await confirm(command, `Removes all data of the user ${masked(given.user)} permanently.`);
      }
      const { id, results } = await (given.remove === undefined ? test(given, command) : remove(given.remove, given));
      const passed = results.every(({ result }) => result !== 'failed') && !isInterrupted(results);
      printResult(command, { run: id, passed, steps: results }, `${table(results)}\n\n${summary(results, passed)}`);
      const removal = results.at(-1);
      if (removal?.result === 'failed') {
        printNote(`Not everything was removed. Try again: smoke --remove ${id}${given.user ? ' --user NUMBER' : ''}`);
      }
      if (!passed) process.exitCode = 1;
    });
};

interface Tested {
  id: string;
  results: StepResult[];
}

const remove = async (id: string, { user }: Given): Promise<Tested> => {
  const run = runOf(id, user);
  noteChanges(`Removes what the test ${id} has left.`, run.account);
  const title = `Everything of the test ${id} is removed`;
  return { id, results: [{ step: 'removal', title, ...(await removed(run)) }] };
};

const test = async (given: Given, command: Command): Promise<Tested> => {
  const { hosts, runs } = deployment();
  if (hosts === undefined) {
    throw new UserError('The test needs the URLs of the hosts. Name the stack with --stack instead of its table.');
  }
  if (given.user !== undefined) await requireStranger(given.user);
  const run = newRun(given.user);
  noteChanges(`Creates the account "${run.account}" with its data, and removes them.`, run.account);
  const platformServer = await startPlatformServer(given, runs);
  const interruption = new AbortController();
  const stop = whenInterrupted(() => interruption.abort());
  const bar = progressBar(command, '{step}');
  try {
    printNote(`Test ${run.id}. If this process is killed, "smoke --remove ${run.id}" removes what it has created.`);
    if (platformServer === undefined) {
      printNote('No chat platform can receive calls here: see --callback-url in --help.');
    }
    bar.start(countOf(steps), 0, { step: '' });
    const { signal } = interruption;
    const results = await runSteps(run, steps, {
      begin: () => beginDay({ run, given, hosts, platformServer, signal }),
      onStep: (step, index) => bar.update(index, { step }),
      signal,
    });
    return { id: run.id, results };
  } finally {
    bar.stop();
    stop();
    await platformServer?.close();
  }
};

/** Functions of the local stack can call this machine. Those in AWS need a public URL. */
const startPlatformServer = async (
  { callbackUrl: url, callbackPort: port }: Given,
  runs: 'in AWS' | 'here',
): Promise<PlatformServer | undefined> => {
  if (port !== undefined) return PlatformServer.start(port, url);
  return runs === 'here' ? PlatformServer.start(0) : undefined;
};

interface Beginning extends Pick<Day, 'run' | 'platformServer' | 'signal'> {
  given: Given;
  hosts: { base: string; bridge: string };
}

const beginDay = async ({ run, given, hosts, platformServer, signal }: Beginning): Promise<Day> => ({
  run,
  platformServer,
  signal,
  hosts: new Hosts(hosts, signal),
  baseUrl: hosts.base,
  tokens: await createTemporaryAccount(run),
  knownUser: given.user !== undefined,
  withoutAppNetwork: !given.appNetwork,
  timeoutMs: given.wait * 1_000,
  found: {},
});

/** Calls `interrupt` on Ctrl-C and SIGTERM. A second Ctrl-C ends the process at once. */
const whenInterrupted = (interrupt: () => void): (() => void) => {
  let isInterrupted = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (isInterrupted && signal === 'SIGINT') process.exit(1);
    if (!isInterrupted) printNote('Interrupted: removing what the test created. Ctrl-C again ends at once.');
    isInterrupted = true;
    interrupt();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return () => {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  };
};

const isInterrupted = (results: StepResult[]): boolean => results.some(({ detail }) => detail === 'interrupted');

const COLOURS = { passed: 'green', failed: 'red', skipped: 'yellow' } as const;

const table = (results: StepResult[]): string =>
  columns(
    ['STEP', 'RESULT', 'SECONDS', 'DETAIL'],
    results.map(({ title, result, duration_ms, detail = '' }): Cell[] => [
      title,
      tinted(COLOURS[result], result === 'failed' ? 'FAILED' : result),
      (duration_ms / 1_000).toFixed(1),
      detail,
    ]),
    ['SECONDS'],
  );

const summary = (results: StepResult[], passed: boolean): string => {
  const counts = (['passed', 'failed', 'skipped'] as const)
    .map((kind) => [kind, results.filter(({ result }) => result === kind).length] as const)
    .filter(([, number]) => number > 0);
  const seconds = results.reduce((sum, { duration_ms }) => sum + duration_ms, 0) / 1_000;
  const words = counts.map(([kind, number]) => `${count(number)} ${kind}`).join(', ');
  return `${passed ? 'The deployment works' : 'The test failed'}: ${words}, in ${seconds.toFixed(0)} s.`;
};
