/** Reads the secret of hashes, for the functions that hash personal data. */
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { tableTimeoutMs } from '#runtime';
import { hasHashSecret, setHashSecret } from './keyed-hashes.ts';
import { hashSecret } from './settings.ts';

/** Timeouts in milliseconds: those of the table, because a caller waits for the first read of a process. */
const timeouts = { connectionTimeout: 1_000, requestTimeout: tableTimeoutMs, throwOnRequestTimeout: true };

/** The read under way. */
let reading: Promise<void> | undefined;

/** Reads the secret, once for each process: it never changes. */
export const readHashSecret = async (): Promise<void> => {
  if (hasHashSecret()) return;
  reading ??= read().finally(() => {
    reading = undefined;
  });
  await reading;
};

const read = async (): Promise<void> => {
  const secrets = new SecretsManagerClient({ requestHandler: timeouts, maxAttempts: 3 });
  try {
    const { SecretString } = await secrets.send(new GetSecretValueCommand({ SecretId: hashSecret() }));
    if (!SecretString) throw new Error('The secret of hashes has no value.');
    setHashSecret(String(SecretString));
  } finally {
    secrets.destroy();
  }
};

/**
 * Lets a handler hash personal data. The read begins while Lambda initializes the function, at the same time as the other
 * preparations; if it failed, it is repeated before the first event. The function's description has `hashes`.
 */
export const withHashes = <Arguments extends unknown[], Result>(
  handle: (...given: Arguments) => Promise<Result>,
): ((...given: Arguments) => Promise<Result>) => {
  readHashSecret().catch(() => undefined);
  return async (...given) => {
    await readHashSecret();
    return handle(...given);
  };
};
