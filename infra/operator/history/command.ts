/** `operator history`: what operators did. */
import type { Command } from 'commander';
import { operationKey } from '../../../shared/accounts/entities.ts';
import { now, sortableTime } from '../../../shared/core/clock.ts';
import { inDays, OPERATION_DAYS } from '../../../shared/core/lifetimes.ts';
import { pages } from '../../../shared/table/client.ts';
import { columns, minute, printResult, tinted } from '../output.ts';
import { examples, readRequests, readSince } from '../usage.ts';
import { cleaned, type Operation, type OperationItem } from './record.ts';

interface Given {
  since: number;
  account?: string;
  limit: number;
}

const DAY = 86_400_000;

export const addHistoryCommand = (program: Command): void => {
  program
    .command('history')
    .description(
      `Lists what operators did, newest first: commands that changed something, and those that read personal data. Kept for ${inDays(OPERATION_DAYS)}.`,
    )
    .option('--since <when>', 'from then on: 10m, 2h, 1d, 2027-01-31, or a full ISO time', readSince, now() - 30 * DAY)
    .option('--account <id>', 'only commands that named or created this account')
    .option('--limit <count>', 'at most so many', readRequests, 100)
    .addHelpText('after', examples('history', 'history --since 7d --account acme-research'))
    .action(async ({ since, account, limit }: Given, command: Command) => {
      const found: Operation[] = [];
      for await (const operation of operationsSince(since)) {
        if (account !== undefined && operation.account !== cleaned(account)) continue;
        found.push(operation);
        if (found.length === limit) break;
      }
      const words = columns(['TIME', 'WHO', 'COMMAND', 'RESULT'], found.map(row));
      printResult(command, found, found.length === 0 ? 'There are no records.' : words);
    });
};

const row = ({ created, who, command, asked, changes, result }: Operation) => [
  minute(created),
  who,
  asked || changes ? `${command} (${[asked, changes].filter(Boolean).join(' ')})` : command,
  result === 'succeeded' ? result : tinted(result === 'began' ? 'yellow' : 'red', result),
];

/** The records from a time on, newest first: a partition for each month. */
async function* operationsSince(since: number): AsyncGenerator<Operation> {
  const first = new Date(since).toISOString().slice(0, 7);
  for (const month = new Date(now()); ; month.setUTCMonth(month.getUTCMonth() - 1, 1)) {
    const name = month.toISOString().slice(0, 7);
    if (name < first) return;
    for await (const items of pages<OperationItem>({
      KeyConditionExpression: 'pk = :pk AND sk >= :since',
      ExpressionAttributeValues: { ':pk': operationKey(name, '').pk, ':since': sortableTime(since) },
      ScanIndexForward: false,
      ConsistentRead: true,
    })) {
      for (const { pk: _pk, sk: _sk, expires_at: _expires, ...operation } of items) yield operation;
    }
  }
}
