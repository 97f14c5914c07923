/** The operator's command: its subcommands, and how their errors are reported. */
import { readFileSync } from 'node:fs';
import { Command, CommanderError, Option } from 'commander';
import { describeFailure, exitCodeOf } from './failures.ts';
import { beginOperation, endOperation } from './history/record.ts';
import { printError, printUsageError, strong } from './output.ts';
import { useDeployment, useNamedStack } from './target.ts';
import { acceptAccountOption, settleAccount } from './terminal/account-option.ts';
import { addCompletionCommand } from './terminal/completion.ts';
import { EXIT, EXIT_CODES } from './terminal/exit-codes.ts';
import { showTimesInUtc } from './terminal/times.ts';
import { examples } from './usage.ts';

/** Runs one command, and sets the exit code. */
export const runCommand = async (args: string[]): Promise<void> => {
  try {
    const program = await createProgram(args);
    await program.parseAsync(args, { from: 'user' });
    await endOperation(process.exitCode === undefined ? 'succeeded' : `ended with exit code ${process.exitCode}`);
  } catch (error) {
    if (error instanceof CommanderError) {
      await endOperation(error.message.replace(/^error:/, 'failed:'));
      process.exitCode = error.exitCode === 0 ? 0 : EXIT.usage;
    } else {
      printError(describeFailure(error));
      await endOperation(`failed: ${describeFailure(error)}`);
      process.exitCode = exitCodeOf(error);
    }
  }
};

/** The stack or the table that the options name, else the environment: an option is nearer than a variable. */
const namedDeployment = (command: Command): { stack?: string; table?: string } => {
  const given = command.optsWithGlobals<{ stack?: string; table?: string }>();
  const sourceOf = (name: 'stack' | 'table') =>
    given[name] ? command.getOptionValueSourceWithGlobals(name) : undefined;
  if (given.stack && given.table && sourceOf('stack') === sourceOf('table')) {
    command.error('error: --stack and --table (or STACK_NAME and TABLE_NAME) exclude each other');
  }
  const isTable = given.table && (!given.stack || sourceOf('table') === 'cli');
  return isTable ? { table: given.table ?? '' } : given.stack ? { stack: given.stack } : {};
};

/** The version of the service, which is that of its commands. */
const version = (): string => {
  const { version: found } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return String(found);
};

/** Loads the commands of each name, in the order of the help. With all of them, a command begins in half as long again. */
const COMMANDS: Record<string, () => Promise<(program: Command) => void>> = {
  account: async () => (await import('./accounts/account.ts')).addAccountCommands,
  'app-network': async () => (await import('./accounts/app-network.ts')).addAppNetworkCommands,
  platform: async () => (await import('./accounts/platform-check.ts')).addPlatformCommands,
  connect: async () => (await import('./connect/command.ts')).addConnectCommand,
  token: async () => (await import('./accounts/token.ts')).addTokenCommands,
  'portal-link': async () => (await import('./accounts/portal-link.ts')).addPortalLinkCommand,
  user: async () => (await import('./people/user.ts')).addUserCommands,
  panelist: async () => (await import('./people/panelist.ts')).addPanelistCommands,
  profiler: async () => (await import('./people/profiler.ts')).addProfilerCommands,
  outbox: async () => (await import('./messages/outbox.ts')).addOutboxCommands,
  deliveries: async () => (await import('./messages/deliveries.ts')).addDeliveryCommands,
  message: async () => (await import('./messages/message.ts')).addMessageCommands,
  media: async () => (await import('./messages/media.ts')).addMediaCommands,
  job: async () => (await import('./messages/job.ts')).addJobCommands,
  restore: async () => (await import('./recovery/restore.ts')).addRestoreCommand,
  smoke: async () => (await import('./smoke/smoke.ts')).addSmokeCommand,
  trigger: async () => (await import('./events/trigger.ts')).addTriggerCommand,
  tail: async () => (await import('./tail/command.ts')).addTailCommand,
  status: async () => (await import('./health/status.ts')).addStatusCommand,
  doctor: async () => (await import('./health/doctor.ts')).addDoctorCommand,
  listen: async () => (await import('./listen/command.ts')).addListenCommand,
  mcp: async () => (await import('./mcp/command.ts')).addMcpCommand,
  history: async () => (await import('./history/command.ts')).addHistoryCommand,
};

/** The program with the command that the arguments name; with all, if they name none of them. */
export const createProgram = async (args: readonly string[] = []): Promise<Command> => {
  const program = new Command('npm run operator --')
    .description('Reads and changes the data of the Business API: of the running local stack, or in AWS (--stack).')
    .version(version(), '--version', 'print the version')
    .option('--utc', 'show times in UTC (default: in the time zone of this machine); JSON always has UTC')
    .option('--json', 'print one JSON document on stdout, for programs')
    .option('--yes', 'do not ask: confirms a change, for scripts')
    .addOption(
      new Option(
        '--stack <name>',
        'a stack in AWS, business-api-STAGE, with the usual credentials and region (default: the local stack)',
      ).env('STACK_NAME'),
    )
    .addOption(new Option('--table <name>', 'a table in AWS instead, for example a restored one').env('TABLE_NAME'))
    .configureHelp({ showGlobalOptions: true, styleTitle: strong })
    .configureOutput({ outputError: printUsageError })
    .showHelpAfterError('Add --help for the usage.')
    .exitOverride()
    .hook('preAction', async (_program, command) => {
      const { utc } = command.optsWithGlobals<{ utc?: true }>();
      showTimesInUtc(utc === true);
      if (command.name() === 'completion') return;
      settleAccount(command);
      const named = namedDeployment(command);
      if (command.name() === 'doctor' && named.stack !== undefined) useNamedStack(named.stack);
      else await useDeployment(named);
      await beginOperation(command);
    })
    .addHelpText(
      'after',
      examples(
        'account create "Acme Research" --bot-number 27820000001',
        'token issue acme-research --permissions profilers,stats --expires 90d',
        'account update acme-research --platform rapidpro --platform-url https://rapidpro.example.com/c/ex/CHANNEL/receive',
        'platform check acme-research',
        'panelist import panelists.csv',
        'account stats acme-research --days 30',
        'outbox list --account acme-research',
        'account list --stack business-api-production',
        'doctor --stack business-api-production',
        'smoke --stack business-api-production',
        'status --watch',
        'tail --status 5xx',
      ),
    )
    .addHelpText(
      'after',
      `
${EXIT_CODES}

For programs: npm run --silent operator -- account list --json`,
    );

  const [name = ''] = program.parseOptions([...args]).operands;
  const all = Object.entries(COMMANDS);
  const named = all.filter(([each]) => each === name);
  for (const [, load] of named.length > 0 ? named : all) (await load())(program);
  addCompletionCommand(program);
  acceptAccountOption(program);
  return program;
};
