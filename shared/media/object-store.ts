/**
 * The bucket that holds the bytes of media: S3 over HTTP, with signed requests. The SDK's client would make a bundle
 * twice as large for two calls.
 */
import { AwsClient } from 'aws4fetch';
import { Problem } from '../core/problems.ts';
import { mediaBucket } from '../core/settings.ts';

/** Milliseconds that a call may take, attempts included: 4 MB within AWS take a tenth of a second. */
const PATIENCE = 6_000;
/** Attempts after the first, where the bucket is busy. */
const RETRIES = 2;

/** Puts an object. `sha256` in hexadecimal: the bucket rejects other content. */
export const putObject = async (key: string, bytes: Uint8Array<ArrayBuffer>, sha256: string): Promise<void> => {
  const { status } = await call(key, { method: 'PUT', body: bytes, headers: { 'x-amz-content-sha256': sha256 } });
  if (status >= 300) throw new Error(`The bucket answered ${status}.`);
};

/** The bytes of an object; nothing, where there is none. */
export const getObject = async (key: string): Promise<Uint8Array<ArrayBuffer> | undefined> => {
  // Stryker disable next-line StringLiteral: It is Node's default.
  const { status, bytes } = await call(key, { method: 'GET' });
  // S3 returns 403 for an object that is not there, if the caller may not list the bucket.
  if (status === 404 || status === 403) return undefined;
  if (status >= 300) throw new Error(`The bucket answered ${status}.`);
  return bytes;
};

/** @throws unavailable — the bucket is busy, or cannot be reached, or ends in the middle of its answer */
const call = async (key: string, init: RequestInit): Promise<{ status: number; bytes: Uint8Array<ArrayBuffer> }> => {
  const signal = AbortSignal.timeout(PATIENCE);
  const answered = async () => {
    const response = await signer().fetch(addressOf(key), { ...init, signal });
    return { response, bytes: new Uint8Array(await response.arrayBuffer()) };
  };
  // The bucket may have closed a kept connection while the function was frozen: both calls can be repeated.
  const repeated = (error: unknown) => (signal.aborted ? Promise.reject(error) : answered());
  const { response, bytes } = await answered()
    .catch(repeated)
    .catch((cause: unknown) => {
      throw new Problem('unavailable', 'Retry in a moment.', { retryAfter: 1, cause });
    });
  const { status } = response;
  if (status < 500) return { status, bytes };
  const cause = new Error(`The bucket answered ${status}.`);
  throw new Problem('unavailable', 'Retry in a moment.', { retryAfter: 1, cause });
};

/** Lambda gives credentials through the environment, anew before they run out. */
const signer = (): AwsClient => {
  // Stryker disable next-line StringLiteral: It never happens; only the compiler asks for it.
  const { AWS_ACCESS_KEY_ID = '', AWS_SECRET_ACCESS_KEY = '', AWS_SESSION_TOKEN, AWS_REGION = '' } = process.env;
  return new AwsClient({
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
    // Stryker disable next-line ConditionalExpression: The table and JSON leave out a value that is undefined.
    ...(AWS_SESSION_TOKEN !== undefined && { sessionToken: AWS_SESSION_TOKEN }),
    service: 's3',
    region: AWS_REGION,
    retries: RETRIES,
  });
};

const addressOf = (key: string): string => {
  const { AWS_ENDPOINT_URL_S3, AWS_REGION } = process.env;
  return AWS_ENDPOINT_URL_S3
    ? `${AWS_ENDPOINT_URL_S3}/${mediaBucket()}/${key}`
    : `https://${mediaBucket()}.s3.${AWS_REGION}.amazonaws.com/${key}`;
};
