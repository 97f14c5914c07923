/**
 * The traces of the local stack: for each request, its log lines, the calls to destinations that it caused, and the
 * reports of users' phones about its message. The store keeps the last 500 traces, and at most 24 MB.
 */
import * as v from 'valibot';
import { now } from '../../../../../shared/core/clock.ts';
import type { Call } from '../views.ts';
import { at, jsonIn, sizeOf, textAt } from './capture.ts';

/** Most traces, most characters of their calls, most calls of destinations, and most lines of a trace. */
const MOST = { traces: 500, size: 24_000_000, calls: 500, lines: 400 };

/** What a line counts. */
const LINE_SIZE = 200;

/** A log line of a function in a trace. */
export interface Line {
  message: string;
  /** When it was written, in milliseconds since 1970. */
  time: number;
  type?: string | undefined;
  account?: string | undefined;
  message_id?: string | undefined;
  user_data_request_id?: string | undefined;
  job_id?: string | undefined;
  state?: string | undefined;
  cause?: string | undefined;
  reason?: string | undefined;
  destination?: string | undefined;
  attempts?: number | undefined;
  messages?: number | undefined;
}

export interface Trace {
  id: string;
  /** The request that began it; undefined until it has ended. */
  call: Call | undefined;
  /** The first log lines, and how many there are of each message. */
  lines: Line[];
  counts: Record<string, number>;
  /** Calls to destinations, in order. */
  deliveries: Call[];
  /** Whether the page itself caused it. */
  isOwn: boolean;
  /** The ids of its message, request, job and event. */
  ids: Set<string>;
  size: number;
}

const line = v.looseObject({
  message: v.string(),
  trace_id: v.optional(v.string()),
  trace_ids: v.optional(v.array(v.string())),
  type: v.optional(v.string()),
  account: v.optional(v.string()),
  message_id: v.optional(v.string()),
  user_data_request_id: v.optional(v.string()),
  job_id: v.optional(v.string()),
  state: v.optional(v.string()),
  cause: v.optional(v.string()),
  reason: v.optional(v.string()),
  destination: v.optional(v.string()),
  attempts: v.optional(v.number()),
  messages: v.optional(v.number()),
  _aws: v.optional(v.looseObject({ Timestamp: v.number() })),
});

export interface AppEventRecord {
  id: string | undefined;
  type: string;
  data: unknown;
}

/** The events of the app network in a body. */
export const eventsIn = (body: string): AppEventRecord[] =>
  [jsonIn(body) ?? []].flat().flatMap((event) => {
    const type = textAt(event, 'type');
    return type === undefined ? [] : [{ id: textAt(event, 'id'), type, data: at(event, 'data') }];
  });

/** The path on which the app network reports events. */
export const isAppEvents = ({ server, path }: Call): boolean => server === 'service' && path === '/v1/app/events';

export class TraceStore {
  readonly #traces = new Map<string, Trace>();
  /** The trace of a message, request, job, event, or message of a platform. */
  readonly #byId = new Map<string, string>();
  /** Reports about a message, or answers to a request. */
  readonly #reports = new Map<string, Call[]>();
  /** Calls of destinations, of all traces and none, in order. */
  #calls: Call[] = [];
  /** Ids of events that the page itself reports. */
  readonly #ownEvents = new Set<string>();
  #size = 0;

  /** The traces whose request has ended, newest first. */
  get traces(): Trace[] {
    return [...this.#traces.values()].filter(({ call }) => call !== undefined).reverse();
  }

  /** The last calls of destinations, in order. */
  get destinationCalls(): readonly Call[] {
    return this.#calls;
  }

  /** A trace by its id, or by that of its message, request, job or event. */
  find(id: string): Trace | undefined {
    return this.#traces.get(id) ?? this.#traces.get(this.#byId.get(id) ?? '');
  }

  /** The requests with which phones reported states of a message, or answers to a request, in order. */
  reportsOf(id: string): readonly Call[] {
    return this.#reports.get(id) ?? [];
  }

  clear(): void {
    this.#traces.clear();
    this.#byId.clear();
    this.#reports.clear();
    this.#calls = [];
    this.#size = 0;
  }

  /** An event that the page itself is about to report. */
  addOwnEvent(id: string): void {
    this.#ownEvents.add(id);
    const [oldest] = this.#ownEvents;
    if (this.#ownEvents.size > MOST.traces && oldest !== undefined) this.#ownEvents.delete(oldest);
  }

  /** Adds a parsed log line. Lines of workers are of the traces that they name. Returns whether it belongs to any. */
  addLine(entry: unknown): boolean {
    const { success, output } = v.safeParse(line, entry);
    if (!success) return false;
    const { trace_id, trace_ids, _aws, ...rest } = output;
    const time = _aws?.Timestamp ?? now();
    const traces = trace_ids ?? (WORKERS.has(rest.message) || trace_id === undefined ? [] : [trace_id]);
    for (const id of traces) this.#addTo(this.#open(id), { ...rest, time });
    return traces.length > 0;
  }

  /** Adds a request to the service. */
  addCall(call: Call): void {
    const trace = this.#open(call.id);
    trace.call = call;
    this.#grow(trace, sizeOf(call));
    for (const id of idsIn(call)) this.#name(trace, id);
    if (isAppEvents(call)) this.#addEvents(trace, eventsIn(call.body));
    this.#evict();
  }

  /** Adds a call of the service to a destination. */
  addDelivery(call: Call, trace: Trace | undefined): void {
    this.#calls = [...this.#calls, call].slice(-MOST.calls);
    if (trace === undefined) return;
    trace.deliveries.push(call);
    this.#grow(trace, sizeOf(call));
    // By this id, Turn names the message in later calls.
    for (const id of idsIn(call)) this.#name(trace, id);
  }

  #addTo(trace: Trace, found: Line): void {
    trace.counts[found.message] = (trace.counts[found.message] ?? 0) + 1;
    if (trace.lines.length < MOST.lines) {
      trace.lines.push(found);
      this.#grow(trace, LINE_SIZE);
    }
    // A line about a state names a message of another trace.
    if (found.message === 'state') return;
    const { message, message_id, user_data_request_id, job_id } = found;
    if (message !== 'accepted' && message !== 'batch accepted') return;
    for (const id of [message_id, user_data_request_id, job_id]) if (id !== undefined) this.#name(trace, id);
  }

  #addEvents(trace: Trace, events: AppEventRecord[]): void {
    for (const { id, type, data } of events) {
      if (id !== undefined) {
        this.#name(trace, id);
        if (this.#ownEvents.has(id)) trace.isOwn = true;
      }
      const about = type === 'message.state' || type.startsWith('user_data.') ? textAt(data, 'id') : undefined;
      if (about === undefined || trace.call === undefined) continue;
      this.#reports.set(about, [...(this.#reports.get(about) ?? []), trace.call]);
    }
  }

  #open(id: string): Trace {
    const known = this.#traces.get(id);
    if (known !== undefined) return known;
    const trace: Trace = {
      id,
      call: undefined,
      lines: [],
      counts: {},
      deliveries: [],
      isOwn: false,
      ids: new Set(),
      size: 0,
    };
    this.#traces.set(id, trace);
    return trace;
  }

  /** The first trace of an id keeps it: a repeat of a request returns the same ids. */
  #name(trace: Trace, id: string): void {
    trace.ids.add(id);
    if (!this.#byId.has(id)) this.#byId.set(id, trace.id);
  }

  #grow(trace: Trace, size: number): void {
    trace.size += size;
    this.#size += size;
  }

  /** Removes the oldest traces while there are too many. */
  #evict(): void {
    for (const [id, { ids, size }] of this.#traces) {
      if (this.#traces.size <= MOST.traces && this.#size <= MOST.size) return;
      this.#traces.delete(id);
      this.#size -= size;
      for (const one of ids) {
        if (this.#byId.get(one) === id) this.#byId.delete(one);
        this.#reports.delete(one);
      }
    }
  }
}

/** The lines of workers about their own runs. */
const WORKERS = new Set(['relay', 'deliver', 'count', 'sweep', 'erase', 'expand', 'backlog', 'authorized']);

/** The ids in a request to the service, or in a destination's response, by which others name it. */
const idsIn = ({ server, path, body, response }: Call): string[] => {
  const answer = jsonIn(response?.body ?? '');
  const given = [textAt(answer, 'id'), textAt(answer, 'job_id'), textAt(answer, 'requestId')];
  const messages = at(answer, 'messages');
  const listed = Array.isArray(messages) ? messages.map((one) => textAt(one, 'id')) : [];
  const ofRapidpro =
    server === 'service' && path.startsWith('/v1/webhook/rapidpro') ? new URLSearchParams(body).get('id') : null;
  return [...given, ...listed, ofRapidpro && `rapidpro ${ofRapidpro}`].filter((id): id is string => Boolean(id));
};
