/** The log entries of one message: the states that it has reached. */
import { validate as isUuid } from 'uuid';
import { positionOf } from '../campaigns/ids.ts';
import { findScheduled } from '../campaigns/stored-batch.ts';
import { now, timestampOf } from '../core/clock.ts';
import { Problem } from '../core/problems.ts';
import { nextOpening, type SendingHours } from '../core/sending-hours.ts';
import { contactOf } from '../messaging/jids.ts';
import { messageKey } from '../outbox/entities.ts';
import type { LogItem, ReasonCode, State } from '../outbox/message.ts';
import { hasExpired, pages } from '../table/client.ts';

/** A message as its business reads it: without its content, which is stored only while the message is pending. */
export interface MessageStatus {
  id: string;
  contact: string;
  job_id: string;
  payload_type: string;
  /** The business's own name for the message. */
  reference?: string;
  /** In the order of time; `scheduled` alone, if its batch is pending. `reason` is set for failures. */
  states: { state: State | 'scheduled'; created: string; reason?: ReasonCode }[];
  /** When it can be sent first, if it waits for its sending hours. */
  waits_until?: string;
}

/**
 * A message of an account, to a user or from one, with the states that it has reached so far. 1 read unit; a message of a
 * pending batch costs 1 more, and 1 for 4 KB of its chunk.
 *
 * @throws message_not_found — unknown, expired, or another account's
 */
export const readMessage = async (account: string, id: string): Promise<MessageStatus> => {
  let entries = isUuid(id) ? await logOfMessage(id) : [];
  if (entries.length === 0 && positionOf(id) !== undefined) {
    const scheduled = await findScheduled(account, id);
    if (scheduled !== undefined) {
      const { phone, created, due, hours, ...message } = scheduled;
      return {
        ...{ id, contact: contactOf(phone), ...presented(message), states: [{ state: 'scheduled', created }] },
        ...waitFor(hours, phone, Math.max(Date.parse(due), now())),
      };
    }
    // Its batch may have been expanded in the meantime.
    entries = await logOfMessage(id);
  }
  const [first] = entries;
  if (first?.account !== account) {
    throw new Problem('message_not_found', 'None of your messages has this id. GET /v1/stats/logs lists them.');
  }
  const { phone, hours } = first;
  return {
    id,
    contact: contactOf(first.phone),
    ...presented(first),
    states: entries.map(({ state, created, reason_code }) => ({
      state,
      created,
      ...(reason_code !== undefined && { reason: reason_code }),
    })),
    ...(entries.length === 1 && waitFor(hours, phone, now())),
  };
};

/** When a message can be sent first that begins at `from` (milliseconds since 1970), if it has sending hours and waits. */
const waitFor = (hours: SendingHours | undefined, phone: string, from: number): Pick<MessageStatus, 'waits_until'> => {
  const opening = hours === undefined ? 0 : nextOpening(hours, phone, from);
  return opening > now() ? { waits_until: timestampOf(opening) } : {};
};

/** All log entries of a message in the order of time; empty if there is no such message. 1 read unit. */
export const logOfMessage = async (id: string): Promise<LogItem[]> => {
  const found: LogItem[] = [];
  for await (const items of pages<LogItem>({
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': messageKey(id).pk },
    ConsistentRead: true,
  })) {
    found.push(...items.filter((item) => !hasExpired(item)));
  }
  return found.sort((a, b) => (a.created < b.created ? -1 : 1));
};

/** What the business knows of its message. */
const presented = ({
  job_id,
  payload_type,
  reference,
}: {
  job_id: string;
  payload_type: string;
  reference?: string | undefined;
}) => ({ job_id, payload_type, ...(reference !== undefined && { reference }) });
