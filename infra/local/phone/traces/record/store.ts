/**
 * The traces of the local stack: for each request, its log lines, the calls to destinations that it caused, and the
 * reports of users' phones about its message. Each owner of traces has a limit of its own: the last 100 of each user, of
 * each route of an account whose requests name no user, and of the page. So a campaign removes no trace of others. All
 * traces together have at most 100 MB.
 */
import * as v from 'valibot';
import { now } from '../../../../../shared/core/clock.ts';
import type { Call, CallResult, Server } from '../views.ts';
import { type AppEventRecord, eventsIn, isAppEvents, phoneIn } from './app-events.ts';
import { at, jsonIn, sizeOf, textAt } from './capture.ts';

/**
 * Most traces of an owner, most traces whose request has not ended, most characters of all calls, most calls of a trace to
 * destinations and of a destination without a trace, and most lines of a trace.
 */
const MOST = { traces: 100, open: 1_000, size: 100_000_000, calls: 100, lines: 400 };
/** How many calls of a destination the statistics show. */
const LAST_CALLS = 30;
/** The owner of what the page and the simulated phones report. */
const OWN = 'page';

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
  /** The last calls to destinations, in order. */
  deliveries: Call[];
  /** Whether the page itself caused it, or a simulated phone. */
  isOwn: boolean;
  /** The ids of its message, request, job and event. */
  ids: Set<string>;
  /** Whose limit it counts against; empty until its request has ended. */
  owner: string;
  size: number;
  /** How often it has changed. */
  version: number;
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

export class TraceStore {
  readonly #traces = new Map<string, Trace>();
  /** The trace of a message, request, job, event, or message of a platform. */
  readonly #byId = new Map<string, string>();
  /** Reports about a message, or answers to a request. */
  readonly #reports = new Map<string, Call[]>();
  /** The ids of each owner's traces, the oldest first. */
  readonly #owners = new Map<string, Set<string>>();
  /** Calls that belong to no trace, by destination in order. */
  readonly #others = new Map<Server, Call[]>();
  /** The last calls of each destination, the oldest first. */
  readonly #lastCalls = new Map<Server, CallResult[]>();
  /** Ids of events that the page itself is reporting. */
  readonly #ownEvents = new Set<string>();
  /** Ids of the events whose messages were delivered to their platform. They stay when their traces go. */
  readonly #delivered = new Set<string>();
  #size = 0;

  /** The traces whose request has ended, newest first. */
  get traces(): Trace[] {
    return [...this.#traces.values()].filter(({ call }) => call !== undefined).reverse();
  }

  /** The kept calls of destinations that belong to no trace. */
  get otherCalls(): Call[] {
    return [...this.#others.values()].flat();
  }

  /** The last 30 calls of a destination, the oldest first. */
  lastCallsOf(server: Server): readonly CallResult[] {
    return this.#lastCalls.get(server) ?? [];
  }

  /** Whether the platform has accepted the message that a user wrote with this event. */
  isDelivered(event: string): boolean {
    return this.#delivered.has(event);
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
    this.#owners.clear();
    this.#others.clear();
    this.#lastCalls.clear();
    this.#size = 0;
  }

  /** An event that the page itself is about to report. */
  addOwnEvent(id: string): void {
    this.#ownEvents.add(id);
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
    const events = isAppEvents(call) ? eventsIn(call.body) : [];
    this.#addEvents(trace, events);
    this.#own(trace, this.#ownerOf(trace, call, events[0]));
    this.#evict();
  }

  /** Adds a call of the service to a destination. */
  addDelivery(call: Call, trace: Trace | undefined): void {
    const { server, ms, response } = call;
    const result = { ms, ok: response !== null && response.status < 300 };
    this.#lastCalls.set(server, [...this.lastCallsOf(server), result].slice(-LAST_CALLS));
    if (trace === undefined) {
      this.#others.set(server, [...(this.#others.get(server) ?? []), call].slice(-MOST.calls));
      return;
    }
    trace.deliveries.push(call);
    this.#grow(trace, sizeOf(call));
    const oldest = trace.deliveries.length > MOST.calls ? trace.deliveries.shift() : undefined;
    if (oldest !== undefined) this.#grow(trace, -sizeOf(oldest));
    // By this id, Turn names the message in later calls.
    for (const id of idsIn(call)) this.#name(trace, id);
  }

  #addTo(trace: Trace, found: Line): void {
    trace.counts[found.message] = (trace.counts[found.message] ?? 0) + 1;
    trace.version += 1;
    if (isDeliveryToPlatform(found)) for (const id of trace.ids) this.#delivered.add(id);
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
        if (this.#ownEvents.delete(id)) trace.isOwn = true;
        if (trace.lines.some(isDeliveryToPlatform)) this.#delivered.add(id);
      }
      const about = type === 'message.state' || type.startsWith('user_data.') ? textAt(data, 'id') : undefined;
      const reported = about === undefined ? undefined : this.find(about);
      if (about === undefined || reported === undefined || trace.call === undefined) continue;
      this.#reports.set(about, [...(this.#reports.get(about) ?? []), trace.call]);
      reported.version += 1;
    }
  }

  /** The owner of a trace whose request has ended. A report about a message belongs to its user. */
  #ownerOf({ isOwn }: Trace, call: Call, event: AppEventRecord | undefined): string {
    if (isOwn) return OWN;
    const about = this.find(textAt(event?.data, 'id') ?? '');
    return phoneIn(call, event) ?? (about?.owner || `${call.account} ${call.route}`);
  }

  #own(trace: Trace, owner: string): void {
    this.#owners.get(trace.owner)?.delete(trace.id);
    trace.owner = owner;
    const owned = this.#owners.get(owner) ?? new Set();
    this.#owners.set(owner, owned.add(trace.id));
    const [oldest] = owned;
    if (owned.size > (owner === '' ? MOST.open : MOST.traces) && oldest !== undefined) this.#remove(oldest);
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
      owner: '',
      size: 0,
      version: 0,
    };
    this.#traces.set(id, trace);
    this.#own(trace, '');
    return trace;
  }

  /** The first trace of an id keeps it: a repeat of a request returns the same ids. */
  #name(trace: Trace, id: string): void {
    trace.ids.add(id);
    if (!this.#byId.has(id)) this.#byId.set(id, trace.id);
  }

  #grow(trace: Trace, size: number): void {
    trace.size += size;
    trace.version += 1;
    this.#size += size;
  }

  /** Removes the oldest traces while they are too large. */
  #evict(): void {
    for (const id of this.#traces.keys()) {
      if (this.#size <= MOST.size) return;
      this.#remove(id);
    }
  }

  #remove(id: string): void {
    const trace = this.#traces.get(id);
    if (trace === undefined) return;
    this.#traces.delete(id);
    const owned = this.#owners.get(trace.owner);
    owned?.delete(id);
    if (owned?.size === 0) this.#owners.delete(trace.owner);
    this.#size -= trace.size;
    for (const one of trace.ids) {
      if (this.#byId.get(one) === id) this.#byId.delete(one);
      this.#reports.delete(one);
    }
  }
}

const isDeliveryToPlatform = ({ message, type }: Line): boolean =>
  message === 'delivered' && type === 'message.received';

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
