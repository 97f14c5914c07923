/**
 * What is measured. Each of these events is a log line, and CloudWatch makes metrics of its numbers: the line holds their
 * description in the embedded metric format (EMF). So nothing has to be called, and whoever sees a figure finds the lines
 * that it was made of. Dashboard and alarms name their metrics from here.
 */
import { now } from '../core/clock.ts';
import { metricsNamespace } from '../core/settings.ts';
import { type Fields, type Level, write } from './log.ts';

type Unit = 'Count' | 'Milliseconds' | 'Seconds';

interface Measured {
  /** The dimensions of its metrics. Each costs as many metrics as it has values: few, and none that a caller makes up. */
  by: readonly string[];
  /** The numbers, with their units. */
  metrics: Record<string, Unit>;
}

/** The events, by their log lines' messages. */
export const events = {
  /** An endpoint responded: the request succeeded, was rejected (4xx), or failed (5xx). */
  request: { by: ['outcome'], metrics: { requests: 'Count', request_ms: 'Milliseconds' } },
  /** A long poll for user data ended: the user had answered, or the time was over. */
  'long poll': { by: ['outcome'], metrics: { long_polls: 'Count', long_poll_ms: 'Milliseconds' } },
  /** An entry was accepted for delivery, by type: a message, a user data request. */
  accepted: { by: ['type'], metrics: { accepted: 'Count' } },
  /** The destination accepted it; `delivery_ms` is the time since the service accepted it. */
  delivered: { by: ['type'], metrics: { delivered: 'Count', delivery_ms: 'Milliseconds' } },
  /** An attempt failed; the next one has a time. */
  'retry scheduled': { by: ['type', 'reason'], metrics: { retries_scheduled: 'Count' } },
  /** The destination asked for fewer requests: all attempts pause. */
  'rate limited': { by: ['type'], metrics: { rate_limited: 'Count' } },
  /** No further attempt: the destination rejected it, or no attempt succeeded for three days. */
  'permanently failed': { by: ['type', 'reason'], metrics: { permanently_failed: 'Count' } },
  /** The app network reported the state of a message. */
  state: { by: ['state'], metrics: { states: 'Count' } },
  /** A destination failed too often in a row. `app` is the app network, `platform` an account's platform. */
  'circuit opened': { by: ['direction'], metrics: { circuits_opened: 'Count' } },
  /** The destination works again. */
  'circuit closed': { by: ['direction'], metrics: { circuits_closed: 'Count' } },
  /** Each minute: the number of conversations with pending entries, the age of the oldest, and whether the app network fails. */
  backlog: { by: [], metrics: { pending_conversations: 'Count', oldest_s: 'Seconds', app_network_failing: 'Count' } },
} as const satisfies Record<string, Measured>;

export type EventName = keyof typeof events;

/** What an event has to say: its numbers, what they are told apart by, and anything else that the log may hold. */
export type Saying<Name extends EventName> = Record<keyof (typeof events)[Name]['metrics'], number> &
  Record<(typeof events)[Name]['by'][number], string> &
  Fields;

/** Writes the log line of an event, from which its metrics are made. */
export const measure = <Name extends EventName>(level: Level, name: Name, fields: Saying<Name>): void =>
  write(
    { level, message: name, ...fields },
    `,"_aws":{"Timestamp":${now()},"CloudWatchMetrics":[${descriptionOf(name)}]}`,
  );

const descriptions = new Map<EventName, string>();

/** The description of an event's metrics for CloudWatch, as JSON: built once, because it is the same in every line. */
const descriptionOf = (name: EventName): string => {
  const description = descriptions.get(name) ?? describe(events[name]);
  descriptions.set(name, description);
  return description;
};

const describe = ({ by, metrics }: Measured): string =>
  JSON.stringify({
    Namespace: metricsNamespace(),
    // Of all, and of each.
    Dimensions: by.length === 0 ? [[]] : [[], by],
    Metrics: Object.entries(metrics).map(([Name, Unit]) => ({ Name, Unit })),
  });
