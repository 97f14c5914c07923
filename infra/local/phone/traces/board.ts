/** The views of Activity: the list of traces, the life of one, and the calls. */
import { now } from '../../../../shared/core/clock.ts';
import { isReportable } from '../../../operator/local-stack/report.ts';
import { type PendingConversation, pendingConversations } from '../../../operator/queries/outbox-inspection.ts';
import type { Bot } from '../views.ts';
import { type Facts, factsOf } from './facts.ts';
import { outcomeOf, type Waiting } from './outcome.ts';
import { textAt } from './record/capture.ts';
import type { Trace, TraceStore } from './record/store.ts';
import { isSelectedCall, isSelectedTrace } from './select.ts';
import { stepsOf } from './timeline.ts';
import { type Names, titleOf } from './titles.ts';
import type {
  Call,
  CallList,
  CallRow,
  CallView,
  Filters,
  ListCounts,
  TraceList,
  TraceRow,
  TraceView,
} from './views.ts';

/** Most rows of a list. */
const MOST = 250;
/** Most ids in a row: a job has those of all its messages. */
const MAX_IDS = 20;
/** How many delivery times the overview shows. */
const TIMES = 40;
/** How long after a user's message a platform's message counts as a reply, in milliseconds. */
const REPLY_MS = 60_000;
/** How long the list of pending conversations is used again, in milliseconds. */
const FRESH_MS = 1_000;

export interface BoardOptions {
  names: Names;
  bots: readonly Bot[];
  /** Whether the file of an upload is kept. Default: never. */
  hasFile?: (request: string) => boolean;
  /** The pending conversations in the table. */
  pending?: () => Promise<PendingConversation[]>;
  /** Called when a view had an older list of pending conversations than its traces, and the next one has a later list. */
  onOutdated: () => void;
}

/** A trace whose request has ended. */
interface Known {
  trace: Trace;
  facts: Facts;
}

/** A trace's place in the line of its conversation. */
type Places = Map<string, Waiting & { behind: number }>;

export class Board {
  readonly #store: TraceStore;
  readonly #options: Required<BoardOptions>;
  readonly #facts = new WeakMap<Trace, { version: number; facts: Facts }>();
  #pending: { at: number; versions: string; conversations: Promise<PendingConversation[]> } | undefined;
  #outdated: NodeJS.Timeout | undefined;

  constructor(store: TraceStore, options: BoardOptions) {
    this.#store = store;
    this.#options = { pending: () => pendingConversations(), hasFile: () => false, ...options };
  }

  /**
   * The kept traces that the filters select, newest first: at most 250 rows.
   *
   * @param own - whether those of the page itself are listed
   */
  async list(filters: Filters, own: boolean): Promise<Omit<TraceList, 'destinations'>> {
    const known = this.#known();
    const places = await this.#placesOf(known);
    const all = known.map((one) => this.#rowOf(one, places));
    const shown = all.filter(({ isOwn }) => own || !isOwn);
    return {
      ...listed(all, shown, (row) => isSelectedTrace(row, this.#store.find(row.id)?.ids ?? new Set(), filters)),
      pending: shown.filter(({ isPending }) => isPending).length,
      failed: shown.filter(({ isFailed }) => isFailed).length,
      hasProfilers: shown.some(({ kind }) => kind === 'profilers'),
      deliveryMs: deliveryTimesOf(known),
    };
  }

  /** A trace by any of its ids; undefined if it is not known, or not any more. */
  async view(id: string): Promise<TraceView | undefined> {
    const trace = this.#store.find(id);
    if (trace?.call === undefined) return undefined;
    const facts = this.#factsOf(trace, trace.call);
    const places = await this.#placesOf(this.#known());
    const { account, phone, subject, delivered, reports, type, call } = facts;
    const bot = this.#options.bots.find((one) => one.id === account);
    const read = reports.find(({ name }) => name === 'read');
    const person = this.#options.names.person(phone);
    const job = trace.lines.find(({ job_id }) => job_id !== undefined)?.job_id;
    return {
      ...this.#rowOf({ trace, facts }, places),
      subject: subjectOf(facts, job),
      business: account === null ? null : { name: this.#options.names.business(account), number: bot?.number ?? '' },
      person: phone === null ? null : { phone, name: /^…/.test(person) ? null : person },
      toUser: type !== 'from user' && type !== 'event' && type !== 'states',
      tookMs: delivered ? Math.max(delivered.time - call.time, 0) : subject === null ? call.ms : null,
      readMs: read ? Math.max(read.time - call.time, 0) : null,
      steps: stepsOf(facts, trace, { waiting: places.get(trace.id), cause: this.#causeOf(facts), person }),
      fixed: fixedReason(facts, this.#options),
      deletion: deletionOf(facts, this.#options.bots),
      canRetry: places.get(trace.id)?.retryAt != null,
    };
  }

  /** The conversation of a message that is pending. */
  conversationOf(id: string): { direction: 'app' | 'platform'; account: string; phone: string } | undefined {
    const trace = this.#store.find(id);
    if (trace?.call === undefined) return undefined;
    const { type, account, phone } = this.#factsOf(trace, trace.call);
    if (account === null || phone === null) return undefined;
    return { direction: type === 'from user' ? 'platform' : 'app', account, phone };
  }

  /** The calls of the service, and those to it, as `list` lists traces. */
  calls(filters: Filters, own: boolean): CallList {
    const all = this.#calls().map(({ call, trace }) => this.#callRow(call, trace));
    const shown = all.filter(({ isOwn }) => own || !isOwn);
    return listed(all, shown, (row) => isSelectedCall(row, filters));
  }

  call(id: string): CallView | undefined {
    const found = this.#calls().find(({ call }) => call.id === id);
    return found && { ...this.#callRow(found.call, found.trace), call: found.call };
  }

  /** All kept calls with their traces, newest first. */
  #calls(): { call: Call; trace: Trace | undefined }[] {
    const ofTraces = this.#known().flatMap(({ trace, facts: { call } }) =>
      [call, ...trace.deliveries].map((one) => ({ call: one, trace })),
    );
    const others = this.#store.otherCalls.map((call) => ({ call, trace: undefined }));
    return [...ofTraces, ...others].sort((a, b) => b.call.time - a.call.time);
  }

  #known(): Known[] {
    return this.#store.traces.flatMap((trace) =>
      trace.call === undefined ? [] : [{ trace, facts: this.#factsOf(trace, trace.call) }],
    );
  }

  /** What a trace is about. It is found again only if the trace has changed. */
  #factsOf(trace: Trace, call: Call): Facts {
    const known = this.#facts.get(trace);
    if (known?.version === trace.version) return known.facts;
    const facts = factsOf(trace, call, this.#store);
    // Of a report, the user and the account are those of a message whose trace may still grow.
    if (facts.event === undefined || (facts.phone !== null && facts.account !== null)) {
      this.#facts.set(trace, { version: trace.version, facts });
    }
    return facts;
  }

  #rowOf({ trace, facts }: Known, places: Places): TraceRow {
    const { call, account, phone } = facts;
    return {
      id: trace.id,
      time: call.time,
      ...titleOf(facts, this.#options.names),
      account,
      phone,
      route: call.route,
      status: call.response?.status ?? 0,
      ...outcomeOf(facts, trace, places.get(trace.id)),
      isOwn: isOwn(trace, facts),
      ids: [...trace.ids].slice(0, MAX_IDS).map((id) => id.replace(/^rapidpro /, '')),
    };
  }

  #callRow(call: Call, trace: Trace | undefined): CallRow {
    const { id, time, ms, server, route, account, response } = call;
    const of = trace?.call && this.#factsOf(trace, trace.call);
    return {
      id,
      time,
      ms,
      server,
      route,
      account: account === 'app-network' ? (of?.account ?? null) : (account ?? of?.account ?? null),
      phone: of?.phone ?? null,
      status: response?.status ?? null,
      trace: trace?.id ?? null,
      isOwn: server === 'service' && trace !== undefined && of !== undefined && isOwn(trace, of),
    };
  }

  /** The places of pending messages in their conversations. Reads the table only while one is pending. */
  async #placesOf(known: Known[]): Promise<Places> {
    const pending = known
      .filter(({ facts }) => facts.accepted && !facts.delivered && !facts.failed && facts.type !== 'job')
      .reverse();
    const places: Places = new Map();
    if (pending.length === 0) return places;
    const conversations = await this.#pendingNow(pending.map(({ trace }) => `${trace.id} ${trace.version}`).join());
    const lines = Map.groupBy(pending, ({ facts }) => conversationName(facts));
    for (const [name, line] of lines) {
      const found = conversations.find(({ direction, account, phone }) => `${direction} ${account} ${phone}` === name);
      for (const [index, { trace }] of line.entries()) {
        const retryAt = found?.next === undefined ? null : Date.parse(`${found.next.slice(0, 23)}Z`);
        if (found !== undefined) places.set(trace.id, { place: index + 1, behind: line.length - index - 1, retryAt });
      }
    }
    return places;
  }

  /** @param versions - of the traces that they are read for */
  #pendingNow(versions: string): Promise<PendingConversation[]> {
    const present = now();
    if (this.#pending === undefined || present - this.#pending.at > FRESH_MS) {
      // If the table cannot be read now, the next view reads it.
      this.#pending = { at: present, versions, conversations: this.#options.pending().catch(() => []) };
    } else if (this.#pending.versions !== versions) {
      this.#outdated ??= setTimeout(() => {
        this.#outdated = undefined;
        this.#options.onOutdated();
      }, FRESH_MS).unref();
    }
    return this.#pending.conversations;
  }

  /** The message of the user that a platform's message follows. */
  #causeOf({ call, type, account, phone }: Facts): { trace: string; text: string; platform: string } | undefined {
    const platform = this.#options.bots.find(({ id }) => id === account)?.platform;
    if (type !== 'to user' || platform === undefined || !call.path.startsWith('/v1/webhook/')) return undefined;
    const cause = this.#known().find(
      ({ facts }) =>
        facts.type === 'from user' &&
        facts.account === account &&
        facts.phone === phone &&
        facts.call.time < call.time &&
        facts.call.time > call.time - REPLY_MS,
    );
    return cause && { trace: cause.trace.id, text: cause.facts.content?.text ?? '', platform };
  }
}

/** A list of the shown rows that are selected, with counts of all rows. */
const listed = <Row extends TraceRow | CallRow>(
  all: Row[],
  shown: Row[],
  isSelected: (row: Row) => boolean,
): ListCounts & { rows: Row[] } => {
  const found = shown.filter(isSelected);
  return {
    rows: found.slice(0, MOST),
    found: found.length,
    own: all.filter(({ isOwn }) => isOwn).length,
    routes: [...new Set(all.map(({ route }) => route))].sort(),
  };
};

/** How long the last single messages took from their acceptance to their delivery, the oldest first. */
const deliveryTimesOf = (known: Known[]): number[] =>
  known
    .flatMap(({ facts: { type, delivered, call, accepted } }) =>
      delivered && accepted && type !== 'job' ? [Math.max(delivered.time - call.time, 0)] : [],
    )
    .slice(0, TIMES)
    .reverse();

const conversationName = ({ type, account, phone }: Facts): string =>
  `${type === 'from user' ? 'platform' : 'app'} ${account} ${phone}`;

/** The page and the simulated phones report states by themselves; and the page shows pictures. */
const isOwn = (trace: Trace, { type, call }: Facts): boolean =>
  type === 'states' ? trace.isOwn : call.path.startsWith('/media/') && call.headers['sec-fetch-dest'] === 'image';

const subjectOf = ({ type, subject }: Facts, job: string | undefined): TraceView['subject'] => {
  const name = job ?? subject;
  if (type === 'job') return name === null ? null : { kind: 'Job', id: name };
  if (subject === null) return null;
  return { kind: type === 'to user' || type === 'from user' || type === 'states' ? 'Message' : 'Request', id: subject };
};

/** The request whose copy the business has to delete after a withdrawal, and can confirm on the page. */
const deletionOf = ({ event, account, call }: Facts, bots: readonly Bot[]): string | null =>
  event?.type === 'user_data.withdrawn' && call.response?.status === 204 && bots.some(({ id }) => id === account)
    ? (textAt(event.data, 'id') ?? null)
    : null;

/** Why a trace cannot be sent again; null if it can. */
const fixedReason = (
  { call, event, content, account }: Facts,
  { bots, hasFile }: Required<BoardOptions>,
): string | null => {
  if (event !== undefined) {
    return isReportable(event.type) ? null : 'An event of this type cannot be reported again.';
  }
  if (!bots.some(({ id }) => id === account)) return 'It can be sent again only as a business of the local stack.';
  if (call.path.startsWith('/v1/webhook/')) {
    return content?.type === 'text' ? null : 'Of a platform, only texts can be sent again.';
  }
  if (!call.path.startsWith('/v1/')) return 'Only requests to the API can be sent again.';
  return call.body.startsWith('(') && !hasFile(call.id)
    ? 'Its file is not kept any more: the stack keeps the last 20 uploads.'
    : null;
};
