/** Messages from businesses to users of the app (spec §4.14). */
import { findAccount } from '../accounts/accounts.ts';
import type { PlatformName } from '../accounts/platform-settings.ts';
import { timestamp } from '../core/clock.ts';
import { hashOf, idempotencyKeyReused } from '../core/idempotency.ts';
import { idFromKey, newId } from '../core/ids.ts';
import { invalidRequest } from '../core/problems.ts';
import { sendError } from '../media/media.ts';
import { getConsistent } from '../table/client.ts';
import { messageKey } from '../table/keys.ts';
import { putIfAbsentWrite, type Write } from '../table/transactions.ts';
import { measure } from '../telemetry/metrics.ts';
import { type Content, conversationAbout, namesOf, type Outgoing } from './events.ts';
import { jobOf, type LogItem, lifetimeFrom, logItem, type Message } from './message.ts';
import { enqueueWrites, transactInOrder } from './outbox.ts';

/** A message as a business sends it. */
export type Draft = { to: string; quick_replies?: string[] | undefined } & Content;

/** A message in the table. */
interface MessageItem extends LogItem {
  /** SHA-256 of the request, if it had an idempotency key: distinguishes a repeat from another request with that key. */
  request?: string;
}

/**
 * Accepts a message to a user: it will be delivered, or logged as failed. 1 read unit, another one for an image or a
 * file, and 6 write units in one transaction: the message, its outbox entry, the head of the outbox.
 *
 * @returns the message's id
 * @throws invalid_request — an image or file that is not the account's own, or has expired
 * @throws idempotency_key_reused — the key belongs to another request
 */
export const sendMessage = async (
  account: string,
  draft: Draft,
  { job_id, idempotencyKey }: { job_id?: string | undefined; idempotencyKey?: string | undefined },
): Promise<string> => {
  await rejectForeignMedia(account, draft, `#/${draft.type}/url`);
  // Stryker disable next-line StringLiteral: Any other word separates these ids from others too.
  const id = idempotencyKey === undefined ? newId() : idFromKey(account, 'sendMessage', idempotencyKey);
  // Stryker disable next-line ConditionalExpression: Only a message with a key compares it.
  const request = idempotencyKey === undefined ? undefined : hashOf([draft, job_id]);
  // Stryker disable next-line StringLiteral: Any other word separates these ids from others too.
  const isNew = await acceptMessage(draft, { id, account, source: 'api', job_id, request });
  // Stryker disable next-line ConditionalExpression: Only the number of calls differs; the capacity tests count them.
  if (!isNew) {
    const first = await getConsistent<MessageItem>(messageKey(id));
    // The first message has expired since then.
    if (first === undefined) return sendMessage(account, draft, { job_id, idempotencyKey });
    if (first.request !== request) throw idempotencyKeyReused('message');
  }
  return id;
};

/** Who sends a message, and how it is counted. */
interface Sending extends Pick<Message, 'id' | 'account' | 'origin'> {
  source: 'api' | PlatformName;
  job_id?: string | undefined;
  /** SHA-256 of the request, where it came with an idempotency key. */
  request?: string | undefined;
  /** Conditional writes that belong to it. */
  more?: Write[];
}

/**
 * Accepts a message to a user: writes it with its outbox entry and the head of the outbox, in one transaction.
 *
 * @returns whether it was written: not, where there is one with its id, or the condition of another write failed
 */
export const acceptMessage = async (draft: Draft, sending: Sending): Promise<boolean> => {
  const { source, request, more = [], ...known } = sending;
  const { bot_number, platform } = (await findAccount(known.account)) ?? {};
  const { to, quick_replies, ...content } = draft;
  const created = timestamp();
  const message: Message = {
    ...known,
    phone: to,
    job_id: known.job_id ?? jobOf(known.account, source, created),
    payload_type: content.type,
    // Chat platforms are notified of the messages that they sent, a plain webhook of all messages.
    ...((platform === 'webhook' || platform === source) && { reported: true }),
    ...lifetimeFrom(created),
  };
  // Stryker disable next-line ConditionalExpression: The table and JSON leave out a value that is undefined.
  const item: MessageItem = { ...logItem(message, 'sent', created), ...(request !== undefined && { request }) };
  const outgoing: Outgoing = {
    type: 'message.send',
    message,
    content,
    ...(bot_number !== undefined && { from: bot_number }),
    ...(quick_replies !== undefined && { quick_replies }),
  };
  const [taken] = await transactInOrder((after) => [
    putIfAbsentWrite(item),
    ...enqueueWrites(conversationAbout('app', message), outgoing, after),
    ...more,
  ]);
  if (taken === undefined) measure('info', 'accepted', { ...namesOf(outgoing), accepted: 1 });
  return taken === undefined;
};

/** Media go out by their datafree address, which the app opens without cost to the user. */
export const rejectForeignMedia = async (account: string, draft: Draft, pointer: string): Promise<void> => {
  if (draft.type === 'text') return;
  const { url } = draft.type === 'image' ? draft.image : draft.file;
  const detail = await sendError(account, draft.type, url);
  if (detail !== undefined) throw invalidRequest([{ pointer, detail }]);
};
