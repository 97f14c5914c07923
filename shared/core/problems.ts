/**
 * The error responses of the API (RFC 9457). This file alone assigns statuses and titles to codes. The domain throws
 * problems by code, with a `detail` that explains what to do.
 */

/** Every code that a function returns. Status and title of a code are fixed; `detail` depends on the case. */
export const problemCatalogue = {
  malformed_body: { status: 400, title: 'The body cannot be read' },
  permission_required: { status: 403, title: 'The token lacks a permission' },
  signature_invalid: { status: 403, title: 'The signature is not valid' },
  address_not_found: { status: 404, title: 'No such path' },
  avatar_not_set: { status: 404, title: 'No avatar' },
  code_not_found: { status: 404, title: 'No such code' },
  claim_not_found: { status: 404, title: 'No such claim' },
  bot_not_found: { status: 404, title: 'No such bot' },
  approval_required: { status: 403, title: 'The user must approve' },
  user_opted_out: { status: 403, title: 'The user has stopped your account' },
  media_not_found: { status: 404, title: 'No such media' },
  delivery_not_found: { status: 404, title: 'No such delivery' },
  job_not_found: { status: 404, title: 'No such job' },
  message_not_found: { status: 404, title: 'No such message' },
  profiler_not_found: { status: 404, title: 'No such profiler' },
  request_not_found: { status: 404, title: 'No such request' },
  token_not_found: { status: 404, title: 'No such token' },
  webhook_not_found: { status: 404, title: 'No such webhook' },
  user_not_found: { status: 404, title: 'No such user' },
  consent_not_ended: { status: 409, title: 'The consent has not ended' },
  already_answered: { status: 409, title: 'The panelist has already answered' },
  job_cancelled: { status: 409, title: 'The job was cancelled' },
  job_not_cancellable: { status: 409, title: 'The job cannot be cancelled' },
  plan_differs: { status: 409, title: 'The request differs from its plan' },
  not_a_session: { status: 409, title: 'Not a session' },
  not_listening: { status: 409, title: 'Events are not delivered to listeners' },
  platform_in_use: { status: 409, title: 'Another chat platform receives the events' },
  webhook_exists: { status: 409, title: 'A webhook has this URL' },
  webhook_limit_reached: { status: 409, title: 'No more webhooks fit' },
  platform_not_set_up: { status: 409, title: 'No chat platform' },
  media_expired: { status: 410, title: 'The media have expired' },
  file_too_large: { status: 413, title: 'The file is too large' },
  unsupported_media_type: { status: 415, title: 'The content type is not supported' },
  invalid_request: { status: 422, title: 'The request is not valid' },
  audience_too_large: { status: 422, title: 'The audience is too large' },
  idempotency_key_reused: { status: 422, title: 'The idempotency key belongs to another request' },
  option_not_found: { status: 422, title: 'No such option' },
  panelist_not_found: { status: 422, title: 'No such panelist' },
  file_type_not_supported: { status: 422, title: 'The type of the file is not supported' },
  events_refused: { status: 422, title: 'Some events were not applied' },
  period_too_large: { status: 422, title: 'The period is too large' },
  profiler_too_large: { status: 422, title: 'The profiler is too large' },
  allowance_exceeded: { status: 429, title: 'The daily allowance is used up' },
  rate_limited: { status: 429, title: 'Too many requests' },
  internal_error: { status: 500, title: 'Something went wrong on our side' },
  unavailable: { status: 503, title: 'The service is busy' },
} as const satisfies Record<string, { status: number; title: string }>;

export type ProblemCode = keyof typeof problemCatalogue;

/**
 * A validation error: by its place in the body (`pointer`, a JSON pointer as URI fragment), or by a parameter's name.
 */
export type ValidationError = { pointer: string; detail: string } | { parameter: string; detail: string };

/** Most validation errors that a response lists: it has at most 6 MB. `detail` contains the number of all. */
const MAX_ERRORS = 1_000;

interface ProblemOptions {
  /** The validation errors, for `invalid_request` and `events_refused`. */
  errors?: ValidationError[];
  /** Most validation errors that are listed. Default: 1,000. */
  mostErrors?: number | undefined;
  /** Seconds after which a retry makes sense. */
  retryAfter?: number;
  /** Further headers of the response, by their lower-case names. */
  headers?: Record<string, string>;
  /** The internal cause. The log contains its name; the response does not. */
  cause?: unknown;
}

/** An error response: code and `detail` are for the caller, `cause` is for the log. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly detail: string;
  readonly errors: ValidationError[] | undefined;
  readonly retryAfter: number | undefined;
  readonly headers: Record<string, string>;

  constructor(code: ProblemCode, detail: string, options: ProblemOptions = {}) {
    const { stackTraceLimit } = Error;
    // Client errors need no stack trace, because only their status is logged. The trace would be their largest cost.
    if (problemCatalogue[code].status < 500) Error.stackTraceLimit = 0;
    super(code, options);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'Problem';
    this.code = code;
    const { errors, mostErrors = MAX_ERRORS, retryAfter, headers = {} } = options;
    const hasMore = errors !== undefined && errors.length > mostErrors;
    this.detail = hasMore ? `${detail} Only the first ${mostErrors} of ${errors.length} are named.` : detail;
    this.errors = hasMore ? errors.slice(0, mostErrors) : errors;
    this.retryAfter = retryAfter;
    this.headers = headers;
  }

  get status(): number {
    return problemCatalogue[this.code].status;
  }
}

/** The problem of a request with validation errors. */
export const invalidRequest = (errors: ValidationError[], mostErrors?: number): Problem =>
  new Problem('invalid_request', 'The request is not valid. See errors.', { errors, mostErrors });
