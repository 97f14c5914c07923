/** Errors of the table that pass, by name or by the code of the connection's: throttling, a conflict, no answer. */
const PASSING = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EPIPE',
  'InternalServerError',
  'LimitExceededException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ServiceUnavailable',
  'ThrottlingException',
  'TimeoutError',
  'TransactionCanceledException',
  'TransactionConflictException',
  'TransactionInProgressException',
]);

/** Whether trying again in a moment may work: the client's own attempts are used up by then. */
export const isRetryable = (error: unknown): boolean =>
  error instanceof Error &&
  (PASSING.has(error.name) || ('code' in error && PASSING.has(String(error.code))) || isOfServer(error));

/** Whether the response was 5xx: from DynamoDB, or from a proxy in front of it, which names no error. */
const isOfServer = (error: Error): boolean =>
  '$metadata' in error && Number(Object(error.$metadata).httpStatusCode) >= 500;
