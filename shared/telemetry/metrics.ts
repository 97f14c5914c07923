/**
 * Metrics. Each event is a log line that describes its metrics in the embedded metric format (EMF), and CloudWatch
 * extracts them. So no call is needed, and each figure leads to its log lines. Dashboard and alarms use the names
 * below.
 */
import { now } from '../core/clock.ts';
import { unkeyedHash } from '../core/keyed-hashes.ts';
import { logSampling, metricsNamespace } from '../core/settings.ts';
import { type Fields, type Level, write } from './log.ts';

type Unit = 'Count' | 'Milliseconds' | 'Seconds';

interface Measured {
  /**
   * The dimensions of its metrics. Each value of a dimension is a metric of its own: few values, none chosen by
   * callers.
   */
  by: readonly string[];
  /** The numbers, with their units. */
  metrics: Record<string, Unit>;
  /** The count of a step of a message that, at level `info`, went well. Such steps may be sampled, by message. */
  sampled?: 'accepted' | 'delivered' | 'states';
}

/** The events, by their log lines' messages. */
export const events = {
  /** An endpoint responded: the request succeeded, was rejected (4xx), or failed (5xx). */
  request: { by: ['outcome'], metrics: { requests: 'Count', request_ms: 'Milliseconds' } },
  /** A long poll for user data ended: with the user's answer, or with the deadline. */
  'long poll': { by: ['outcome'], metrics: { long_polls: 'Count', long_poll_ms: 'Milliseconds' } },
  /** A long poll returned at once, because the account had no free slot for it. */
  'long poll declined': { by: [], metrics: { long_polls_declined: 'Count' } },
  /** An entry was accepted for delivery, by type: a message, a user data request. */
  accepted: { by: ['type'], metrics: { accepted: 'Count' }, sampled: 'accepted' },
  /** The destination accepted it; `delivery_ms` is the time since the service accepted it. */
  delivered: { by: ['type'], metrics: { delivered: 'Count', delivery_ms: 'Milliseconds' }, sampled: 'delivered' },
  /** An attempt failed; the next one has a time. */
  'retry scheduled': { by: ['type', 'reason'], metrics: { retries_scheduled: 'Count' } },
  /** The destination asked for fewer requests: all attempts of the account pause. */
  'rate limited': { by: ['type'], metrics: { rate_limited: 'Count' } },
  /** No further attempt: the destination rejected it, or no attempt succeeded within `RETRY_DAYS`. */
  'permanently failed': { by: ['type', 'reason'], metrics: { permanently_failed: 'Count' } },
  /** A message ended before its delivery: its job was cancelled, or it had expired. */
  'ended early': { by: ['reason'], metrics: { ended_early: 'Count' } },
  /** A step of a batch failed twice or more: its messages wait for up to an hour. */
  'batch postponed': { by: [], metrics: { batches_postponed: 'Count' } },
  /** The app network reported the state of a message. */
  state: { by: ['state'], metrics: { states: 'Count' }, sampled: 'states' },
  /** A webhook returned 410, and gets no more requests until it is set again. */
  'webhook disabled': { by: [], metrics: { webhooks_disabled: 'Count' } },
  /**
   * A destination failed too often in a row. `app` is the app network, `account` the messages of an account to it, and
   * `platform` an account's platform.
   */
  'circuit opened': { by: ['direction'], metrics: { circuits_opened: 'Count' } },
  /** The destination works again. */
  'circuit closed': { by: ['direction'], metrics: { circuits_closed: 'Count' } },
  /** Each minute: all conversations that were due have been woken. */
  'due conversations woken': { by: [], metrics: { conversations_woken: 'Count' } },
  /**
   * Each minute: the number of conversations with pending entries, the age of the oldest, and whether the app network
   * fails for all accounts that send.
   */
  backlog: { by: [], metrics: { pending_conversations: 'Count', oldest_s: 'Seconds', app_network_failing: 'Count' } },
} as const satisfies Record<string, Measured>;

export type EventName = keyof typeof events;

/** The fields of an event: its metrics, their dimensions, and further fields of the log line. */
export type EventFields<Name extends EventName> = Record<keyof (typeof events)[Name]['metrics'], number> &
  Record<(typeof events)[Name]['by'][number], string> &
  Fields;

/**
 * Writes the log line of an event, from which its metrics are made. With the setting `logSampling`, steps that went well are
 * written for one message in so many, and count for all.
 */
export const measure = <Name extends EventName>(level: Level, name: Name, fields: EventFields<Name>): void => {
  const { sampled }: Measured = events[name];
  const id = fields.message_id ?? fields.user_data_request_id;
  const sampling = sampled !== undefined && level === 'info' && id !== undefined ? logSampling() : 1;
  if (sampling > 1 && Number.parseInt(unkeyedHash(String(id)).slice(0, 8), 16) % sampling > 0) return;
  const counted = sampling > 1 ? { ...fields, [`${sampled}`]: sampling } : fields;
  write(level, name, counted, `,"_aws":{"Timestamp":${now()},"CloudWatchMetrics":[${descriptionOf(name)}]}`);
};

const descriptions = new Map<EventName, string>();

/** The description of an event's metrics for CloudWatch, as JSON: built once, because it is the same in every line. */
const descriptionOf = (name: EventName): string => {
  const known = descriptions.get(name);
  if (known !== undefined) return known;
  const description = describe(events[name]);
  descriptions.set(name, description);
  return description;
};

const describe = ({ by, metrics }: Measured): string =>
  JSON.stringify({
    Namespace: metricsNamespace(),
    // The metric over all values, and by dimension.
    Dimensions: by.length === 0 ? [[]] : [[], by],
    Metrics: Object.entries(metrics).map(([Name, Unit]) => ({ Name, Unit })),
  });
