/** The environment of a soak: a database, the local stack in a separate process, accounts, and destinations. */
import { randomBytes } from 'node:crypto';
import { callTableOf } from '../../infra/operator/local-stack/call-table.ts';
import { createAccount, updateAccount } from '../../infra/operator/queries/accounts-admin.ts';
import { issueToken } from '../../infra/operator/queries/tokens-admin.ts';
import { APP_NETWORK } from '../../shared/core/permissions.ts';
import { HOW_TO_GET_IT, startDynamodbLocal } from '../support/dynamodb-local.ts';
import { UNLIMITED } from '../support/unlimited.ts';
import type { Book, Conversation, Message } from './book.ts';
import { Destinations } from './destination-servers.ts';
import { ServedStack } from './served-stack.ts';
import { settings } from './settings.ts';

interface Database {
  /** Undefined if the stack starts its own database. */
  endpoint: string | undefined;
  pid: number | undefined;
  name: string;
  close(): void;
}

/** The token of a business, and the number of its bot. */
export interface Account {
  token: string;
  bot: string;
}

export interface World {
  database: Database;
  stack: ServedStack;
  baseUrl: string;
  bridgeUrl: string;
  destinations: Destinations;
  accounts: Map<string, Account>;
  appToken: string;
  conversations: Conversation[];
  close(): Promise<void>;
}

/** The given database, or DynamoDB Local, or the embedded database. */
const openDatabase = async (): Promise<Database> => {
  const other = { pid: undefined, close: () => undefined };
  const { DYNAMODB_ENDPOINT: given } = process.env;
  if (given) return { ...other, endpoint: given, name: `the database at ${given}` };
  const local = await startDynamodbLocal(['-Xmx2g']);
  if (local !== undefined) return { ...local, name: 'DynamoDB Local, in memory' };
  const slow = `the embedded database, which becomes the slower the more it has seen (for another, ${HOW_TO_GET_IT})`;
  return { ...other, endpoint: undefined, name: slow };
};

/** The id of the account with this index. */
export const accountAt = (place: number): string => `soak-${place}`;

/** Creates the accounts, each with a bot and a plain webhook as its platform. */
const openAccounts = async (destinations: Destinations, secret: string): Promise<Map<string, Account>> => {
  const accounts = new Map<string, Account>();
  for (let place = 0; place < settings.accounts; place += 1) {
    const [id, bot] = [accountAt(place), `4477008${10_000 + place}`];
    await createAccount({ id, name: `Soak ${place}`, bot_number: bot, ...UNLIMITED });
    const url = await destinations.openPlatform({ id, bot });
    await updateAccount(id, { platform: { name: 'webhook', settings: { url, secret } } });
    const { token } = await issueToken(id, { label: 'soak', permissions: ['messages', 'stats'] });
    accounts.set(id, { token, bot });
  }
  return accounts;
};

/** The conversations, distributed equally over the accounts. */
const conversations = (): Conversation[] =>
  Array.from({ length: settings.conversations }, (_, place) => ({
    place,
    account: accountAt(place % settings.accounts),
    phone: `4477${10_000_000 + place}`,
  }));

/**
 * Opens the environment. After an error, it closes the opened parts.
 *
 * @param onShown - is called for each message that a phone shows
 */
export const openWorld = async (book: Book, onShown: (message: Message) => void): Promise<World> => {
  const opened: { close(): unknown }[] = [];
  const close = async (): Promise<void> => {
    for (const part of opened.splice(0).reverse()) await part.close();
  };
  try {
    const secret = `whsec_${randomBytes(32).toString('base64')}`;
    const database = await openDatabase();
    opened.push(database);
    const destinations = new Destinations(book, secret, onShown);
    opened.push(destinations);
    const table = `business-api-soak-${process.pid}`;
    const [stack, served] = await ServedStack.start({
      dynamodbEndpoint: database.endpoint,
      table,
      minute: settings.minute,
      secret: JSON.stringify({ url: await destinations.openApp(), secret }),
    });
    opened.push(stack);
    callTableOf({ dynamodbEndpoint: served.dynamodbEndpoint, table });
    const accounts = await openAccounts(destinations, secret);
    const { token: appToken } = await issueToken(APP_NETWORK, { label: 'soak', permissions: ['app'] });
    return { ...served, database, stack, destinations, accounts, appToken, conversations: conversations(), close };
  } catch (error) {
    await close();
    throw error;
  }
};
