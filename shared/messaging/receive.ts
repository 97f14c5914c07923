/** Messages from users of the app to the bots of accounts. */

import * as v from 'valibot';
import { accountOfBot } from '../accounts/accounts.ts';
import { timestamp } from '../core/clock.ts';
import { idFromKey, newId } from '../core/ids.ts';
import { Problem } from '../core/problems.ts';
import { enqueueWrites, transactInOrder } from '../outbox/entries.ts';
import { conversationAbout, logFields, type OutboxEvent, type ReceivedContent } from '../outbox/event.ts';
import { lifetimeFrom, logItem, type Message } from '../outbox/message.ts';
import { putIfAbsentWrite } from '../table/transactions.ts';
import { measure } from '../telemetry/metrics.ts';
import { phoneNumber } from '../validation/schemas.ts';
import { jobOf } from './jobs/default-jobs.ts';
import { applyKeyword } from './opt-outs/keywords.ts';
import { noteWritten } from './replies.ts';

/** A message from a user to a bot. */
type Received = { from: string; to: string } & ReceivedContent &
  Pick<Extract<OutboxEvent, { type: 'message.received' }>, 'in_reply_to' | 'quick_reply'>;

/**
 * Accepts a message from a user to a bot: logs it, and delivers it to the account's platform, or to the one that the account
 * has within `RETRY_DAYS`. A repeat of the event sends nothing. 1 read unit, 1 write unit, and 6 in one transaction.
 *
 * @param event - id of the app network's event
 * @returns whether the bot exists
 */
export const receiveMessage = async (event: string, received: Received): Promise<boolean> => {
  const account = await accountOfBot(received.to);
  if (account === undefined) return false;
  await acceptReceived(account, idFromKey('app-network', 'message.received', event), received);
  return true;
};

/**
 * Accepts a test message from an account to its own bot, as if it were from a user.
 *
 * @throws bot_not_found — the number is not that of a bot of the account
 */
export const receiveTestMessage = async (account: string, received: Received): Promise<void> => {
  const owner = v.is(phoneNumber, received.to) ? await accountOfBot(received.to) : undefined;
  if (owner !== account) {
    throw new Problem('bot_not_found', 'Your account has no bot with this number. The operator issues them.');
  }
  await acceptReceived(account, newId(), received);
};

const acceptReceived = async (
  account: string,
  id: string,
  { from, to, in_reply_to, quick_reply, ...content }: Received,
): Promise<void> => {
  const created = timestamp();
  const message: Message = {
    id,
    account,
    phone: from,
    job_id: jobOf(account, 'app', created),
    payload_type: content.type,
    ...lifetimeFrom(created),
  };
  const item = logItem(message, 'received', created);
  // Before the account can reply.
  await noteWritten(account, from);
  const outgoing: OutboxEvent = {
    ...{ type: 'message.received', message, to, content },
    ...(in_reply_to !== undefined && { in_reply_to }),
    ...(quick_reply && { quick_reply }),
  };
  const [taken] = await transactInOrder((after) => [
    putIfAbsentWrite(item),
    ...enqueueWrites(conversationAbout('platform', message), outgoing, after),
  ]);
  if (taken === undefined) measure('info', 'accepted', { ...logFields(outgoing), accepted: 1 });
  // Also after a repeat: the first request may have failed in between.
  await applyKeyword({ account, phone: from, message: id }, content);
};
