/** The operator's command: its subcommands, and how their errors are reported. */
import { readFileSync } from 'node:fs';
import { Command, CommanderError, Option } from 'commander';
import { addAccountCommands } from './accounts/account.ts';
import { addAppNetworkCommands } from './accounts/app-network.ts';
import { addPlatformCommands } from './accounts/platform-check.ts';
import { addPortalLinkCommand } from './accounts/portal-link.ts';
import { addTokenCommands } from './accounts/token.ts';
import { addConnectCommand } from './connect/command.ts';
import { addTriggerCommand } from './events/trigger.ts';
import { describeFailure, exitCodeOf } from './failures.ts';
import { addDoctorCommand } from './health/doctor.ts';
import { addStatusCommand } from './health/status.ts';
import { addHistoryCommand } from './history/command.ts';
import { beginOperation, endOperation } from './history/record.ts';
import { addListenCommand } from './listen/command.ts';
import { addMcpCommand } from './mcp/command.ts';
import { addDeliveryCommands } from './messages/deliveries.ts';
import { addJobCommands } from './messages/job.ts';
import { addMediaCommands } from './messages/media.ts';
import { addMessageCommands } from './messages/message.ts';
import { addOutboxCommands } from './messages/outbox.ts';
import { printError, strong } from './output.ts';
import { addPanelistCommands } from './people/panelist.ts';
import { addProfilerCommands } from './people/profiler.ts';
import { addUserCommands } from './people/user.ts';
import { addRestoreCommand } from './recovery/restore.ts';
import { addSmokeCommand } from './smoke/smoke.ts';
import { addTailCommand } from './tail/command.ts';
import { useDeployment, useNamedStack } from './target.ts';
import { acceptAccountOption, settleAccount } from './terminal/account-option.ts';
import { addCompletionCommand } from './terminal/completion.ts';
import { EXIT, EXIT_CODES } from './terminal/exit-codes.ts';
import { showTimesInUtc } from './terminal/times.ts';
import { examples } from './usage.ts';

/** Runs one command, and sets the exit code. */
export const runCommand = async (args: string[]): Promise<void> => {
  try {
    await createProgram().parseAsync(args, { from: 'user' });
    await endOperation('succeeded');
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

/** Commander's errors in the words of the commands. */
const worded = (text: string): string =>
  text
    .replace(/^error: /, '')
    .replace(/^command-argument value '(.*)' is invalid for argument '(.*?)'\./s, "'$1' is no valid $2.")
    .trimEnd();

/** The program with all its commands. */
export const createProgram = (): Command => {
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
    .configureOutput({ outputError: (text) => printError(worded(text)) })
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

  addAccountCommands(program);
  addAppNetworkCommands(program);
  addPlatformCommands(program);
  addConnectCommand(program);
  addTokenCommands(program);
  addPortalLinkCommand(program);
  addUserCommands(program);
  addPanelistCommands(program);
  addProfilerCommands(program);
  addOutboxCommands(program);
  addDeliveryCommands(program);
  addMessageCommands(program);
  addMediaCommands(program);
  addJobCommands(program);
  addRestoreCommand(program);
  addSmokeCommand(program);
  addTriggerCommand(program);
  addTailCommand(program);
  addStatusCommand(program);
  addDoctorCommand(program);
  addListenCommand(program);
  addMcpCommand(program);
  addHistoryCommand(program);
  addCompletionCommand(program);
  acceptAccountOption(program);
  return program;
};
