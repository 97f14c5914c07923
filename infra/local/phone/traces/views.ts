/** The data of Activity and of the inspector. Times are milliseconds since 1970. */

/** Where a call goes: to the service, or from it to a destination. */
export type Server = 'service' | 'app' | 'rapidpro' | 'turn';

/** A request and its response, without tokens. */
export interface Call {
  id: string;
  server: Server;
  time: number;
  ms: number;
  method: string;
  /** Scheme, host and port. */
  origin: string;
  /** Path and query; `$TOKEN` instead of a token. */
  path: string;
  /** The service's route; for calls of destinations, the path. */
  route: string;
  /** The account in whose name the call was made; null if unknown. */
  account: string | null;
  headers: Record<string, string>;
  body: string;
  /** Null if there was no response. */
  response: { status: number; headers: Record<string, string>; body: string } | null;
}

export type StageState = 'done' | 'active' | 'failed' | 'empty';

/** Accepted, stored, queued, delivered, read. */
export type Stages = [StageState, StageState, StageState, StageState, StageState];

type Tone = 'ok' | 'warn' | 'bad' | 'plain';

type TraceIcon =
  | 'chat'
  | 'picture'
  | 'file'
  | 'place'
  | 'reply'
  | 'shield'
  | 'list'
  | 'layers'
  | 'upload'
  | 'person'
  | 'cross'
  | 'activity';

/** A row of Activity. */
export interface TraceRow {
  id: string;
  time: number;
  icon: TraceIcon;
  /** Whether the user caused it. */
  byUser: boolean;
  title: string;
  preview: string;
  kind: 'messages' | 'consent' | 'profilers' | 'other';
  account: string | null;
  phone: string | null;
  route: string;
  /** The status of the response to its request. */
  status: number;
  /** What became of it. `retryAt` replaces the words by a countdown. */
  outcome: { words: string; tone: Tone; retryAt: number | null };
  /** Null for requests that deliver nothing. */
  stages: Stages | null;
  isPending: boolean;
  isFailed: boolean;
  /** Whether the page itself caused it. */
  isOwn: boolean;
  /** The first of the ids by which it is found, in addition to its own: of its message, its job, its event. */
  ids: string[];
}

/** What lists select: each filter that is not empty. */
export interface Filters {
  kind: 'all' | 'messages' | 'consent' | 'profilers' | 'pending' | 'failed';
  /** The id of an account. */
  business: string;
  /** The number of a user. */
  of: string;
  route: string;
  /** `2xx`, `4xx`, `5xx`, or `none` for a call without a response. */
  status: string;
  /** The searched text. */
  q: string;
}

/** Of all kept rows, with and without filters. */
export interface ListCounts {
  /** How many rows the filters select. The list shows the first 250 of them. */
  found: number;
  /** How many rows the page itself caused. */
  own: number;
  /** The routes of the rows, in the order of the alphabet. */
  routes: string[];
}

/** `/view/traces`, with the filters and `own` in the query: the kept traces that they select, newest first. */
export interface TraceList extends ListCounts {
  rows: TraceRow[];
  /** How many of all kept traces are pending, and failed; without those of the page itself, unless `own` is set. */
  pending: number;
  failed: number;
  /** Whether profilers are among them. */
  hasProfilers: boolean;
  /** The times from acceptance to delivery of the last single messages, in milliseconds, the oldest first. */
  deliveryMs: number[];
  destinations: DestinationStats[];
}

/** How long a call took, and whether it was accepted. */
export interface CallResult {
  ms: number;
  ok: boolean;
}

/** The last calls of a destination, the oldest first. */
export interface DestinationStats {
  server: Exclude<Server, 'service'>;
  name: string;
  /** Where the service calls it. */
  url: string;
  calls: readonly CallResult[];
}

/** `/view/calls`, with the query of `/view/traces`: newest first. */
export interface CallList extends ListCounts {
  rows: CallRow[];
}

/** A row of the list of calls. */
export interface CallRow extends Pick<Call, 'id' | 'time' | 'ms' | 'server' | 'route' | 'account'> {
  phone: string | null;
  /** Null without a response. */
  status: number | null;
  /** The trace that it belongs to. */
  trace: string | null;
  isOwn: boolean;
}

/** `/view/calls/{id}` */
export interface CallView extends CallRow {
  call: Call;
}

/** A step in the life of a trace. */
export interface Step {
  state: 'done' | 'failed' | 'scheduled' | 'expected' | 'circuit';
  title: string;
  /** What follows the title, and a sentence below it. */
  detail?: string;
  note?: string;
  /** A route or another text of a program. */
  code?: string;
  status?: number | 'no response';
  /** How long the call took. */
  ms?: number;
  /** When it happened, or is due. */
  time?: number;
  call?: Call;
  /** The trace that caused it. */
  trace?: string;
  retry?: RetryScale;
}

/** A scheduled retry: how many attempts have failed, and where the next one is on the scale. */
export interface RetryScale {
  failed: number;
  at: number;
  /** When the last attempt is made. */
  until: number;
  /** Milliseconds from one attempt to the next, without their jitter. The last one repeats. */
  steps: readonly number[];
}

/** A trace with its life: `/view/traces/{id}`; the id may also be that of a message, request, or event. */
export interface TraceView extends TraceRow {
  subject: { kind: 'Message' | 'Request' | 'Job'; id: string } | null;
  business: { name: string; number: string } | null;
  person: { phone: string; name: string | null } | null;
  /** The direction of a message between user and business. */
  toUser: boolean;
  tookMs: number | null;
  readMs: number | null;
  steps: Step[];
  /** Why it cannot be sent again; null if it can. */
  fixed: string | null;
  /** The user data request whose copy its business has to delete; null if none. */
  deletion: string | null;
  canRetry: boolean;
}
