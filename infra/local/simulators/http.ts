/** Requests to a simulator as they come in, and answers as they go out. */
import type { IncomingMessage, ServerResponse } from 'node:http';

export interface Reply {
  status: number;
  type?: string | null;
  headers?: Record<string, string>;
  body?: string;
}

/** An answer that goes on until its reader leaves, or the simulator closes. */
export interface Stream {
  headers: Record<string, string>;
  /** Begins to write. Answers a function that ends it: it is called once nobody reads any more. */
  open(write: (text: string) => void): () => void;
}

/** What becomes of a request: an answer, one that goes on, a closed connection, or nothing at all. */
export type Answer = Reply | Stream | 'drop' | 'hang';

/** A request that is refused with this status; the message is a sentence for its sender. */
export class HttpRefusal extends Error {
  override readonly name = 'HttpRefusal';
  readonly status: number;
  readonly body: object;

  /** @param body - what is answered; the message alone, where none is given */
  constructor(status: number, message: string, body: object = { message }) {
    super(message);
    this.status = status;
    this.body = body;
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

export const json = (status: number, value: unknown): Reply => ({
  status,
  type: 'application/json',
  body: JSON.stringify(value),
});

/** What a request is answered that failed with this error. */
export const replyTo = (error: unknown): Reply =>
  error instanceof HttpRefusal ? json(error.status, error.body) : json(500, { message: String(error) });

/** Begins an answer that goes on. */
export const stream = (response: ServerResponse, { headers, open }: Stream): void => {
  response.writeHead(200, headers);
  response.flushHeaders();
  response.once(
    'close',
    open((text) => void response.write(text)),
  );
};

export const send = (response: ServerResponse, { status, type, headers, body = '' }: Reply): void => {
  const bodiless = status === 204 || status === 304;
  response.writeHead(status, {
    ...headers,
    ...(!bodiless && type && { 'content-type': type }),
    ...(!bodiless && { 'content-length': Buffer.byteLength(body) }),
  });
  response.end(bodiless ? '' : body);
};
