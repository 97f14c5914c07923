/**
 * Calls of AWS services whose clients are not installed: one call of each does not justify a client. The SDK signs them, with
 * the region and the credentials of its clients.
 */
import type { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';

/** Services by the names of their endpoints and signatures, with the endings of their `AWS_ENDPOINT_URL_…`. */
const SERVICES = { sts: 'STS', ssm: 'SSM', lambda: 'LAMBDA', sns: 'SNS', monitoring: 'CLOUDWATCH' };

type Service = keyof typeof SERVICES;

/** Milliseconds until a call without a response fails. */
const TIMEOUT_MS = 10_000;

/** A call in the protocol of its service: JSON, a form (its response is XML), or a path (REST). */
export type Call = { service: Service } & (
  | { target: string; version: '1.0' | '1.1'; input: object }
  | { form: Record<string, string> }
  | { path: string }
);

type Caller = Pick<CloudFormationClient['config'], 'region' | 'credentials'>;

/**
 * Makes a call. Returns the text of the response.
 *
 * @throws Error — its name is AWS's code of the error; or the system's error if there is no response
 */
export const callAws = async ({ region, credentials }: Caller, call: Call): Promise<string> => {
  const { service } = call;
  const signer = new SignatureV4({ service, region, credentials, sha256: Sha256 });
  const { origin, host, protocol, hostname } = endpointOf(service, await region());
  const { method, path, body, type } = contentOf(call);
  const headers = { host, ...type };
  const signed = await signer.sign({ method, protocol, hostname, path, headers, body });
  // `fetch` sets this header from the URL.
  const { host: _, ...sent } = signed.headers;
  const response = await request(origin + path, { method, headers: sent, ...(method === 'POST' && { body }) });
  const text = await response.text();
  if (response.ok) return text;
  throw Object.assign(new Error(messageIn(text)), {
    name: codeIn(text, response.headers.get('x-amzn-errortype') ?? ''),
    $metadata: { httpStatusCode: response.status },
  });
};

/** How many milliseconds the clock of AWS is ahead of this machine's, to the second. Needs no credentials. */
export const clockDifference = async (region: string): Promise<number> => {
  const { headers } = await request(endpointOf('sts', region).href, { method: 'HEAD', redirect: 'manual' });
  return Date.parse(headers.get('date') ?? '') - Date.now();
};

/** The URL of a service: from the environment, by the rules of the SDK, else the one in the region. */
const endpointOf = (service: Service, region: string): URL => {
  const { AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: ignored, AWS_ENDPOINT_URL: general, ...env } = process.env;
  const configured = ignored === 'true' ? undefined : env[`AWS_ENDPOINT_URL_${SERVICES[service]}`] || general;
  const name = env.AWS_USE_FIPS_ENDPOINT === 'true' ? `${service}-fips` : service;
  return new URL(configured || `https://${name}.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`);
};

interface Content {
  method: 'GET' | 'POST';
  path: string;
  body: string;
  type: Record<string, string>;
}

const contentOf = (call: Call): Content => {
  if ('path' in call) return { method: 'GET', path: call.path, body: '', type: {} };
  if ('form' in call) {
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    return { method: 'POST', path: '/', body: String(new URLSearchParams(call.form)), type };
  }
  const type = { 'content-type': `application/x-amz-json-${call.version}`, 'x-amz-target': call.target };
  return { method: 'POST', path: '/', body: JSON.stringify(call.input), type };
};

/** @throws the system's error, if there is no response */
const request = async (url: string, init: RequestInit): Promise<Response> => {
  try {
    return await fetch(url, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
  } catch (error) {
    throw error instanceof Error && error.cause instanceof Error ? error.cause : error;
  }
};

/** AWS's code of an error: in a header, or in the body as JSON or XML; each protocol has another place for it. */
const codeIn = (text: string, header: string): string =>
  (
    /^[A-Za-z]+/.exec(header) ??
    /"__type":\s*"(?:[^"]*#)?([A-Za-z]+)/.exec(text) ??
    /<Code>([A-Za-z]+)</.exec(text)
  )?.at(-1) ?? 'UnknownError';

const messageIn = (text: string): string => /(?:"[Mm]essage":\s*"|<Message>)([^"<]*)/.exec(text)?.[1] ?? '';

/** The text of each element with this name in an XML document. */
export const elementsIn = (xml: string, name: string): string[] =>
  [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, 'g'))].map(([, text = '']) => text);
