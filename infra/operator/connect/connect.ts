/**
 * Connects an account to a chat platform: its token, its settings, and the values for the other side.
 */

import type { Account } from '../../../shared/accounts/accounts.ts';
import type { TokenRecord } from '../../../shared/accounts/token-records.ts';
import { now } from '../../../shared/core/clock.ts';
import { type PlatformName, setups } from '../../../shared/destinations/registry.ts';
import { answersOf, type ConnectValues, encodeToken } from '../../../shared/destinations/setup.ts';
import { logPartitions } from '../../../shared/outbox/entities.ts';
import { timePart } from '../../../shared/outbox/log-positions.ts';
import type { LogItem } from '../../../shared/outbox/message.ts';
import { getConsistent, page } from '../../../shared/table/client.ts';
import type { Key } from '../../../shared/table/keys.ts';
import { type Settings, settingsFrom } from '../accounts/platform.ts';
import { noteChanges } from '../history/record.ts';
import { type AccountPlatform, updateAccount } from '../queries/accounts-admin.ts';
import { issueToken, listTokens } from '../queries/tokens-admin.ts';
import type { Check } from './checks.ts';

/** Issues the token that a platform calls the service with. It has only the permission `bridge`. */
export const issueBridgeToken = async (account: string, platform: PlatformName): Promise<string> => {
  const { token, record } = await issueToken(account, { label: labelOf(platform), permissions: ['bridge'] });
  noteChanges(`Issued the token ${record.id}: bridge.`);
  return token;
};

const labelOf = (platform: PlatformName): string => setups[platform].title;

/** The newest token that was issued for a platform, and still works. */
export const findBridgeToken = async (account: string, platform: PlatformName): Promise<TokenRecord | undefined> =>
  (await listTokens(account)).findLast(
    ({ label, permissions, revoked, expires }) =>
      label === labelOf(platform) &&
      permissions.includes('bridge') &&
      revoked === undefined &&
      (expires === undefined || Date.parse(expires) > now()),
  );

/** The values for the platform's form. */
export const valuesFor = (
  { name, bot_number: botNumber = '' }: Account,
  given: Pick<ConnectValues, 'bridgeUrl' | 'token' | 'settings' | 'made'>,
): ConnectValues => ({ ...given, encodedToken: encodeToken(given.token), botNumber, name });

/** The required settings that neither the account nor the caller has. */
export const missingSettings = (
  platform: PlatformName,
  current: AccountPlatform | undefined,
  given: Settings,
): string[] => {
  const known = current?.name === platform ? { ...current.settings, ...given } : given;
  return answersOf(setups[platform])
    .filter(({ setting, required }) => required && !(setting in known))
    .map(({ setting }) => setting);
};

/** A connection that is stored. */
export interface Stored {
  platform: AccountPlatform;
  /** Newly generated secrets, by name. */
  made: Settings;
}

/**
 * Stores the settings of an account's platform. Settings that are not given stay unchanged.
 *
 * @throws UserError — a setting is invalid or missing
 */
export const storeConnection = async (account: string, platform: PlatformName, given: Settings): Promise<Stored> => {
  let stored: Stored | undefined;
  await updateAccount(account, {
    platform: (current) => {
      stored = settingsFrom(platform, current, given);
      return stored.platform;
    },
  });
  if (stored === undefined) throw new Error('The account was not changed.');
  noteChanges(`Stored the platform "${platform}".`);
  return stored;
};

/** Milliseconds between two looks for a message. */
const LOOK_MS = 2_000;
/** Messages of the account that a look reads, at most. */
const MOST = 20;

interface Awaited {
  account: string;
  platform: PlatformName;
  /** Milliseconds to wait. */
  waitMs: number;
  /** Pauses between looks. */
  pause: (ms: number) => Promise<void>;
}

/**
 * Waits for a message that the platform itself sends. Each look costs 0.5 read units for 4 KB of the log, and 1 for each
 * new message.
 */
export const awaitMessage = async ({ account, platform, waitMs, pause }: Awaited): Promise<Check> => {
  const { title } = setups[platform];
  const began = now();
  do {
    const arrived = await findMessage(account, platform, began);
    if (arrived !== undefined) {
      return {
        title: `A message of ${title} arrived`,
        result: 'good',
        detail: `It belongs to the job ${arrived.job_id}.`,
      };
    }
    await pause(LOOK_MS);
  } while (now() - began < waitMs);
  return {
    title: `No message of ${title} arrived`,
    result: 'failed',
    detail: `The service accepted none within ${Math.round(waitMs / 1000)} s.`,
    fix: `Send a message to a user in ${title}, and read the status that ${title} shows: 401 or 403, the token is wrong; 404, the URL is wrong; 422, the message is; none, the host name is.`,
  };
};

/** A message that the platform has sent since a time, in milliseconds since 1970. */
const findMessage = async (account: string, platform: PlatformName, since: number): Promise<LogItem | undefined> => {
  const { items } = await page<Key>({
    IndexName: 'gsi1',
    KeyConditionExpression: 'gsi1pk = :sent AND gsi1sk > :since',
    ExpressionAttributeValues: {
      ':sent': logPartitions.gsi1(account, { state: 'sent' }),
      ':since': timePart(since * 1_000),
    },
    ProjectionExpression: 'pk, sk',
    Limit: MOST,
  });
  const messages = await Promise.all(items.map(({ pk, sk }) => getConsistent<LogItem>({ pk, sk })));
  return messages.find((message) => message?.origin?.platform === platform);
};
