import { crc32 } from 'node:zlib';
import type { SQSRecord } from 'aws-lambda';
import * as v from 'valibot';
import { now, scaled } from '../../core/clock.ts';
import { queueUrl } from '../../core/settings.ts';
import { describeError, log } from '../../telemetry/log.ts';
import { traceId } from '../../telemetry/trace.ts';
import { listOf } from '../../validation/bounded.ts';
import {
  type AnyConversation,
  conversationName,
  endpointOf,
  hasReports,
  type NamedConversation,
  named,
} from '../entities.ts';
import { type Direction, directions } from '../event.ts';
import { returnIn, sendAll, waitingIn } from './queue.ts';

/** Messages that may have ended before their delivery. */
export interface Ends {
  /** Sort keys of entries whose time is over, at most `MOST_ENDED`. */
  ended?: string[] | undefined;
  /** Whether a job was cancelled that has pending messages. */
  cancelled?: boolean | undefined;
}

/** Most entries that a wake-up names: it is small, and its worker ends them within its time. */
export const MOST_ENDED = 100;

export interface WakeUp extends Ends {
  conversation: AnyConversation;
  /** The deduplication id: for five minutes, the queue drops other wake-ups with the same one. */
  once: string;
  /** Its trace. Default: the current one. */
  trace_id?: string | undefined;
}

/** Groups of an account, by direction. The app network accepts more parallel requests than a customer's server. */
export const GROUP_COUNT: Record<Direction, number> = { app: 256, platform: 16, consent: 16 };

/**
 * Sends wake-ups to the queue, without the users' numbers: dead letters stay there for two weeks, whatever is erased. The
 * order of wake-ups does not matter: each one stands for all pending entries of its conversation.
 *
 * @param abortSignal - ends the calls
 * @throws Error — some could not be sent; all can be sent again without harm
 */
export const wake = (wakeUps: WakeUp[], abortSignal?: AbortSignal): Promise<void> =>
  sendAll(
    queueUrl(),
    wakeUps.map(({ conversation, once, trace_id = traceId(), ended, cancelled }) => ({
      body: JSON.stringify({ ...named(conversation), trace_id, ended, cancelled }),
      group: groupOf(conversation),
      once,
    })),
    abortSignal,
  );

/** The group of a conversation: all its wake-ups belong to the same one. */
const groupOf = (conversation: AnyConversation): string => {
  const { direction, account } = conversation;
  // Each endpoint has groups of its own: a slow one delays no other. So have reports that wait: users' messages do not.
  const own = endpointOf(conversation) ?? (hasReports(named(conversation)) ? 'reports' : undefined);
  const index = groupIndexOf(conversation);
  return `${direction}#${account}#${own === undefined ? index : `${own}.${index}`}`;
};

/** The number of a conversation's group, among those of its account and direction. */
export const groupIndexOf = (conversation: AnyConversation): number =>
  crc32(conversationName(conversation)) % GROUP_COUNT[conversation.direction];

const wakeUp = v.object({
  direction: v.picklist(directions),
  account: v.string(),
  user: v.string(),
  trace_id: v.optional(v.string()),
  ended: v.optional(listOf(v.string(), { max: MOST_ENDED, of: 'entries' })),
  cancelled: v.optional(v.boolean()),
});

/** Parses the body of a wake-up: its conversation, its trace, and what may have ended. */
export const readWakeUp = (body: string): Omit<WakeUp, 'once'> & { conversation: NamedConversation } => {
  const { trace_id, ended, cancelled, ...conversation } = v.parse(wakeUp, JSON.parse(body));
  return { conversation, trace_id, ended, cancelled };
};

/** The approximate number of wake-ups that wait for a worker. */
export const queuedDeliveries = (): Promise<number> => waitingIn(queueUrl());

/**
 * Limits for wake-ups that stay on the queue during a pause. Receives: after the fifth one, a wake-up becomes a dead
 * letter. Age at the end of the pause: the alarm on the queue's age is raised after five minutes. Towards the app
 * network, the group is needed sooner: messages that were cancelled, or have expired, end within two minutes.
 */
const LEFT = { receives: 3, ageMs: { app: 45_000, platform: 180_000, consent: 180_000 } };

/**
 * Keeps a wake-up on the queue until its destination's pause is over (`until`, in milliseconds since 1970). It returns
 * within a second after the pause; `sweep` might take a minute. In the meantime its group waits, which has the same
 * destination. If the wake-up was received too often, is too old, or cannot be returned, `sweep` wakes the
 * conversation.
 *
 * @returns whether the wake-up must stay on the queue
 */
export const returnAfterPause = async (
  { receiptHandle, attributes }: Pick<SQSRecord, 'receiptHandle' | 'attributes'>,
  until: number,
  direction: Direction,
): Promise<boolean> => {
  const age = until - Number(attributes.SentTimestamp);
  if (Number(attributes.ApproximateReceiveCount) > LEFT.receives || age > scaled(LEFT.ageMs[direction])) return false;
  const seconds = Math.floor(Math.max(until - now(), 0) / scaled(1_000)) + 1;
  try {
    await returnIn(queueUrl(), receiptHandle, seconds);
    return true;
  } catch (error) {
    log('warn', 'wake-up not rescheduled', describeError(error));
    return false;
  }
};
