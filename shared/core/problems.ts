/**
 * The errors that the API answers (RFC 9457). This is the one place that gives a code its status and title;
 * the modules of the domain throw problems by code and say, in `detail`, what to do.
 */

/** Every code a function answers. `detail` differs from case to case; code, status and title never do. */
export const problemCatalogue = {
  malformed_body: { status: 400, title: 'The body cannot be read' },
  permission_required: { status: 403, title: 'The token lacks a permission' },
  signature_invalid: { status: 403, title: 'The signature is not valid' },
  address_not_found: { status: 404, title: 'No such path' },
  bot_not_found: { status: 404, title: 'No such bot' },
  approval_required: { status: 403, title: 'The user must approve' },
  media_not_found: { status: 404, title: 'No such media' },
  profiler_not_found: { status: 404, title: 'No such profiler' },
  request_not_found: { status: 404, title: 'No such request' },
  user_not_found: { status: 404, title: 'No such user' },
  already_answered: { status: 409, title: 'The panelist has already answered' },
  media_expired: { status: 410, title: 'The media have expired' },
  file_too_large: { status: 413, title: 'The file is too large' },
  unsupported_media_type: { status: 415, title: 'The content type is not supported' },
  invalid_request: { status: 422, title: 'The request is not valid' },
  idempotency_key_reused: { status: 422, title: 'The idempotency key belongs to another request' },
  option_not_found: { status: 422, title: 'No such option' },
  panelist_not_found: { status: 422, title: 'No such panelist' },
  file_type_not_supported: { status: 422, title: 'The type of the file is not supported' },
  events_refused: { status: 422, title: 'Some events were not applied' },
  period_too_large: { status: 422, title: 'The period is too large' },
  profiler_too_large: { status: 422, title: 'The profiler is too large' },
  internal_error: { status: 500, title: 'Something went wrong on our side' },
  unavailable: { status: 503, title: 'The service is busy' },
} as const satisfies Record<string, { status: number; title: string }>;

export type ProblemCode = keyof typeof problemCatalogue;

/** One fault of a request: a place in the body (`pointer`, a JSON pointer as URI fragment) or a parameter's name. */
export type ValidationError = { pointer: string; detail: string } | { parameter: string; detail: string };

/** More faults than this are counted, not named: an answer has at most 6 MB. */
const MAX_FAULTS = 1_000;

interface ProblemOptions {
  /** One entry per fault, for `invalid_request` and `events_refused`. */
  faults?: ValidationError[];
  /** Seconds after which trying again makes sense. */
  retryAfter?: number;
  /** Headers that say more, by their lower-case names. */
  headers?: Record<string, string>;
  /** What happened inside; logged by its name, never answered. */
  cause?: unknown;
}

/** An error with two faces: code and `detail` are for the caller, `cause` is for us. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly detail: string;
  readonly faults: ValidationError[] | undefined;
  readonly retryAfter: number | undefined;
  readonly headers: Record<string, string>;

  constructor(code: ProblemCode, detail: string, options: ProblemOptions = {}) {
    const { stackTraceLimit } = Error;
    // What the caller is to mend is logged by its status alone: tracing it would be the dearest part of refusing it.
    if (problemCatalogue[code].status < 500) Error.stackTraceLimit = 0;
    super(code, { cause: options.cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'Problem';
    this.code = code;
    const { faults, retryAfter, headers = {} } = options;
    const hasMore = faults !== undefined && faults.length > MAX_FAULTS;
    this.detail = hasMore ? `${detail} Only the first ${MAX_FAULTS} of ${faults.length} are named.` : detail;
    this.faults = hasMore ? faults.slice(0, MAX_FAULTS) : faults;
    this.retryAfter = retryAfter;
    this.headers = headers;
  }

  get status(): number {
    return problemCatalogue[this.code].status;
  }
}

/** A request with faults, all of them named at once. */
export const invalidRequest = (faults: ValidationError[]): Problem =>
  new Problem('invalid_request', 'The request is not valid. See errors.', { faults });
