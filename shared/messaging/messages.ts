/** Messages between businesses and users of the app (spec §4.14): sent, received, and what becomes of them. */
import * as v from 'valibot';
import { type Attempts, waitingAbout } from '../../infra/operator/queries/outbox-inspection.ts';
import { accountOfBot, findAccount } from '../accounts/accounts.ts';
import { idFromKey, newId, now, timestamp } from '../core/clock.ts';
import { hashOf, idempotencyKeyReused } from '../core/idempotency.ts';
import { invalidRequest, Problem } from '../core/problems.ts';
import { whyNotToSend } from '../media/media.ts';
import type { PlatformName } from '../platforms/registry.ts';
import { type LogItem, lifetimeFrom, logItem, type Message, messageOf, type State } from '../stats/delivery-log.ts';
import { jobOf } from '../stats/job-counters.ts';
import { findLatest, pages, putNew, puttingNew, type Write } from '../table/client.ts';
import { type Key, messageKey } from '../table/keys.ts';
import { measure } from '../telemetry/metrics.ts';
import { phoneNumber } from '../validation/schemas.ts';
import {
  type Content,
  type Conversation,
  type Direction,
  enqueueing,
  namesOf,
  type Outgoing,
  transactInOrder,
} from './outbox.ts';

/** A message as a business sends it. */
export type Draft = { to: string; quick_replies?: string[] | undefined } & Content;

/** A message in the table. */
interface MessageItem extends LogItem {
  /** SHA-256 of the request that made it, where it came with an idempotency key: tells a repeat from another use of it. */
  request?: string;
}

/** The conversation that a message belongs to. */
export const conversation = (direction: Direction, { account, phone }: Message): Conversation => ({
  direction,
  account,
  phone,
});

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
  await refuseForeignMedia(account, draft, `#/${draft.type}/url`);
  // Stryker disable next-line StringLiteral: Any other word separates these ids from others too.
  const id = idempotencyKey === undefined ? newId() : idFromKey(account, 'sendMessage', idempotencyKey);
  // Stryker disable next-line ConditionalExpression: Only a message with a key compares it.
  const request = idempotencyKey === undefined ? undefined : hashOf([draft, job_id]);
  // Stryker disable next-line StringLiteral: Any other word separates these ids from others too.
  const isNew = await accept(draft, { id, account, source: 'api', job_id, request });
  // Stryker disable next-line ConditionalExpression: Only the number of calls differs; the capacity tests count them.
  if (!isNew) {
    const first = await findLatest<MessageItem>(messageKey(id));
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
export const accept = async (draft: Draft, sending: Sending): Promise<boolean> => {
  const { source, request, more = [], ...known } = sending;
  const { bot_number, platform } = (await findAccount(known.account)) ?? {};
  const { to, quick_replies, ...content } = draft;
  const created = timestamp();
  const message: Message = {
    ...known,
    phone: to,
    job_id: known.job_id ?? jobOf(known.account, source, created),
    payload_type: content.type,
    // Chat platforms hear of the messages that they sent themselves; a plain webhook of all.
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
    puttingNew(item),
    ...enqueueing(conversation('app', message), outgoing, after),
    ...more,
  ]);
  if (taken === undefined) measure('info', 'accepted', { ...namesOf(outgoing), accepted: 1 });
  return taken === undefined;
};

/** Media go out by their datafree address, which the app opens without cost to the user. */
export const refuseForeignMedia = async (account: string, draft: Draft, pointer: string): Promise<void> => {
  if (draft.type === 'text') return;
  const { url } = draft.type === 'image' ? draft.image : draft.file;
  const detail = await whyNotToSend(account, draft.type, url);
  if (detail !== undefined) throw invalidRequest([{ pointer, detail }]);
};

/** A message that a user writes to a bot. */
type Received = { from: string; to: string } & Content;

/**
 * Takes a message that a user wrote to a bot: logs it, and passes it on to the account's platform, if it has one. The
 * same event again changes nothing. 2 read units; 1 write unit, or 6 in one transaction.
 *
 * @param event - id of the app network's event
 * @returns whether there is such a bot
 */
export const receiveMessage = async (event: string, received: Received): Promise<boolean> => {
  const account = await accountOfBot(received.to);
  if (account === undefined) return false;
  await take(account, idFromKey('app-network', 'message.received', event), received);
  return true;
};

/**
 * The same for a message that an account writes to a bot of its own, as if a user had.
 *
 * @throws bot_not_found — no bot has the number, or another account's
 */
export const receiveTestMessage = async (account: string, received: Received): Promise<void> => {
  const owner = v.is(phoneNumber, received.to) ? await accountOfBot(received.to) : undefined;
  if (owner !== account) {
    throw new Problem('bot_not_found', 'Your account has no bot with this number. The operator issues them.');
  }
  await take(account, newId(), received);
};

const take = async (account: string, id: string, { from, to, ...content }: Received): Promise<void> => {
  const { platform } = (await findAccount(account)) ?? {};
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
  if (platform === undefined) return void (await putNew(item));
  const outgoing: Outgoing = { type: 'message.received', message, to, content };
  const [taken] = await transactInOrder((after) => [
    puttingNew(item),
    ...enqueueing(conversation('platform', message), outgoing, after),
  ]);
  if (taken === undefined) measure('info', 'accepted', { ...namesOf(outgoing), accepted: 1 });
};

/** That a message reaches a state; why, where it failed. */
export interface Reaching {
  message: Message;
  state: State;
  created: string;
  reason?: string | undefined;
}

/** The log entry of a state that a message reaches. */
export const stateItem = ({ message, state, created, reason }: Reaching): LogItem => ({
  ...logItem(message, state, created),
  // Stryker disable next-line ConditionalExpression: The table and JSON leave out a value that is undefined.
  ...(reason !== undefined && { reason }),
});

/**
 * The writes by which a message reaches a state: its log entry, which fails where it has reached it before, and the
 * report to its account's platform, where that wants to know.
 */
export const reaching = (what: Reaching, after: string | undefined): Write[] => {
  const { message } = what;
  return [
    puttingNew<Key>(stateItem(what)),
    ...(message.reported ? enqueueing(conversation('platform', message), reportOf(what), after) : []),
  ];
};

/** What an account's platform is sent about a state. */
export const reportOf = ({ message, state, created }: Reaching): Outgoing => ({
  type: 'message.state',
  message,
  state,
  created,
});

/** All that is known of a message; never what it says. */
export interface Story extends Message {
  /** Where it goes, or went: to the user, or to the account's platform. */
  direction: Direction;
  /** What became of it, in the order of time; why, where it failed. */
  states: Pick<LogItem, 'state' | 'created' | 'reason'>[];
  /** The attempts to deliver it, while it waits for the next one. */
  waiting?: Attempts;
  /** Reports to the account's platform that still wait: their states, and the attempts to deliver them. */
  reports?: Attempts & { states: State[] };
}

/** A message's story; nothing, where there is no such message. Reads its log entries, and the outboxes of its user. */
export const storyOf = async (id: string): Promise<Story | undefined> => {
  const items = await logOf(id);
  const first = items.find(({ sk }) => sk === messageKey(id).sk);
  if (first === undefined) return undefined;
  const message = messageOf(first);
  const direction = first.state === 'sent' ? 'app' : 'platform';
  const [itself, reports] = await Promise.all([
    waitingAbout(conversation(direction, message), id),
    message.reported && waitingAbout(conversation('platform', message), id),
  ]);
  return {
    ...message,
    direction,
    // Stryker disable next-line ConditionalExpression: The table and JSON leave out a value that is undefined.
    states: items.map(({ state, created, reason }) => ({ state, created, ...(reason !== undefined && { reason }) })),
    ...(itself && { waiting: itself.attempts }),
    ...(reports && { reports: { states: reports.states, ...reports.attempts } }),
  };
};

/** A message's log entries in the order of time. */
const logOf = async (id: string): Promise<LogItem[]> => {
  const found: LogItem[] = [];
  for await (const items of pages<LogItem>({
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': messageKey(id).pk },
    // Stryker disable next-line BooleanLiteral: The embedded database always reads consistently.
    ConsistentRead: true,
  })) {
    // Stryker disable next-line EqualityOperator: No test can meet this exact moment.
    found.push(...items.filter(({ expires_at }) => expires_at > now() / 1000));
  }
  // Stryker disable next-line EqualityOperator: No two are equal, or their order is not defined.
  return found.sort((a, b) => (a.created < b.created ? -1 : 1));
};
