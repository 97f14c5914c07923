/** Requests to the app network as they come in, and answers as they go out. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import * as v from 'valibot';

export interface Reply {
  status: number;
  type?: string | null;
  headers?: Record<string, string>;
  body?: string;
}

/** A request that is refused with this status; the message is a sentence for its sender. */
export class HttpRefusal extends Error {
  override readonly name = 'HttpRefusal';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const MAX_BODY = 10 * 1024 * 1024;

/**
 * Reads on past the limit without keeping it, so that the client gets to read the answer.
 *
 * @throws HttpRefusal — 413, it is over 10 MB
 */
export const readBody = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= MAX_BODY) chunks.push(chunk);
  }
  if (size > MAX_BODY) throw new HttpRefusal(413, 'The body must have at most 10 MB.');
  return Buffer.concat(chunks);
};

/** @throws HttpRefusal — 400, it is not JSON */
export const parseJson = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString());
  } catch {
    throw new HttpRefusal(400, 'The body must be JSON.');
  }
};

/**
 * The input as the schema types it.
 *
 * @throws HttpRefusal — 422, with a sentence for each fault
 */
export const check = <Schema extends v.GenericSchema>(schema: Schema, input: unknown): v.InferOutput<Schema> => {
  const { success, output, issues } = v.safeParse(schema, input, { abortPipeEarly: true });
  if (success) return output;
  throw new HttpRefusal(422, issues.map((issue) => `${subjectOf(issue)} ${issue.message}.`).join(' '));
};

/** An object with these fields and no others. */
export const fields = <Entries extends v.ObjectEntries>(entries: Entries) =>
  v.strictObject(entries, ({ path, expected }) => {
    if (path === undefined) return 'must be an object';
    if (expected !== 'never') return 'is required';
    return `is not known: there are ${Object.keys(entries).join(', ')}`;
  });

/** `The body`, `Entry 2`, or `"times" of entry 2`. */
const subjectOf = ({ path }: v.BaseIssue<unknown>): string => {
  const places = (path ?? []).map(({ type, key }) => (type === 'array' ? `entry ${Number(key) + 1}` : `"${key}"`));
  const subject = places.reverse().join(' of ') || 'the body';
  return subject.charAt(0).toUpperCase() + subject.slice(1);
};

export const json = (status: number, value: unknown): Reply => ({
  status,
  type: 'application/json',
  body: JSON.stringify(value),
});

/** What a request is answered that failed with this error. */
export const replyTo = (error: unknown): Reply =>
  error instanceof HttpRefusal ? json(error.status, { message: error.message }) : json(500, { message: String(error) });

export const send = (response: ServerResponse, { status, type, headers, body = '' }: Reply): void => {
  const bodiless = status === 204 || status === 304;
  response.writeHead(status, {
    ...headers,
    ...(!bodiless && type && { 'content-type': type }),
    ...(!bodiless && { 'content-length': Buffer.byteLength(body) }),
  });
  response.end(bodiless ? '' : body);
};
