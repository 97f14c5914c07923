/** `operator tail`: shows log lines as they arrive, of the local stack or from CloudWatch. */
import { once } from 'node:events';
import { type Command, Option } from 'commander';
import * as v from 'valibot';
import { now } from '../../../shared/core/clock.ts';
import { uuid } from '../../../shared/validation/schemas.ts';
import { ACCOUNT_ID, UserError } from '../queries/accounts-admin.ts';
import { deployment } from '../target.ts';
import { examples, moment, readBy } from '../usage.ts';
import { cloudWatchEntries } from './cloudwatch.ts';
import { type Entry, fieldsIn, SOURCES } from './entry.ts';
import { type Filters, passes, patternOf } from './filters.ts';
import { localEntries } from './local.ts';
import { logGroupsOf } from './log-groups.ts';
import { jsonFor, lineFor } from './show.ts';
import type { Tailing } from './tailing.ts';

interface Given extends Filters {
  since?: number;
  follow: boolean;
}

/** Milliseconds that `--no-follow` looks back without `--since`. */
const LOOK_BACK = 600_000;

const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

const ago = v.pipe(
  v.string(),
  v.regex(/^[1-9][0-9]{0,5}[smhd]$/),
  v.transform((text) => now() - Number.parseInt(text, 10) * UNITS[text.at(-1) as keyof typeof UNITS]),
);

/** Returns milliseconds since 1970. */
const readSince = readBy(v.union([ago, moment], 'must be like 30s, 10m, 2h, 1d, 2027-01-31 or 2027-01-31T12:00:00Z'));

const readAccount = readBy(v.pipe(v.string(), v.regex(ACCOUNT_ID, "must be an account's id, such as acme-research")));

const readStatus = readBy(
  v.pipe(
    v.string(),
    v.toLowerCase(),
    v.regex(/^[1-5]([0-9]{2}|xx)$/, 'must be a status such as 422, or a class such as 5xx'),
  ),
);

export const addTailCommand = (program: Command): void => {
  program
    .command('tail')
    .description(
      'Shows log lines as they arrive, until Ctrl-C: of the local stack, or from CloudWatch (--stack). Filters combine: a line must match all. With --json, prints the original lines, one JSON object each.',
    )
    .option('--account <id>', "only lines about this account's requests and messages", readAccount)
    .option('--message <id>', 'only lines about this message', readBy(uuid))
    .option('--status <status>', 'only requests with this status: 422, or 4xx, 5xx', readStatus)
    .addOption(
      new Option('--function <name>', 'only lines of this function, or of the access log of a host').choices(SOURCES),
    )
    .option(
      '--since <when>',
      'begin with earlier lines: 10m, 2h, 1d, 2027-01-31 (00:00 UTC), or a full ISO time (default: only new lines)',
      readSince,
    )
    .option('--no-follow', 'end after the lines so far (default of --since: 10m)')
    .addHelpText(
      'after',
      examples(
        'tail',
        'tail --status 5xx',
        'tail --account acme-research --since 1h --no-follow',
        'tail --message 0199a3f2-7c4e-7d10-8000-000000000001 --stack business-api-production',
      ),
    )
    .action(async ({ since, follow, ...filters }: Given, command: Command) => {
      const { json } = command.optsWithGlobals<{ json?: true }>();
      const ctrlC = new AbortController();
      const end = () => ctrlC.abort();
      process.once('SIGINT', end);
      try {
        const { signal } = ctrlC;
        const tailing: Tailing = { since: since ?? (follow ? now() : now() - LOOK_BACK), follow, signal };
        for await (const entries of await entriesOf(tailing, filters)) {
          const shown = entries.filter((entry) => passes(filters, entry, fieldsIn(entry)));
          const lines = shown.map((entry) => (json ? jsonFor(entry) : lineFor(entry, now())));
          if (lines.length > 0) await print(`${lines.join('\n')}\n`, signal);
        }
      } finally {
        process.off('SIGINT', end);
      }
    });
};

/** @throws UserError — the command names a table in AWS, which has no logs */
const entriesOf = async (tailing: Tailing, filters: Filters): Promise<AsyncIterable<Entry[]>> => {
  const { runs, stack } = deployment();
  if (runs === 'here') return localEntries(tailing);
  if (stack === undefined) throw new UserError('A table has no logs: name its stack with --stack instead of --table.');
  return cloudWatchEntries({ ...tailing, groups: await logGroupsOf(stack), pattern: patternOf(filters) });
};

/** Prints, and waits while the reader of a pipe is slower. */
const print = async (text: string, signal: AbortSignal): Promise<void> => {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain', { signal }).catch(() => undefined);
};
