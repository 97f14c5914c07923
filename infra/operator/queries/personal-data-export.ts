/** Exports all data about a user, for a data subject's request. */

import { accountOfAttempt, deliveriesAbout } from '../../../shared/delivery/entities.ts';
import type { AttemptItem } from '../../../shared/delivery/history/attempt-item.ts';
import { type Delivery, toDelivery } from '../../../shared/delivery/history/deliveries.ts';
import { eventOf } from '../../../shared/delivery/history/replay.ts';
import { accountOfOptOut, isOptOutKey } from '../../../shared/messaging/entities.ts';
import type { OptOutItem } from '../../../shared/messaging/opt-outs/opt-outs.ts';
import { conversationName, entryKey, logsOfContact, messageIdOf } from '../../../shared/outbox/entities.ts';
import {
  conversationsOf,
  type Direction,
  type Entry,
  type OptOutState,
  type OutboxEvent,
} from '../../../shared/outbox/event.ts';
import type { LogItem } from '../../../shared/outbox/message.ts';
import { answeredProfilerOf, isAnswerKey } from '../../../shared/profilers/entities.ts';
import { getConsistent, pages } from '../../../shared/table/client.ts';
import type { ExportPart } from '../../../shared/table/entity.ts';
import { dataOfPerson, type Key } from '../../../shared/table/keys.ts';
import { type ConsentReceipt, listConsentReceipts } from '../../../shared/user-data/consent-receipts.ts';
import type { ConsentItem } from '../../../shared/user-data/consents.ts';
import { isConsentKey, isRequestKey, requestIdOf } from '../../../shared/user-data/entities.ts';
import { presentResults, type RequestItem } from '../../../shared/user-data/stored-request.ts';
import { type WholeUser, wholeUser } from './users-admin.ts';

type Request = Pick<
  RequestItem,
  'account' | 'business' | 'reference' | 'reason' | 'properties' | 'results' | 'created' | 'completed'
>;

type LogEntry = Pick<
  LogItem,
  'account' | 'state' | 'created' | 'job_id' | 'payload_type' | 'reference' | 'reason_code' | 'reason'
>;

export interface PersonalData extends Record<ExportPart, unknown> {
  phone_number: string;
  /** The user's profile; null if the user is not registered. */
  profile: WholeUser | null;
  /** Answers to profilers. */
  answers: { profiler_id: string; option_id: string; created: string }[];
  requests: ({ id: string } & Request)[];
  /** What requests released, and when the consent ended. */
  consents: ReturnType<typeof toConsent>[];
  /** Businesses that the user has stopped, or started again within `DELETION_MEMORY_DAYS`. */
  opt_outs: OptOut[];
  /** Records of released values. */
  grants: ConsentReceipt[];
  /** The states of messages, in both directions. */
  log: ({ message_id: string } & LogEntry)[];
  /** Attempts to deliver events about the user to webhooks, and the events. */
  deliveries: (Delivery & { account: string; event: OutboxEvent | null })[];
  /** Pending entries. */
  waiting: { account: string; direction: Direction; created: string; what: OutboxEvent }[];
}

/**
 * All data about a user: profile, answers, user data requests, consents, opt-outs, receipts, log entries, delivery
 * attempts, and pending entries. Reads each of these items; and for each account that has log entries, requests or
 * opt-outs of the user, its outboxes.
 */
export const personalDataOf = async (phone: string): Promise<PersonalData> => {
  const [user, person, log, attempts, grants] = await Promise.all([
    wholeUser(phone),
    itemsAt<Answer | RequestItem | ConsentItem | OptOutItem>(dataOfPerson(phone)),
    itemsAt<LogItem>(logsOfContact(phone)),
    itemsAt<AttemptItem>(deliveriesAbout(phone)),
    listConsentReceipts(phone),
  ]);
  const requests = person.filter(isRequestKey).map(toRequest);
  const consents = person.filter(isConsent).map(toConsent);
  const opt_outs = person.filter(isOptOut).map(toOptOut);
  const found: PersonalData = {
    phone_number: phone,
    profile: user ?? null,
    answers: person.filter(isAnswer).map(toAnswer),
    requests,
    consents,
    opt_outs,
    grants,
    log: log.map(toLogEntry),
    deliveries: attempts.map((item) => ({
      account: accountOfAttempt(item),
      ...toDelivery(item),
      event: eventOf(item) ?? null,
    })),
    waiting: [],
  };
  // Every pending entry is about a log entry, a request, a consent or an opt-out, so these accounts are complete.
  for (const account of new Set([...found.log, ...requests, ...consents, ...opt_outs].map((one) => one.account))) {
    for (const conversation of conversationsOf(account, phone)) {
      for await (const waiting of pages<Entry>({
        KeyConditionExpression: 'pk = :pk AND begins_with(sk, :sk)',
        ExpressionAttributeValues: {
          ':pk': entryKey(conversationName(conversation), '').pk,
          ':sk': entryKey('', '').sk,
        },
        ConsistentRead: true,
      })) {
        found.waiting.push(
          ...waiting.map(({ created, outgoing }) => ({
            account,
            direction: conversation.direction,
            created,
            what: outgoing,
          })),
        );
      }
    }
  }
  return found;
};

/** The states of a user's messages, in both directions. */
export const logAbout = async (phone: string): Promise<PersonalData['log']> =>
  (await itemsAt<LogItem>(logsOfContact(phone))).map(toLogEntry);

/** Whether there is no data. */
export const isEmpty = ({
  profile,
  answers,
  requests,
  consents,
  opt_outs,
  grants,
  log,
  deliveries,
  waiting,
}: PersonalData): boolean =>
  profile === null &&
  [answers, requests, consents, opt_outs, grants, log, deliveries, waiting].every(({ length }) => length === 0);

/** Items that are read at the same time. */
const TOGETHER = 25;

/** The complete items of a partition of the index of persons and contacts, which contains only some attributes. */
const itemsAt = async <Item extends Key>(partition: string): Promise<Item[]> => {
  const found: Item[] = [];
  for await (const keys of pages<Key>({
    IndexName: 'gsi2',
    KeyConditionExpression: 'gsi2pk = :partition',
    ExpressionAttributeValues: { ':partition': partition },
    ProjectionExpression: 'pk, sk',
    Limit: TOGETHER,
  })) {
    const items = await Promise.all(keys.map(({ pk, sk }) => getConsistent<Item & { gsi2pk: string }>({ pk, sk })));
    // The index may be behind: an item may no longer belong to the partition.
    found.push(...items.flatMap((item) => (item?.gsi2pk === partition ? [item] : [])));
  }
  return found;
};

interface Answer extends Key {
  option_id: string;
  created: string;
}

const isAnswer = (item: Key): item is Answer => isAnswerKey(item);

const toAnswer = ({ option_id, created, ...key }: Answer) => ({
  profiler_id: answeredProfilerOf(key),
  option_id,
  created,
});

/** A user's opt-out from an account, as operators see it. */
export interface OptOut {
  account: string;
  state: OptOutState;
  /** When the user made the last change. */
  updated: string;
}

const isConsent = (item: Key): item is ConsentItem => isConsentKey(item);

const toConsent = ({ id, account, reason, created, properties }: ConsentItem) => ({
  request_id: id,
  account,
  reason,
  created,
  properties,
});

const isOptOut = (item: Key): item is OptOutItem => isOptOutKey(item);

const toOptOut = (item: OptOutItem): OptOut => ({
  account: accountOfOptOut(item),
  state: item.state,
  updated: item.updated,
});

/** A user's opt-outs, the oldest change first. 1 read unit for each of the user's answers, requests and opt-outs. */
export const optOutsOf = async (phone: string): Promise<OptOut[]> =>
  (await itemsAt<OptOutItem>(dataOfPerson(phone))).filter(isOptOut).map(toOptOut);

const toRequest = (item: Key): { id: string } & Request => {
  const { account, business, reference, reason, properties, results, created, completed } = item as RequestItem;
  const kept = {
    account,
    business,
    ...(reference !== undefined && { reference }),
    reason,
    properties,
    results: presentResults(results),
    created,
    ...(completed !== undefined && { completed }),
  };
  return { id: requestIdOf(item), ...kept };
};

const toLogEntry = ({
  account,
  state,
  created,
  job_id,
  payload_type,
  reference,
  reason_code,
  reason,
  ...key
}: LogItem): { message_id: string } & LogEntry => ({
  message_id: messageIdOf(key),
  ...{ account, state, created, job_id, payload_type },
  ...(reference !== undefined && { reference }),
  ...(reason_code !== undefined && { reason_code }),
  ...(reason !== undefined && { reason }),
});
