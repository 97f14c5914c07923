/**
 * Acceptance of batches:
 *
 *     1. the upload    due in an hour: `sweep` removes the chunks of an upload that no batch names
 *     2. its chunks
 *     3. the batch     in one transaction that removes the upload. From here on, the batch is accepted.
 *
 * A few messages are accepted at once instead: in one transaction, as messages to one user each are.
 *
 * The table's stream wakes the expansion of the account's batches. If that is lost, `sweep` wakes it.
 */

import { isDeepStrictEqual } from 'node:util';
import { type Account, findAccount } from '../accounts/accounts.ts';
import { bucketTable, takeTokens } from '../accounts/rate-limit/bucket.ts';
import { now, scaled, sortableTime, timestamp, timestampOf } from '../core/clock.ts';
import { idOf, newUnguessableId } from '../core/ids.ts';
import { DAYS_AHEAD, inDays } from '../core/lifetimes.ts';
import type { MediaType } from '../core/media-types.ts';
import { inParallel } from '../core/parallel.ts';
import { invalidRequest, type ValidationError } from '../core/problems.ts';
import { nextOpening, prefixOf, RECIPIENT, type SendingHours } from '../core/sending-hours.ts';
import { messageRetention } from '../core/settings.ts';
import { checkOwnMedia, type OwnMedia } from '../media/media.ts';
import { findHours, type HoursGiven, hoursFor, hoursOfSingle } from '../messaging/hours.ts';
import {
  addRecipientsWrite,
  isCancelled,
  type JobHours,
  jobCancelled,
  noteFirstDue,
  openJob,
  ownJobWrite,
  readJob,
} from '../messaging/jobs/job.ts';
import { acceptMessages, asSent, type Draft, mediaIn, withOwnMedia } from '../messaging/send.ts';
import { lifetimeFrom } from '../outbox/message.ts';
import { putAll, putIfAbsent } from '../table/client.ts';
import { acceptOnce, notAccepted, type RecordWrites, type Repeatable } from '../table/idempotency.ts';
import { dueAt, type Key } from '../table/keys.ts';
import { deleteWrite, putIfAbsentWrite, transact, type Write } from '../table/transactions.ts';
import { describeError, log } from '../telemetry/log.ts';
import { traceId } from '../telemetry/trace.ts';
import { type BatchContent, type BatchItem, type Chunk, type Priority, priorities } from './batch.ts';
import { type ChunkBody, chunksOfBatch, type Recipient } from './chunks.ts';
import { batchKey, chunkKey, ofPendingBatch, uploadKey } from './entities.ts';
import { messageIdAt, newBatchId } from './ids.ts';
import { firstEndOf, firstEndWrites } from './stored-batch.ts';

/** What both endpoints have in common. */
export interface BatchOptions {
  job_id?: string | undefined;
  /** The business's own name for the job. */
  job_reference?: string | undefined;
  priority?: Priority | undefined;
  /** When the messages are sent, in milliseconds since 1970. Default: now. */
  send_at?: number | undefined;
  idempotencyKey?: string | undefined;
  /** Throws if the caller has confirmed another request than this one. */
  confirm?: (() => void) | undefined;
}

/** What all messages of a request have that has one content for all, besides these options. */
type SharedOptions = BatchOptions & HoursGiven & { valid_for?: number | undefined };

/** A message, for how many seconds it is of use, and its sending hours. */
type TimedDraft = Draft & HoursGiven & { valid_for?: number | undefined };

/** The same, with the hours that follow from the request and the account's default. */
type HourlyDraft = Draft & Pick<TimedDraft, 'valid_for'> & Pick<BatchContent, 'hours'>;

/** Milliseconds after which `sweep` removes an upload that no batch names, and wakes an expansion whose wake-up was lost. */
const OVERDUE_MS = { upload: 3_600_000, expansion: 60_000 };
/** The condition that `sweep` has not begun to remove an upload. */
const IS_PRESENT = { ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(abandoned)' };
/** How far ahead a message may be scheduled, in milliseconds. */
const AHEAD_MS = { min: 60_000, max: DAYS_AHEAD * 86_400_000 };
/**
 * Most messages and bytes of a request whose messages are accepted at once; and how many such requests of an account are, a
 * second and in a row. That is the pace of batches: 500 messages a second.
 */
const FEW = { messages: 25, bytes: 1_000_000, rate: 20, burst: 40 };
/** Media that are looked up at a time. */
const LOOKUPS = 10;

/**
 * Accepts one content to many users: each will be delivered, or logged as failed. Duplicate numbers count once. About
 * 5 write units for 250 numbers, and some 10 more; 2 read units. For a few users (`areFew`), 6 write units for each and at
 * most 6 more, and 2 read units. With an idempotency key, as much more as `acceptOnce` says.
 *
 * @returns the job, and the number of messages
 * @throws invalid_request — an image or file that is not the account's own, or has expired; or hours as `findHours` says
 * @throws idempotency_key_reused — the key belongs to another request
 * @throws job_cancelled — the job was cancelled
 */
export const sendToMany = async (
  account: string,
  { to, ...draft }: { to: string[] } & BatchContent,
  options: SharedOptions,
): Promise<{ job_id: string; messages: number }> => {
  const numbers = [...new Set(to)];
  const repeatable = ofBatch(account, 'sendMessage', { to, ...draft }, options);
  const { job_id } = await acceptOnce<Accepted>(repeatable, async (recordWrites) => {
    options.confirm?.();
    const sender = await findAccount(account);
    const recipients = to.map((phone, index) => ({ phone, pointer: `#/to/${index}` }));
    const hours = hoursFor(sender, options, { at: '#', to: recipients });
    const content = await sharedContent(account, { to: '', ...draft }, { ...options, hours });
    const messages = numbers.map((number) => ({ to: number }));
    return acceptBatch(account, { ...options, sender, messages, content, recordWrites });
  });
  return { job_id, messages: numbers.length };
};

/**
 * Accepts messages to one user each, all or none. Messages to one user keep their order. About 1 write unit for 1 KB of
 * numbers and contents, and some 10 more, or for a few messages, as `sendToMany`; 1 read unit, and 1 for each image or file, and
 * with an idempotency key, as much more as `acceptOnce` says.
 *
 * @returns the job, and the ids of the messages in the order of the request
 * @throws invalid_request — images or files that are not the account's own, or have expired; or hours as `findHours` says
 * @throws idempotency_key_reused — the key belongs to another request
 * @throws job_cancelled — the job was cancelled
 */
export const sendEach = async (
  account: string,
  drafts: TimedDraft[],
  options: BatchOptions,
): Promise<{ job_id: string; messages: { to: string; id: string }[] }> => {
  const repeatable = ofBatch(account, 'sendMessages', drafts, options);
  const { job_id, batch } = await acceptOnce<Accepted>(repeatable, async (recordWrites) => {
    options.confirm?.();
    checkAhead(options.send_at, '#/0/send_at');
    const sender = await findAccount(account);
    const messages = await allWithOwnMedia(account, withHours(sender, drafts), options);
    return acceptBatch(account, {
      ...{ ...options, sender },
      messages: messages.map(({ to, ...content }) => ({ to, content })),
      recordWrites,
    });
  });
  return { job_id, messages: drafts.map(({ to }, position) => ({ to, id: messageIdAt(batch, position) })) };
};

/**
 * Accepts a message to one user for a later time. It costs as much as `sendToMany`.
 *
 * @returns the message's id
 * @throws as `sendToMany`
 */
export const scheduleMessage = async (account: string, draft: Draft, options: SharedOptions): Promise<string> => {
  const repeatable = ofBatch(account, 'sendMessage', draft, options);
  const { batch } = await acceptOnce<Accepted>(repeatable, async (recordWrites) => {
    options.confirm?.();
    const sender = await findAccount(account);
    // The user may have written, but not when the message is sent.
    const hours = hoursFor(sender, options, { at: '#', to: [{ phone: draft.to, pointer: '#/to' }] });
    const content = await sharedContent(account, draft, { ...options, hours });
    return acceptBatch(account, { ...options, sender, messages: [{ to: draft.to }], content, recordWrites });
  });
  return messageIdAt(batch, 0);
};

/** A request as repeats of it are recognised. */
const ofBatch = (
  account: string,
  endpoint: 'sendMessage' | 'sendMessages',
  content: unknown,
  { idempotencyKey, ...options }: SharedOptions,
): Repeatable => {
  const { job_id, job_reference, send_at, valid_for, between, time_zone, urgent } = options;
  const hours = { between, time_zone, urgent };
  const request = { content, job_id, job_reference, priority: priorityOf(options), send_at, valid_for, ...hours };
  return { account, endpoint, idempotencyKey, request, what: 'message' };
};

/** The content that all messages of a request have, if it may be sent at its time. */
const sharedContent = async (
  account: string,
  draft: Draft,
  { hours, ...options }: SharedOptions & { hours: SendingHours | undefined },
): Promise<BatchContent> => {
  checkAhead(options.send_at, '#/send_at');
  const end = endOf(options.valid_for, options);
  const { to: _to, ...own } = await withOwnMedia(account, draft, `#/${draft.type}/url`, end ?? options.send_at);
  return { ...withEnd(own, end), ...(hours && { hours }) };
};

/** Messages with the sending hours of each, in place of what the request says of them. */
const withHours = (sender: Account | undefined, drafts: TimedDraft[]): HourlyDraft[] => {
  const known = new Map<string, boolean>();
  const errors: ValidationError[] = [];
  const found = drafts.map(({ between, time_zone, urgent, ...draft }, index): HourlyDraft => {
    const of = { at: `#/${index}`, to: [{ phone: draft.to, pointer: `#/${index}/to` }] };
    const { hours, errors: own } = findHours(sender, { between, time_zone, urgent }, of, known);
    errors.push(...own);
    return { ...draft, ...(hours && { hours }) };
  });
  if (errors.length > 0) throw invalidRequest(errors);
  return found;
};

/** A request to users, as it was given: the same content for all, or one for each. */
export interface GivenMessages extends BatchOptions, HoursGiven {
  /** In the order of the request. Contents may have what the request says of their hours. */
  messages: Recipient[];
  content?: BatchContent;
  /** Set if `to` is a single number, and not a list. */
  isForOne?: boolean;
  valid_for?: number | undefined;
}

/**
 * Checks the contents of a request, its time and its hours, without sending anything. 1 read unit, and 1 for each image or
 * file; 1 more for the hours of a message to one user.
 *
 * @returns the sending hours of each message
 * @throws invalid_request — as for a request that sends them
 */
export const checkMessages = async (
  account: string,
  { messages, content, isForOne, ...options }: GivenMessages,
): Promise<(SendingHours | undefined)[]> => {
  const sender = await findAccount(account);
  if (content === undefined) {
    checkAhead(options.send_at, '#/0/send_at');
    const drafts = messages.flatMap(({ to, content: own }) => (own === undefined ? [] : [{ to, ...own }]));
    const timed = withHours(sender, drafts);
    await allWithOwnMedia(account, timed, options);
    return timed.map(({ hours }) => hours);
  }
  const to = messages.map(({ to: phone }, index) => ({ phone, pointer: isForOne ? '#/to' : `#/to/${index}` }));
  const [first] = to;
  const hours =
    isForOne && first !== undefined && options.send_at === undefined
      ? await hoursOfSingle(account, sender, options, first)
      : hoursFor(sender, options, { at: '#', to });
  await sharedContent(account, { to: '', ...content }, { ...options, hours });
  return messages.map(() => hours);
};

/** When a message ends that is valid for so many seconds, in milliseconds since 1970: from its sending on. */
const endOf = (valid_for: number | undefined, { send_at = now() }: BatchOptions): number | undefined =>
  valid_for === undefined ? undefined : send_at + scaled(valid_for * 1_000);

const withEnd = <Sent extends object>(content: Sent, end: number | undefined): Sent & { valid_until?: string } =>
  end === undefined ? content : { ...content, valid_until: sortableTime(end) };

/**
 * The drafts as they are sent: with documents that were given as images as files, and with the times of their ends. Each
 * URL is looked up once for each end.
 */
const allWithOwnMedia = async (
  account: string,
  drafts: HourlyDraft[],
  options: BatchOptions,
): Promise<(Draft & BatchContent)[]> => {
  const found = new Map<string, OwnMedia>();
  const nameOf = ({ type, url, valid_for }: TimedMedia): string => `${type} ${valid_for} ${url}`;
  const named = new Map(drafts.flatMap((draft) => timedMediaIn(draft) ?? []).map((media) => [nameOf(media), media]));
  await inParallel([...named], LOOKUPS, async ([name, { type, url, valid_for }]) => {
    found.set(name, await checkOwnMedia(account, type, url, endOf(valid_for, options) ?? options.send_at));
  });
  const errors: ValidationError[] = [];
  const own = drafts.map(({ valid_for, ...draft }, index) => {
    const given = timedMediaIn({ ...draft, valid_for });
    const media = given && found.get(nameOf(given));
    if (media !== undefined && 'error' in media)
      errors.push({ pointer: `#/${index}/${draft.type}/url`, detail: media.error });
    const sent = media !== undefined && 'sendAs' in media ? asSent(draft, media) : draft;
    return withEnd(sent, endOf(valid_for, options));
  });
  if (errors.length > 0) throw invalidRequest(errors);
  return own;
};

interface TimedMedia {
  type: MediaType;
  url: string;
  valid_for: number | undefined;
}

const timedMediaIn = (draft: Draft & Pick<TimedDraft, 'valid_for'>): TimedMedia | undefined => {
  const media = mediaIn(draft);
  return media && { ...media, valid_for: draft.valid_for };
};

/** Messages of a request. */
export interface NewMessages {
  /** In the order of the request. */
  messages: Recipient[];
  /** The content of all, if the messages have none of their own. */
  content?: BatchContent;
}

interface NewBatch extends NewMessages, BatchOptions {
  sender: Account | undefined;
  /** The writes that record the idempotency key. */
  recordWrites: RecordWrites<Accepted>;
}

/** What was accepted: the job, and the id of the batch. */
interface Accepted {
  job_id: string;
  batch: string;
}

/**
 * Accepts messages: as a batch, or at once if they are few. Of a request to a few users, a later message to one of them must
 * not arrive before it.
 */
const acceptBatch = async (account: string, draft: NewBatch): Promise<Accepted> => {
  const { messages, content, job_id, job_reference: reference, send_at, recordWrites } = draft;
  const id = newBatchId();
  const shared = sharedHours(draft);
  const hours = shared?.time_zone === RECIPIENT ? undefined : shared;
  const asked = send_at ?? now();
  const begin = hours === undefined ? asked : nextOpening(hours, '', asked);
  const job = job_id ?? idOf(account, 'job', id);
  const known = job_id === undefined ? undefined : await openJob(account, job_id, { start: begin, reference });
  if (isCancelled(known)) throw jobCancelled();
  const jobHours = shared && hoursOfJob(shared, messages);
  const jobWrite = (first_due?: string): Write =>
    known === undefined
      ? ownJobWrite(account, job, messages.length, {
          start: begin,
          reference,
          hours: jobHours,
          ...(first_due !== undefined && { first_due }),
        })
      : addRecipientsWrite(account, job, messages.length, jobHours);
  if (areFew(draft) && (await hasTurn(account))) {
    return acceptFew(account, draft, { job_id: job, batch: id }, jobWrite());
  }
  if (known !== undefined) await noteFirstDue(account, known, begin);
  const chunks = chunksOfBatch(messages);
  const batch = batchItem(account, draft, { id, job, begin, hours, chunks });
  const accepted = { job_id: job, batch: id };
  await writeChunks(batch, chunks);
  const failed = await transact([
    putIfAbsentWrite(batch),
    deleteWrite(uploadKey(batch.upload), IS_PRESENT),
    jobWrite(timestampOf(begin)),
    ...firstEndWrites(batch, firstEndOf([content, ...messages.map((message) => message.content)])),
    ...recordWrites(accepted, batch.expires_at),
  ]);
  if (failed.includes(2)) throw jobCancelled();
  if (failed.length > 0) throw notAccepted();
  log('info', 'batch accepted', { account, batch_id: id, job_id: job, messages: messages.length });
  return accepted;
};

/** The sending hours of all messages, if they have the same ones. */
const sharedHours = ({ messages, content }: NewBatch): SendingHours | undefined => {
  const [first, ...others] = content === undefined ? messages.map((message) => message.content) : [content];
  const hours = first?.hours;
  if (hours === undefined) return undefined;
  const isSame = (other: BatchContent | undefined): boolean => isDeepStrictEqual(other?.hours, hours);
  return others.every(isSame) ? hours : undefined;
};

/** Most prefixes of numbers that a job keeps, so that it stays below 1 KB. */
const MAX_PREFIXES = 20;

/** The hours as the job keeps them, so that reading it needs no look at its recipients. */
const hoursOfJob = (hours: SendingHours, messages: Recipient[]): JobHours =>
  hours.time_zone === RECIPIENT
    ? { ...hours, prefixes: [...new Set(messages.map(({ to }) => prefixOf(to)))].slice(0, MAX_PREFIXES) }
    : hours;

/** Whether messages are accepted at once: so few that one transaction contains them, which has 100 writes and 4 MB at most. */
export const areFew = ({ messages, content, send_at, ...options }: NewMessages & BatchOptions): boolean => {
  if (send_at !== undefined || priorityOf(options) === 'low' || messages.length > FEW.messages) return false;
  const bytes = messages.map((message) => Buffer.byteLength(JSON.stringify(message.content ?? content)));
  return bytes.reduce((sum, size) => sum + size, 0) <= FEW.bytes;
};

/**
 * Whether an account may send one more request to few users: such messages do not wait for the pace of batches, so their
 * number is limited. 1 or 2 write units.
 */
const hasTurn = async (account: string): Promise<boolean> => {
  const bucket = { wanted: 1, emptyAt: undefined, clock: now };
  try {
    return (await takeTokens(bucketTable, `${account}#few`, FEW, bucket)).tokens > 0;
  } catch (error) {
    // A limit must not fail a request: the order of messages is the stronger promise.
    log('error', 'turn not taken', { account, ...describeError(error) });
    return true;
  }
};

/** Accepts a few messages at once, in one transaction: 6 write units for each user, and 4 for a further message to one. */
const acceptFew = async (
  account: string,
  { messages, content, sender, recordWrites }: NewBatch,
  accepted: Accepted,
  jobWrite: Write,
): Promise<Accepted> => {
  const { job_id, batch } = accepted;
  const isAccepted = await acceptMessages({
    ...{ account, job_id, sender },
    messages: messages.flatMap(({ to, content: own = content }, position) => {
      if (own === undefined) return [];
      const { valid_until, hours, ...sent } = own;
      return [{ id: messageIdAt(batch, position), draft: { to, ...sent }, valid_until, hours }];
    }),
    more: [jobWrite, ...recordWrites(accepted, lifetimeFrom(timestamp()).expires_at)],
  });
  if (isAccepted) return accepted;
  throw isCancelled(await readJob(account, job_id)) ? jobCancelled() : notAccepted();
};

export const priorityOf = ({ priority = 'medium' }: BatchOptions): Priority => priority;

interface BatchParts {
  id: string;
  job: string;
  /** When the first message is sent, in milliseconds since 1970. */
  begin: number;
  /** Within which it is expanded. */
  hours: SendingHours | undefined;
  chunks: ChunkBody[];
}

/** The item of a new batch. It is due when its messages are to be sent. */
const batchItem = (account: string, draft: NewBatch, { id, job, begin, hours, chunks }: BatchParts): BatchItem => {
  const { messages, content } = draft;
  const priority = priorityOf(draft);
  const due = sortableTime(begin);
  const key = batchKey(account, id);
  return {
    ...key,
    id,
    account,
    job_id: job,
    priority,
    ...(content !== undefined && { content }),
    ...(hours !== undefined && { hours }),
    recipients: messages.length,
    upload: newUnguessableId(),
    chunks: chunks.map(({ position }) => position),
    created: timestamp(),
    due,
    trace_id: traceId(),
    expires_at: Math.floor(begin / 1_000) + messageRetention() * 86_400,
    // The stream wakes the expansion of a batch that is due at once.
    ...dueAt('expansions', {
      account,
      id: key.pk,
      time: sortableTime(begin > now() ? begin : begin + scaled(OVERDUE_MS.expansion)),
    }),
    ...ofPendingBatch(account, { id, rank: priorities.indexOf(priority), due }),
  };
};

/** @throws invalid_request — the time is not as far ahead as `AHEAD_MS` */
const checkAhead = (send_at: number | undefined, pointer: string): void => {
  if (send_at === undefined) return;
  const ahead = send_at - now();
  if (ahead >= scaled(AHEAD_MS.min) && ahead <= AHEAD_MS.max) return;
  throw invalidRequest([{ pointer, detail: `must be one minute to ${inDays(DAYS_AHEAD)} ahead` }]);
};

/** Writes the chunks of an upload. They are removed after an hour, unless a batch names the upload. */
const writeChunks = async (
  { upload, account, created, expires_at }: Pick<BatchItem, 'upload' | 'account' | 'created' | 'expires_at'>,
  chunks: ChunkBody[],
): Promise<void> => {
  const key = uploadKey(upload);
  const time = sortableTime(now() + scaled(OVERDUE_MS.upload));
  await putIfAbsent<Key>({ ...key, ...dueAt('uploads', { account, id: upload, time }) });
  await putAll<Chunk>(
    chunks.map((chunk) => ({ ...chunkKey(upload, chunk.position), account, created, ...chunk, expires_at })),
  );
};
