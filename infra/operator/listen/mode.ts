/** Directs the events of an account's webhook to listeners, and back to its URL. */

import { timestamp } from '../../../shared/core/clock.ts';
import { APP_NETWORK } from '../../../shared/core/permissions.ts';
import { newSigningSecret } from '../../../shared/destinations/signing-secrets.ts';
import {
  type AccountPlatform,
  findPlatform,
  showAccount,
  UserError,
  updateAccount,
} from '../queries/accounts-admin.ts';
import { pendingConversations, retryConversations } from '../queries/outbox-inspection.ts';

/** The directions whose events listeners receive. An account's own webhook for consent is not affected. */
const DIRECTIONS = ['platform', 'consent'] as const;

/** The URL of a webhook; undefined if it has none. */
const urlOf = (platform: AccountPlatform | undefined): string | undefined =>
  platform && 'url' in platform.settings ? String(platform.settings.url) : undefined;

/** Whether the events of an account wait for listeners, and the URL of its webhook. */
export interface Mode {
  isListening: boolean;
  url?: string;
}

/**
 * How the events of an account are delivered.
 *
 * @throws UserError — no such account, or its chat platform has no webhook events
 */
export const modeOf = async (account: string): Promise<Mode> => {
  await showAccount(account);
  if (account === APP_NETWORK) throw new UserError(`"${APP_NETWORK}" has no webhook. Name the account of a business.`);
  const platform = await findPlatform(account);
  requireWebhook(account, platform);
  const url = urlOf(platform);
  return { isListening: platform?.listening !== undefined, ...(url !== undefined && { url }) };
};

/** @throws UserError — the account uses another platform */
const requireWebhook = (account: string, platform: AccountPlatform | undefined): void => {
  if (platform === undefined || platform.name === 'webhook') return;
  throw new UserError(
    `Account "${account}" uses the platform "${platform.name}", whose requests cannot be forwarded: only events of a webhook can. Listen with another account, or replace the platform: "account update ${account} --platform webhook …".`,
  );
};

/**
 * Directs an account's events to listeners, also those that are pending. An account without a platform gets a webhook
 * without a URL.
 *
 * @returns the signing secret, if the webhook is new
 */
export const beginListening = async (account: string): Promise<string | undefined> => {
  let made: string | undefined;
  await updateAccount(account, {
    platform: (current) => {
      requireWebhook(account, current);
      made = current === undefined ? newSigningSecret() : undefined;
      return { ...(current ?? { name: 'webhook', settings: { secret: made } }), listening: timestamp() };
    },
  });
  await retryAll(account);
  return made;
};

/** The number of events that wait for listeners or for a webhook. */
export const pendingEvents = async (account: string): Promise<number> => {
  const pending = await Promise.all(DIRECTIONS.map((direction) => pendingConversations({ account, direction })));
  return pending.flat().reduce((sum, { entries }) => sum + entries, 0);
};

/** Sends an account's events to its URL again. A webhook without a URL is removed: they wait for another platform. */
export const endListening = async (account: string): Promise<void> => {
  await updateAccount(account, {
    platform: (current) => {
      if (current === undefined || urlOf(current) === undefined) return null;
      const { listening: _, ...rest } = current;
      return rest;
    },
  });
  await retryAll(account);
};

const retryAll = async (account: string): Promise<void> => {
  await Promise.all(DIRECTIONS.map((direction) => retryConversations({ account, direction })));
};
