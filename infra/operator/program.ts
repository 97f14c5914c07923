/** The operator's command: its subcommands, and how their errors are reported. */
import { Command, CommanderError, Option } from 'commander';
import { addAccountCommands } from './accounts/account.ts';
import { addNumberCommands } from './accounts/number.ts';
import { addPlatformCommands } from './accounts/platform-check.ts';
import { addTokenCommands } from './accounts/token.ts';
import { describeFailure } from './failures.ts';
import { addJobCommands } from './messages/job.ts';
import { addMediaCommands } from './messages/media.ts';
import { addMessageCommands } from './messages/message.ts';
import { addOutboxCommands } from './messages/outbox.ts';
import { printError, strong } from './output.ts';
import { addPanelistCommands } from './people/panelist.ts';
import { addUserCommands } from './people/user.ts';
import { useTable } from './target.ts';
import { examples } from './usage.ts';

/** Runs one command, and sets the exit code: 0 success, 1 failed or completed only in part, 2 invalid command line. */
export const runCommand = async (args: string[]): Promise<void> => {
  try {
    await createProgram().parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : 2;
    } else {
      printError(describeFailure(error));
      process.exitCode = 1;
    }
  }
};

const createProgram = (): Command => {
  const program = new Command('npm run operator --')
    .description('Reads and changes the table of the Business API: of the running local stack, or in AWS (--table).')
    .option('--json', 'print one JSON document on stdout, for programs')
    .addOption(
      new Option(
        '--table <name>',
        'a table in AWS (output TableName of the stack), with the usual credentials and region (default: the local stack)',
      ).env('TABLE_NAME'),
    )
    .configureHelp({ showGlobalOptions: true, styleTitle: strong })
    .configureOutput({ outputError: (text) => printError(text.replace(/^error: /, '').trimEnd()) })
    .showHelpAfterError('Add --help for the usage.')
    .exitOverride()
    .hook('preAction', (_program, command) => useTable(command.optsWithGlobals<{ table?: string }>().table))
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
        'account list --table business-api-production-TableCD117FA1',
      ),
    )
    .addHelpText(
      'after',
      `
Exit codes: 0 success; 1 the command failed, or completed only in part; 2 the command line is invalid.
For programs: npm run --silent operator -- account list --json`,
    );

  addAccountCommands(program);
  addNumberCommands(program);
  addPlatformCommands(program);
  addTokenCommands(program);
  addUserCommands(program);
  addPanelistCommands(program);
  addOutboxCommands(program);
  addMessageCommands(program);
  addMediaCommands(program);
  addJobCommands(program);
  return program;
};
