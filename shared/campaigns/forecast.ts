/**
 * Forecasts: what a request to users would do, before it is sent. A plan is what the caller then confirms: it contains its
 * time and a keyed hash of the request, so nothing is stored, and a request with the plan fails if it is another one.
 */
import { chargeAllowance } from '../accounts/allowances.ts';
import { now, sortableTime, timestampOf } from '../core/clock.ts';
import { keyedHash } from '../core/keyed-hashes.ts';
import { Problem } from '../core/problems.ts';
import { nextOpening, type SendingHours, zonesOf } from '../core/sending-hours.ts';
import { campaignRate } from '../core/settings.ts';
import { checkJob } from '../messaging/jobs/job.ts';
import { optedOutAmong } from '../messaging/opt-outs/opt-outs.ts';
import { getManyEventual, page } from '../table/client.ts';
import type { Key } from '../table/keys.ts';
import { registeredAmong } from '../users/contacts.ts';
import { contactHash } from '../users/entities.ts';
import { areFew, checkMessages, type GivenMessages, priorityOf } from './accept.ts';
import { type BatchContent, type BatchItem, type Progress, priorities } from './batch.ts';
import { batchKey, batchOf, pendingBatchesOf, pendingBatchRange, progressKey } from './entities.ts';
import { kilobytesOf } from './pace.ts';

/** A request to users, as it was given. */
export interface PlannedRequest extends GivenMessages {
  account: string;
  endpoint: 'sendMessage' | 'sendMessages';
}

/** What a request would do. Each message is counted in one of the first four sums. */
export interface Forecast {
  dry_run: true;
  /** The messages of the request, which are as many as the following four together. */
  messages: number;
  /** To registered users who have not stopped the account. */
  valid: number;
  /** Numbers that the list contains again, and that count once. */
  duplicates: number;
  /** To numbers of no user: they are accepted, and the app network may refuse them. */
  not_registered: number;
  /** To users who have stopped the account: they are logged as failed. */
  stopped: number;
  /** The valid ones that wait for their sending hours, and until when the last of these waits. */
  outside_hours: number;
  outside_hours_until?: string;
  /** When the last message leaves, at the account's pace and within its sending hours. */
  estimated_end: string;
  plan: string;
}

/** Milliseconds for which a plan is valid. */
const PLAN_MS = 3_600_000;
/** Milliseconds by which clocks of instances may differ. */
const SKEW_MS = 60_000;
/** Most pending batches whose messages are counted. */
const MAX_BATCHES = 100;

/**
 * Forecasts a request: checks it as if it were sent, and accepts nothing. 1 read unit for each number, 1 for a job and for each
 * image or file, at most 2 for each of 100 pending batches and 4 KB of them; 1 write unit for the allowance, which each
 * number is charged to.
 *
 * @throws allowance_exceeded — the account has asked for too many numbers today
 * @throws invalid_request, job_cancelled — as if the request were sent
 */
export const forecast = async (request: PlannedRequest): Promise<Forecast> => {
  const { account, messages: given, send_at, job_id, job_reference } = request;
  const hours = await checkMessages(account, request);
  const messages = withoutDuplicates(request, hours);
  if (job_id !== undefined) await checkJob(account, job_id, job_reference);
  const numbers = [...new Set(messages.map(({ to }) => to))];
  await chargeAllowance(account, 'contacts', numbers.length);
  const hashes = new Map(numbers.map((number) => [number, contactHash(number)]));
  const [stopped, registered] = await Promise.all([
    optedOutAmong(account, numbers),
    registeredAmong(new Set(hashes.values())),
  ]);
  const isKnown = (number: string): boolean => registered.has(hashes.get(number) ?? '');
  const valid = messages.filter(({ to }) => !stopped.has(to) && isKnown(to));
  const begin = send_at ?? now();
  const wait = areFew({ ...request, messages }) ? 0 : (await kilobytesAhead(request, begin)) / campaignRate();
  const waits = valid.map(openings(begin)).filter((opening) => opening > begin);
  const lasts = messages.map(openings(begin + wait * 1_000));
  return {
    dry_run: true,
    messages: given.length,
    valid: valid.length,
    duplicates: given.length - messages.length,
    not_registered: messages.filter(({ to }) => !stopped.has(to) && !isKnown(to)).length,
    stopped: messages.filter(({ to }) => stopped.has(to)).length,
    outside_hours: waits.length,
    ...(waits.length > 0 && { outside_hours_until: timestampOf(latestOf(waits)) }),
    estimated_end: timestampOf(latestOf(lasts)),
    plan: planOf(request, now()),
  };
};

/** A message, with its sending hours. */
interface Planned {
  to: string;
  content?: BatchContent;
  hours: SendingHours | undefined;
}

/** One content to many numbers is sent once to each. Messages of a list each have their own. */
const withoutDuplicates = ({ endpoint, messages }: PlannedRequest, hours: (SendingHours | undefined)[]): Planned[] => {
  const planned = messages.map((message, index) => ({ ...message, hours: hours[index] }));
  return endpoint === 'sendMessage' ? [...new Map(planned.map((message) => [message.to, message])).values()] : planned;
};

/**
 * When messages may be sent from a time on, in milliseconds since 1970. Users of the same zones have the same hours: there are
 * fewer of them than messages.
 */
const openings = (at: number): ((message: Planned) => number) => {
  const known = new Map<string, number>();
  return ({ to, hours }) => {
    if (hours === undefined) return at;
    const name = JSON.stringify([hours, zonesOf(to)]);
    const opening = known.get(name) ?? nextOpening(hours, to, at);
    known.set(name, opening);
    return opening;
  };
};

const latestOf = (times: number[]): number => times.reduce((latest, time) => Math.max(latest, time), 0);

/**
 * The kilobytes that are expanded until the last message of a request is: its own, and those of the account's pending batches
 * that go first. The pace is in kilobytes.
 */
const kilobytesAhead = async (request: PlannedRequest, begin: number): Promise<number> => {
  const { account, messages, content } = request;
  const own = messages.reduce((sum, message) => sum + kilobytesOf(message.content ?? content ?? {}), 0);
  const time = sortableTime(begin);
  const ranks = priorities.slice(0, priorities.indexOf(priorityOf(request)) + 1).map((_, rank) => rank);
  const keys: Key[] = [];
  for (const rank of ranks) {
    const { from, to } = pendingBatchRange(rank, time);
    const { items } = await page<Key>({
      IndexName: 'gsi3',
      KeyConditionExpression: 'gsi3pk = :account AND gsi3sk BETWEEN :from AND :to',
      ExpressionAttributeValues: { ':account': pendingBatchesOf(account), ':from': from, ':to': to },
      ProjectionExpression: 'pk, sk',
      Limit: MAX_BATCHES - keys.length,
    });
    keys.push(...items);
    if (keys.length >= MAX_BATCHES) break;
  }
  const ids = keys.map((key) => batchOf(key).batch);
  const [batches, progress] = await Promise.all([
    getManyEventual<BatchItem[]>(ids.map((id) => batchKey(account, id))),
    getManyEventual<Progress[]>(ids.map((id) => progressKey(account, id))),
  ]);
  const ahead = batches.map((batch, index) => {
    if (batch === undefined || batch.expanded !== undefined) return 0;
    return (batch.recipients - (progress[index]?.done ?? 0)) * kilobytesOf(batch.content ?? {});
  });
  return ahead.reduce((sum, kilobytes) => sum + kilobytes, own);
};

/** The plan of a request: its time in milliseconds since 1970, and a keyed hash of both. The order of numbers does not matter. */
const planOf = (request: PlannedRequest, time: number): string => {
  const { account, endpoint, messages, content, job_id, job_reference, send_at, valid_for } = request;
  const { between, time_zone, urgent } = request;
  const sorted = messages.toSorted((a, b) => (a.to < b.to ? -1 : Number(a.to > b.to)));
  const what = JSON.stringify([
    ...[content, job_id, job_reference, priorityOf(request), send_at, valid_for, between, time_zone, urgent],
    sorted.map((message) => [message.to, message.content]),
  ]);
  return `${time}.${keyedHash('plan', account, endpoint, String(time), what)}`;
};

/**
 * Checks a request by the plan that it names, if it names one.
 *
 * @returns a function that checks the plan's age, and throws plan_differs, too. A repeat with an idempotency key may be older.
 * @throws Problem — plan_differs, the request is not that of the plan
 */
export const confirmation = (request: PlannedRequest, plan: string | undefined): (() => void) => {
  if (plan === undefined) return () => undefined;
  const time = Number(plan.split('.', 1)[0]);
  if (planOf(request, time) !== plan) throw planDiffers();
  return () => {
    const age = now() - time;
    if (age < -SKEW_MS || age > PLAN_MS) throw planDiffers();
  };
};

const planDiffers = () =>
  new Problem(
    'plan_differs',
    'The recipients, the content or the options are not those of the plan, or it is older than an hour. Nothing was sent. Get a new plan with dry_run.',
  );
