/**
 * The bucket with the bytes of media: S3 over HTTP, with requests that the SDK's signer signs. For these two calls, the
 * SDK's S3 client would double the size of a bundle.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { fromEnv } from '@aws-sdk/credential-provider-env';
import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import { between } from '../core/clock.ts';
import { Problem } from '../core/problems.ts';
import { mediaBucket, region, USER_AGENT, urlSuffix, usesFips } from '../core/settings.ts';

/** Milliseconds that a call may take, with all its attempts. Within AWS, 4 MB take 0.1 s. */
const TIMEOUT_MS = 6_000;
/** Retries while the bucket is busy, and the longest pause before the first one, in milliseconds. */
const RETRIES = { max: 2, pause: 50 };
/** The status of S3 if it asks for fewer requests. */
const TOO_MANY_REQUESTS = 429;

interface ObjectRequest {
  method: 'PUT' | 'GET' | 'DELETE';
  headers?: Record<string, string>;
  body?: Uint8Array<ArrayBuffer>;
}

/** Puts an object. With `sha256`, in hexadecimal, the bucket rejects corrupted content. */
export const putObject = async (key: string, bytes: Uint8Array<ArrayBuffer>, sha256: string): Promise<void> => {
  const { status } = await call(key, { method: 'PUT', body: bytes, headers: { 'x-amz-content-sha256': sha256 } });
  if (status >= 300) throw new Error(`The bucket answered ${status}.`);
};

/** The bytes of an object; undefined if it does not exist. */
export const getObject = async (key: string): Promise<Uint8Array<ArrayBuffer> | undefined> => {
  const { status, bytes } = await call(key, { method: 'GET' });
  // S3 returns 403 for a missing object if the caller may not list the bucket.
  if (status === 404 || status === 403) return undefined;
  if (status >= 300) throw new Error(`The bucket answered ${status}.`);
  return bytes;
};

/** Removes an object, if it exists. */
export const removeObject = async (key: string): Promise<void> => {
  const { status } = await call(key, { method: 'DELETE' });
  if (status >= 300) throw new Error(`The bucket answered ${status}.`);
};

/** @throws unavailable — the bucket is busy or unreachable, or its response is incomplete */
const call = async (
  key: string,
  request: ObjectRequest,
): Promise<{ status: number; bytes: Uint8Array<ArrayBuffer> }> => {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const answered = async () => {
    const response = await sendUntilAccepted(key, request, signal);
    return { response, bytes: new Uint8Array(await response.arrayBuffer()) };
  };
  // A retry, because the bucket may have closed a kept connection while the function was frozen. All calls can be
  // repeated.
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

/** Sends a request. While the bucket is busy, it is sent again after growing pauses. */
const sendUntilAccepted = async (key: string, request: ObjectRequest, signal: AbortSignal): Promise<Response> => {
  for (let attempt = 0; ; attempt += 1) {
    const response = await send(key, request, signal);
    const isBusy = response.status >= 500 || response.status === TOO_MANY_REQUESTS;
    if (!isBusy || attempt === RETRIES.max) return response;
    await response.body?.cancel();
    await pause(between(0, RETRIES.pause * 2 ** attempt), undefined, { signal });
  }
};

/** Lambda renews the credentials in the environment before they expire. For S3, paths must not be escaped twice. */
const signer = new SignatureV4({
  service: 's3',
  region: async () => region(),
  credentials: fromEnv(),
  sha256: Sha256,
  uriEscapePath: false,
});

const send = async (
  key: string,
  { method, headers = {}, body }: ObjectRequest,
  signal: AbortSignal,
): Promise<Response> => {
  const url = objectUrl(key);
  const { protocol, hostname, pathname: path, host } = url;
  const signed = await signer.sign({ method, protocol, hostname, path, headers: { ...headers, host }, body });
  // `fetch` sets this header from the URL.
  const { host: _, ...sent } = signed.headers;
  return fetch(
    new Request(url, { method, headers: { ...sent, 'user-agent': USER_AGENT }, signal, ...(body && { body }) }),
  );
};

/** The URL of an object: on AWS, or at the endpoint from the environment, with the bucket in the path. */
const objectUrl = (key: string): URL => {
  const endpoint = configuredEndpoint();
  return new URL(
    endpoint === undefined
      ? `https://${mediaBucket()}.${usesFips() ? 's3-fips' : 's3'}.${region()}.${urlSuffix()}/${key}`
      : `${endpoint.replace(/\/$/, '')}/${mediaBucket()}/${key}`,
  );
};

/** The endpoint from the environment, by the rules of the SDK: the one for S3, else the one for all services. */
const configuredEndpoint = (): string | undefined => {
  const { AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, AWS_IGNORE_CONFIGURED_ENDPOINT_URLS } = process.env;
  if (AWS_IGNORE_CONFIGURED_ENDPOINT_URLS === 'true') return undefined;
  return AWS_ENDPOINT_URL_S3 || AWS_ENDPOINT_URL || undefined;
};
