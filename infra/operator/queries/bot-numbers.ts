/**
 * Finds inconsistent bot numbers, and releases them. Each number has a row that names its owner, and the owner's
 * account names the number. Both are written in one transaction, but earlier versions could make them differ.
 */
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { findAccount, type NumberItem } from '../../../shared/accounts/accounts.ts';
import { accountKey, numberKey } from '../../../shared/accounts/entities.ts';
import { tableName } from '../../../shared/core/settings.ts';
import { documents, getConsistent } from '../../../shared/table/client.ts';
import { conditionCheckWrite, transact } from '../../../shared/table/transactions.ts';
import { listAccounts, releaseNumberWrites } from './accounts-admin.ts';

/** A number whose owner does not name it, or does not exist. No account can claim it. */
export interface Orphan {
  number: string;
  /** The owner that the number's row names. */
  account: string;
}

/** An account that names a number which it does not own. Users' messages to the number do not reach the account. */
export interface Misnamed extends Orphan {
  /** The number's owner; missing if there is none. */
  owner?: string;
}

/** Accounts or numbers that are read at the same time. */
const TOGETHER = 25;

/** The orphaned ones of these numbers. 2 read units each. */
export const findOrphans = async (numbers: string[]): Promise<Orphan[]> => {
  const found = await inGroups(numbers, async (number) => {
    const account = (await getConsistent<NumberItem>(numberKey(number)))?.account;
    if (account === undefined || (await findAccount(account))?.bot_number === number) return [];
    return [{ number, account }];
  });
  return found.flat();
};

/** Accounts that name a number which they do not own, among these numbers or all. 2 read units per account. */
export const findMisnamed = async (numbers?: string[]): Promise<Misnamed[]> => {
  const accounts = await listAccounts();
  const found = await inGroups(accounts, async ({ id: account }) => {
    const number = (await findAccount(account))?.bot_number;
    if (number === undefined || (numbers && !numbers.includes(number))) return [];
    const owner = (await getConsistent<NumberItem>(numberKey(number)))?.account;
    return owner === account ? [] : [{ number, account, ...(owner !== undefined && { owner }) }];
  });
  return found.flat();
};

/** All numbers with an owner, in groups. Scans the whole table: 0.5 read units per 4 KB. */
export async function* allNumbers(): AsyncGenerator<string[]> {
  const { pk: prefix, sk } = numberKey('');
  let start: Record<string, unknown> | undefined;
  do {
    const { Items = [], LastEvaluatedKey } = await documents.send(
      new ScanCommand({
        TableName: tableName(),
        FilterExpression: 'sk = :sk',
        ExpressionAttributeValues: { ':sk': sk },
        ProjectionExpression: 'pk',
        ...(start && { ExclusiveStartKey: start }),
      }),
    );
    yield Items.map(({ pk }) => String(pk).slice(prefix.length));
    start = LastEvaluatedKey;
  } while (start);
}

/** Releases a number, unless its owner names it by now. Returns whether it was released. */
export const releaseOrphan = async ({ number, account }: Orphan): Promise<boolean> => {
  const isNamed = {
    ConditionExpression: 'attribute_not_exists(bot_number) OR bot_number <> :number',
    ExpressionAttributeValues: { ':number': number },
  };
  return (
    (await transact([conditionCheckWrite(accountKey(account), isNamed), ...releaseNumberWrites(account, number)]))
      .length === 0
  );
};

const inGroups = async <Item, Result>(items: Item[], work: (item: Item) => Promise<Result>): Promise<Result[]> => {
  const results: Result[] = [];
  for (let start = 0; start < items.length; start += TOGETHER) {
    results.push(...(await Promise.all(items.slice(start, start + TOGETHER).map(work))));
  }
  return results;
};
