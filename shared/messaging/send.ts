/** Messages from businesses to users of the app. */
import { type Account, findAccount } from '../accounts/accounts.ts';
import { now, scaled, sortableTime, timestamp } from '../core/clock.ts';
import { newId } from '../core/ids.ts';
import type { MediaType } from '../core/media-types.ts';
import { invalidRequest } from '../core/problems.ts';
import type { SendingHours } from '../core/sending-hours.ts';
import { checkOwnMedia } from '../media/media.ts';
import { type After, enqueue, enqueueWrites, transactInOrder } from '../outbox/entries.ts';
import { type Content, contentWith, conversationAbout, logFields, mediaOf, type OutboxEvent } from '../outbox/event.ts';
import { lifetimeFrom, logItem, type Message, type ReasonCode } from '../outbox/message.ts';
import { type ReachedState, stateWrites } from '../outbox/states.ts';
import { acceptOnce, notAccepted } from '../table/idempotency.ts';
import { putIfAbsentWrite, type Write } from '../table/transactions.ts';
import { measure } from '../telemetry/metrics.ts';
import { type HoursGiven, hoursOfSingle } from './hours.ts';
import { jobOf } from './jobs/default-jobs.ts';
import { isCancelled, jobCancelled, openJob } from './jobs/job.ts';
import { isNotified } from './platform-events.ts';

/** A message from a business. */
export type Draft = { to: string; quick_replies?: string[] | undefined; reference?: string | undefined } & Content;

/** What a request determines besides the message. */
interface SendOptions extends HoursGiven {
  job_id?: string | undefined;
  /** The business's own name for the job. */
  job_reference?: string | undefined;
  idempotencyKey?: string | undefined;
  /** Seconds after which the message must not be delivered any more. */
  valid_for?: number | undefined;
  /** Throws if the caller has confirmed another request than this one. */
  confirm?: (() => void) | undefined;
}

/**
 * Accepts a message to a user: it will be delivered, or logged as failed. 1 read unit, 2 for an image or a file, 1 more
 * with a job (`openJob`), and 6 write units in one transaction: the message, its outbox entry, and the head of the
 * outbox. 1 more read unit with sending hours. With an idempotency key, as much more as `acceptOnce` says.
 *
 * @returns the message's id
 * @throws invalid_request — media that are not the account's own, or expire before the message; a job that has another
 *   reference; or hours as `findHours` says
 * @throws idempotency_key_reused — the key belongs to another request
 * @throws job_cancelled — the job was cancelled
 */
export const sendMessage = async (
  account: string,
  draft: Draft,
  { job_id, job_reference, idempotencyKey, valid_for, confirm, ...given }: SendOptions,
): Promise<string> => {
  const repeatable = {
    ...({ account, endpoint: 'sendMessage', idempotencyKey, what: 'message' } as const),
    request: { draft, job_id, job_reference, valid_for, ...given },
  };
  const { id } = await acceptOnce<{ id: string }>(repeatable, async (recordWrites) => {
    confirm?.();
    const validUntil = valid_for === undefined ? undefined : now() + scaled(valid_for * 1_000);
    const own = await withOwnMedia(account, draft, `#/${draft.type}/url`, validUntil);
    const sender = await findAccount(account);
    const hours = await hoursOfSingle(account, sender, given, { phone: draft.to, pointer: '#/to' });
    if (job_id !== undefined && isCancelled(await openJob(account, job_id, { reference: job_reference })))
      throw jobCancelled();
    const accepted = { id: newId() };
    const isAccepted = await acceptMessage(own, {
      ...{ ...accepted, account, job_id, hours, sender },
      ...(validUntil !== undefined && { valid_until: sortableTime(validUntil) }),
      more: recordWrites(accepted, lifetimeFrom(timestamp()).expires_at),
    });
    if (!isAccepted) throw notAccepted();
    return accepted;
  });
  return id;
};

/** The sender of a message, and its job. */
interface Sending extends Pick<Message, 'id' | 'account' | 'origin'> {
  /** The job that the request names, which can be cancelled. Default: the job of the account, source and day. */
  job_id?: string | undefined;
  /** When the message must not be delivered any more, in the form of `sortableTime`. */
  valid_until?: string | undefined;
  /** Between which times of the day it may be sent. Default: at all times. */
  hours?: SendingHours | undefined;
  /** The account, if the caller has just read it. By default, it is read: 1 read unit. */
  sender?: Account | undefined;
  /** Set if it confirms to a user that no further message follows. */
  confirmsStop?: true;
  /** Conditional writes for the same transaction. */
  more?: Write[];
}

/**
 * Accepts a message to a user: writes it with its outbox entry and the head of the outbox, in one transaction.
 *
 * @returns whether the message was written; false if its id exists, or the condition of one of `more` failed
 */
export const acceptMessage = async (draft: Draft, sending: Sending): Promise<boolean> => {
  const { sender, more = [], ...known } = sending;
  const account = sender ?? (await findAccount(known.account));
  const { item, message, outgoing } = newOutgoing(draft, known, account);
  const [taken] = await transactInOrder((after) => [
    putIfAbsentWrite(item),
    ...enqueueWrites(conversationAbout('app', message), outgoing, after),
    ...more,
  ]);
  if (taken === undefined) measure('info', 'accepted', { ...logFields(outgoing), accepted: 1 });
  return taken === undefined;
};

/** The writes that accept a message to a user, within the transaction of what causes it. 6 write units. */
export const messageWrites = (
  draft: Draft,
  sending: Omit<Sending, 'sender' | 'more'>,
  account: Account | undefined,
  after: After,
): Write[] => {
  const { item, message, outgoing } = newOutgoing(draft, sending, account);
  return [putIfAbsentWrite(item), ...enqueueWrites(conversationAbout('app', message), outgoing, after)];
};

/** Several messages: what each is, and what all have in common. */
interface SendingAll extends Omit<Sending, 'id' | 'valid_until' | 'hours'> {
  messages: { id: string; draft: Draft; valid_until: string | undefined; hours: SendingHours | undefined }[];
}

/**
 * Accepts messages, all or none, in one transaction. Messages to one user keep their order. 4 write units for a message, 2
 * for each user, and with sending hours 2 more, and 1 read unit.
 *
 * @returns whether they were written; false if the condition of one of `more` failed
 */
export const acceptMessages = async ({ messages, more = [], sender, ...common }: SendingAll): Promise<boolean> => {
  const account = sender ?? (await findAccount(common.account));
  const accepted = messages.map(({ draft, ...own }) => newOutgoing(draft, { ...common, ...own }, account));
  const conversationName = ({ phone, hours }: Message): string => `${phone} ${hours !== undefined}`;
  const toOne = [...Map.groupBy(accepted, ({ message }) => conversationName(message)).values()];
  const failed = await transactInOrder((after) => [
    ...accepted.map(({ item }) => putIfAbsentWrite(item)),
    ...toOne.flatMap((theirs) => {
      const [first] = theirs;
      if (first === undefined) return [];
      const conversation = conversationAbout('app', first.message);
      return enqueue(conversation, theirs, after).writes;
    }),
    ...more,
  ]);
  if (failed.length > 0) return false;
  for (const { outgoing } of accepted) measure('info', 'accepted', { ...logFields(outgoing), accepted: 1 });
  return true;
};

/** A new message, its first log entry, and its outbox entry. */
const newOutgoing = (draft: Draft, sending: Sending, account: Account | undefined) => {
  const { bot_number } = account ?? {};
  const { to: _to, quick_replies, reference: _reference, ...content } = draft;
  const { job_id, valid_until, confirmsStop } = sending;
  const created = timestamp();
  const message = newMessage(draft, sending, account, created);
  const outgoing: OutboxEvent = {
    type: 'message.send',
    message,
    content,
    ...(bot_number !== undefined && { from: bot_number }),
    ...(quick_replies !== undefined && { quick_replies }),
    ...(job_id !== undefined && { cancellable: true }),
    ...(valid_until !== undefined && { valid_until }),
    ...(confirmsStop && { confirmsStop }),
  };
  return { message, item: logItem(message, 'sent', created), outgoing };
};

/** The message that a draft becomes. */
const newMessage = (
  { to, type, reference }: Draft,
  { id, account, origin, job_id, hours }: Sending,
  { platform }: Pick<Account, 'platform'> = {},
  created: string,
): Message => ({
  id,
  account,
  ...(origin && { origin }),
  phone: to,
  job_id: job_id ?? jobOf(account, origin === undefined ? 'api' : 'platform', created),
  payload_type: type,
  ...(reference !== undefined && { reference }),
  ...(hours && { hours }),
  // A platform is notified of the messages that it sent.
  ...((isNotified(platform, 'any_state') || (origin !== undefined && platform === origin.platform)) && {
    reported: true,
  }),
  ...lifetimeFrom(created),
});

/** Why a message is not sent any more. */
export type EndReason = Extract<ReasonCode, 'cancelled' | 'expired' | 'opted_out'>;

/**
 * Logs a message as failed that is not sent any more: in one transaction, with the report of its state, so that it never
 * becomes pending. If the message exists already, nothing changes. 4 write units, 8 with a report.
 */
export const logAsEnded = async (draft: Draft, sending: Sending, reason: EndReason): Promise<void> => {
  const created = timestamp();
  const sender = sending.sender ?? (await findAccount(sending.account));
  const message = newMessage(draft, sending, sender, created);
  const failure: ReachedState = {
    ...{ message, state: 'sending_failed', created: timestamp() },
    ...{ reason_code: reason, reason },
  };
  const [known] = await transactInOrder((after) => [
    putIfAbsentWrite(logItem(message, 'sent', created)),
    ...stateWrites(failure, after),
  ]);
  const { id: message_id, account } = message;
  if (known === undefined)
    measure('info', 'ended early', { type: 'message.send', account, message_id, reason, ended_early: 1 });
};

/**
 * The draft as it is sent: with a document that was given as an image as a file.
 *
 * @param pointer - the position of the URL in the request
 * @param validUntil - when the message must not be delivered any more, in milliseconds since 1970; the URL must work until then
 * @throws invalid_request — the URL is not a datafree URL of the account, or has expired
 */
export const withOwnMedia = async (
  account: string,
  draft: Draft,
  pointer: string,
  validUntil?: number,
): Promise<Draft> => {
  const given = mediaIn(draft);
  if (given === undefined) return draft;
  const own = await checkOwnMedia(account, given.type, given.url, validUntil);
  if ('error' in own) throw invalidRequest([{ pointer, detail: own.error }]);
  return asSent(draft, own);
};

/** The type and the URL of a draft with media. */
export const mediaIn = (draft: Content): { type: MediaType; url: string } | undefined => {
  const media = mediaOf(draft);
  return media === undefined || draft.type === 'text' ? undefined : { type: draft.type, url: media.url };
};

/** A draft as the type that its media have: clients send documents as images. */
export const asSent = (draft: Draft, { sendAs }: { sendAs: MediaType }): Draft => {
  const media = mediaOf(draft);
  if (media === undefined || draft.type === sendAs) return draft;
  const { to, quick_replies, reference } = draft;
  return { to, quick_replies, reference, ...contentWith(sendAs, media) };
};
