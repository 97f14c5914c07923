/** What a trace is about, by its request, its log lines, and its calls to destinations. */
import { type MediaType, mediaTypes } from '../../../../shared/core/media-types.ts';
import { type AppEventRecord, eventsIn, isAppEvents, isPhone, phoneIn } from './record/app-events.ts';
import { at, jsonIn, textAt } from './record/capture.ts';
import type { Line, Trace, TraceStore } from './record/store.ts';
import type { Call } from './views.ts';

export interface Facts {
  type: 'to user' | 'from user' | 'consent request' | 'job' | 'states' | 'event' | 'request';
  call: Call;
  account: string | null;
  phone: string | null;
  /** The id of the message or user data request. */
  subject: string | null;
  content: Content | undefined;
  event: AppEventRecord | undefined;
  accepted: Line | undefined;
  queued: Line | undefined;
  delivered: Line | undefined;
  /** The end of a message that was not delivered. */
  failed: Line | undefined;
  /** The last failed attempt, while the message is pending. */
  retry: Line | undefined;
  reports: Report[];
}

interface Content {
  type: 'text' | MediaType | 'location';
  text: string;
}

/** A state that a phone reported, or an answer. */
export interface Report {
  name: string;
  time: number;
  call: Call;
  data: unknown;
}

const ACCEPTED_TYPES = {
  'message.send': 'to user',
  'message.received': 'from user',
  'user_data.request': 'consent request',
} as const;

/** @param trace - a trace whose request has ended */
export const factsOf = (trace: Trace, call: Call, store: TraceStore): Facts => {
  const { lines } = trace;
  // The messages of a job have lines in its trace, too.
  const isJob = isToMany(trace, call);
  const accepted = isJob
    ? undefined
    : lines.find(({ message, type }) => message === 'accepted' && typeOf(type) !== undefined);
  const events = isAppEvents(call) ? eventsIn(call.body) : [];
  const type = isJob ? 'job' : (typeOf(accepted?.type) ?? typeWithout(trace, events));
  const event = events[0];
  const subject = accepted?.message_id ?? accepted?.user_data_request_id ?? subjectIn(type, call, events);
  // A trace also contains the reports to the platform, and the answers of other messages.
  const ofSubject = lines.filter(
    ({ message_id, user_data_request_id, type: what }) =>
      (message_id ?? user_data_request_id) === subject && what === accepted?.type,
  );
  const last = (...messages: string[]) => ofSubject.findLast(({ message }) => messages.includes(message));
  const delivered = last('delivered', 'skipped');
  const failed = last('permanently failed', 'ended early');
  return {
    type,
    call,
    account: accepted?.account ?? (call.account === 'app-network' ? null : call.account) ?? accountIn(event, store),
    phone: isJob ? null : (phoneOf(trace, call, event) ?? phoneOfSubject(event, trace, store)),
    subject,
    content: contentIn(trace, call, event),
    event,
    accepted,
    queued: queuedIn(trace, accepted),
    delivered,
    failed,
    retry: delivered || failed ? undefined : last('retry scheduled', 'rate limited'),
    reports: subject === null ? [] : reportsOf(subject, store),
  };
};

/** The line at whose time the conversation was queued: by `relay`, or before that by the endpoint that accepted the message. */
const queuedIn = ({ lines, deliveries }: Trace, accepted: Line | undefined): Line | undefined => {
  const relayed = lines.find(({ message }) => message === 'relay');
  const isEarlier = deliveries.some(({ time }) => relayed === undefined || time < relayed.time);
  return accepted && isEarlier ? accepted : relayed;
};

/** Whether a request was accepted for many messages. Few ones need no batch, and a scheduled one to one user has a batch. */
const isToMany = ({ lines }: Trace, { route, response }: Call): boolean => {
  const answer = jsonIn(response?.body ?? '');
  if (/^POST \/v1\/messages?$/.test(route) && textAt(answer, 'job_id') !== undefined) return true;
  return textAt(answer, 'id') === undefined && lines.some(isBatch);
};

const isBatch = ({ message }: Line): boolean => message === 'batch accepted';

const typeOf = (type: string | undefined): Facts['type'] | undefined =>
  Object.entries(ACCEPTED_TYPES).find(([known]) => known === type)?.[1];

const typeWithout = ({ lines }: Trace, events: AppEventRecord[]): Facts['type'] => {
  if (lines.some(isBatch)) return 'job';
  if (events.length === 0) return 'request';
  return events.every(({ type }) => type === 'message.state') ? 'states' : 'event';
};

/** What a request is about that accepted nothing: for example, its repeat. */
const subjectIn = (type: Facts['type'], { path, response }: Call, events: AppEventRecord[]): string | null => {
  if (type === 'event' || type === 'states') return textAt(events[0]?.data, 'id') ?? null;
  if (type === 'job') return textAt(jsonIn(response?.body ?? ''), 'job_id') ?? null;
  return /^\/v1\/user_data\/(?:fetch\/)?([\da-f-]{36})/.exec(path)?.[1] ?? null;
};

const dataOf = (call: Call): unknown => at(jsonIn(call.body), 'data');

/** The first phone number that the trace names. */
const phoneOf = ({ deliveries }: Trace, call: Call, event: AppEventRecord | undefined): string | null =>
  phoneIn(call, event) ??
  deliveries
    .filter(({ server }) => server === 'app')
    .map((delivery) => textAt(dataOf(delivery), 'to'))
    .find(isPhone) ??
  null;

/** The user of an answer: that of the request; and of a report: that of the message. */
const phoneOfSubject = (event: AppEventRecord | undefined, trace: Trace, store: TraceStore): string | null => {
  const about = store.find(textAt(event?.data, 'id') ?? '');
  return about?.call === undefined || about.id === trace.id ? null : phoneOf(about, about.call, undefined);
};

const accountIn = (event: AppEventRecord | undefined, store: TraceStore): string | null => {
  const about = store.find(textAt(event?.data, 'id') ?? '');
  return about?.lines.find(({ account }) => account !== undefined)?.account ?? null;
};

const contentIn = ({ deliveries }: Trace, call: Call, event: AppEventRecord | undefined): Content | undefined => {
  const sent = deliveries.find(({ server }) => server === 'app');
  const candidates = [event?.data, sent && dataOf(sent), jsonIn(call.body)];
  for (const candidate of candidates) {
    const found = contentOf(candidate);
    if (found !== undefined) return found;
  }
  const form = call.path.startsWith('/v1/webhook/rapidpro') ? new URLSearchParams(call.body).get('text') : null;
  return form === null ? undefined : { type: 'text', text: form };
};

const contentOf = (data: unknown): Content | undefined => {
  const text =
    textAt(data, 'text', 'body') ??
    textAt(data, 'turn', 'text', 'body') ??
    textAt(data, 'content') ??
    textAt(data, 'reason');
  if (text !== undefined) return { type: 'text', text };
  for (const type of mediaTypes) {
    const url = textAt(data, type, 'url');
    if (url !== undefined) return { type, text: textAt(data, type, 'caption') ?? url };
  }
  const { latitude, longitude, name } = Object(Object(data).location);
  if (typeof latitude === 'number') return { type: 'location', text: name ?? `${latitude}, ${longitude}` };
  return undefined;
};

/** The states of a message that the service accepted, or the answers to a request, in order. */
const reportsOf = (subject: string, store: TraceStore): Report[] =>
  store
    .reportsOf(subject)
    .filter(({ response }) => response !== null && response.status < 300)
    .flatMap((call) =>
      eventsIn(call.body)
        .filter(({ data }) => textAt(data, 'id') === subject)
        .map(({ type, data }) => ({
          name: type === 'message.state' ? (textAt(data, 'state') ?? '') : type,
          time: call.time,
          call,
          data,
        })),
    )
    // A phone may report a state again; the first report counts.
    .filter(
      ({ name }, place, all) => name.startsWith('user_data.') || all.findIndex((one) => one.name === name) === place,
    );

/** The answers in reports about a request: `approved`, `denied`, in the order of the properties. */
export const answersIn = (data: unknown): string[] => {
  const answers = at(data, 'answers');
  return typeof answers === 'object' && answers !== null ? Object.values(answers).map(String) : [];
};
