/** Retries of the operator's command: people wait longer than functions, which have only seconds. */
import { StandardRetryStrategy } from '@smithy/core/retry';
import { documents } from '../../../shared/table/client.ts';

/** Attempts of a call, with growing random pauses: about one second in all, four if AWS throttles. */
export const ATTEMPTS = 5;

/**
 * Makes the table's client of this process repeat calls that fail for a moment: throttling, timeouts, lost connections
 * and errors of the server. The SDK repeats a transaction with the same token, so that it takes effect once.
 */
export const retryPatiently = (): void => {
  const strategy = new StandardRetryStrategy(ATTEMPTS);
  documents.config.retryStrategy = async () => strategy;
};
