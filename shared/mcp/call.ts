/** Calls of the API by tools, with the token of the client. */
import { addressOf } from '../api/address.ts';

/** What a tool cannot do, in words for the client. */
export class ToolError extends Error {}

/** How tools reach the API. */
export interface Connection {
  /** The URL of the API host, without a slash at its end. */
  url: string;
  /** The header Authorization of the client. */
  authorization: string;
}

export interface Call {
  method: 'GET' | 'POST';
  /** With the names of its parameters. */
  path: string;
  values?: Record<string, unknown>;
  query?: Record<string, unknown>;
  headers?: Record<string, string>;
  body?: object;
}

/** The body of a successful response; undefined if it has none. */
interface Reply {
  body: unknown;
  /** The position of the next page of a list. */
  nextCursor: string | undefined;
}

/** Milliseconds for a response: less than the function has, and more than a long poll of a tool takes. */
const TIMEOUT_MS = 26_000;

/**
 * Calls an endpoint.
 *
 * @throws ToolError — the API has rejected the request, or has not answered
 */
export const call = async (
  { url, authorization }: Connection,
  { method, path, values = {}, query = {}, headers, body }: Call,
): Promise<Reply> => {
  const response = await fetch(url + addressOf(path, values, query), {
    method,
    headers: { ...headers, authorization, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
    // The token is for this host only.
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch(() => undefined);
  const text = await response?.text().catch(() => undefined);
  if (response === undefined || text === undefined)
    throw new ToolError('The API did not answer. Try again in a moment.');
  const answer = parsed(text);
  if (!response.ok || (answer === undefined && text !== '')) throw new ToolError(reasonOf(response, Object(answer)));
  const next = /<([^>]+)>;\s*rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
  return { body: answer, nextCursor: next && (new URL(next, url).searchParams.get('cursor') ?? undefined) };
};

/** What is wrong, from a problem document, or from an error of API Gateway. */
const reasonOf = ({ status, headers }: Response, problem: Record<string, unknown>): string => {
  const { code, detail, message, errors, trace_id } = problem;
  const wait = headers.get('retry-after');
  return JSON.stringify({
    ...{ status, code, detail: detail ?? message, errors, trace_id },
    ...(wait !== null && { retry_after_seconds: Number(wait) }),
  });
};

/** JSON; undefined if a text is none. */
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
