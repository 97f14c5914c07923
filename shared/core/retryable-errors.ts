/** Errors of a throttled call, and the reasons of a transaction that was cancelled for it ("TransactWriteItems", API reference). */
const THROTTLING = ['ProvisionedThroughputExceededException', 'RequestLimitExceeded', 'ThrottlingException'];
const THROTTLING_REASONS = ['ProvisionedThroughputExceeded', 'ThrottlingError'];

/** Temporary errors of AWS services, by name, or by the code of a connection error: throttling, conflicts, no response. */
const PASSING = new Set([
  ...THROTTLING,
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EPIPE',
  'InternalServerError',
  'LimitExceededException',
  'ServiceUnavailable',
  'TimeoutError',
  'TransactionCanceledException',
  'TransactionConflictException',
  'TransactionInProgressException',
]);

/** Whether a retry in a moment may succeed. The SDK has already made its own retries. */
export const isRetryable = (error: unknown): boolean =>
  error instanceof Error &&
  (PASSING.has(error.name) || ('code' in error && PASSING.has(String(error.code))) || isOfServer(error));

/** Whether the response was 5xx, from a service of AWS or from a proxy. A proxy's response has no error name. */
const isOfServer = (error: Error): boolean =>
  '$metadata' in error && Number(Object(error.$metadata).httpStatusCode) >= 500;

/** Whether the table throttled a call, or a write of a transaction. */
export const isThrottling = (error: unknown): boolean =>
  error instanceof Error &&
  (THROTTLING.includes(error.name) ||
    ('CancellationReasons' in error &&
      [error.CancellationReasons].flat().some((reason) => THROTTLING_REASONS.includes(Object(reason).Code))));
