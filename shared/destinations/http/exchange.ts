/**
 * One HTTP exchange: a request, and its response or the reason why there is none. A timer limits the exchange in all
 * cases. A complete status line with headers counts as a response, also if the body is incomplete.
 */
import type { ClientRequest, IncomingMessage } from 'node:http';
import { scaled } from '../../core/clock.ts';
import { DeliveryError, type OutboundResponse } from './request.ts';

/** Milliseconds that an exchange may take, from the look-up of the name to the end of the body. */
const LIMIT_MS = 10_000;
/** Milliseconds that the body may take after the headers. */
const BODY_LIMIT_MS = 2_000;
/** Bytes of a body that are read. */
const MAX_BODY = 65_536;
/** Characters of a body that are returned. */
const MAX_TEXT = 10_000;

/** Begins a request: on a kept connection, if there is one, or on a new connection. */
export type Send = (connection: 'kept' | 'new') => ClientRequest;

/**
 * Exchanges a request for a response within 10 s. Afterwards no connection has unread bytes: either the body was read
 * to its end, or the connection is closed. So a function that is frozen between invocations leaves nothing unfinished.
 *
 * @throws DeliveryError — `timeout`, `no_connection`, `invalid_response`, or an error of the name look-up
 */
export const exchange = async (send: Send): Promise<Required<OutboundResponse>> => {
  const { promise, resolve, reject } = Promise.withResolvers<Required<OutboundResponse>>();
  let request: ClientRequest | undefined;
  let response: PartialResponse | undefined;
  let isOver = false;

  const receive = (message: IncomingMessage): void => {
    response = new PartialResponse(message, resolve);
  };

  const begin = (connection: 'kept' | 'new'): ClientRequest => {
    const begun = send(connection);
    let bytesBefore = 0;
    begun.once('socket', (socket) => {
      bytesBefore = socket.bytesRead;
    });
    begun.once('response', receive);
    // Without a listener, Node.js drops the connection and reports nothing.
    begun.once('upgrade', (message, socket) => {
      socket.destroy();
      receive(message);
    });
    begun.on('error', (error) => {
      // After a response, errors do not change the result.
      if (isOver || response !== undefined) return;
      const isUnanswered = begun.socket === null || begun.socket.bytesRead === bytesBefore;
      // The server closed the kept connection before it read the request.
      if (begun.reusedSocket && isUnanswered && wasClosed(error)) request = begin('new');
      else reject(error);
    });
    return begun;
  };

  const limit = setTimeout(() => {
    if (response === undefined) reject(new DeliveryError('timeout'));
    else response.end();
  }, scaled(LIMIT_MS));
  try {
    request = begin('kept');
    return await promise;
  } catch (error) {
    throw failureOf(error);
  } finally {
    isOver = true;
    clearTimeout(limit);
    response?.end();
    // Has no effect on a connection that is kept.
    request?.destroy();
  }
};

/** A response whose headers have arrived. It ends with its body, or at a limit. */
class PartialResponse {
  readonly #message: IncomingMessage;
  readonly #done: (answer: Required<OutboundResponse>) => void;
  readonly #limit: NodeJS.Timeout;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(message: IncomingMessage, done: (answer: Required<OutboundResponse>) => void) {
    this.#message = message;
    this.#done = done;
    this.#limit = setTimeout(() => this.end(), scaled(BODY_LIMIT_MS));
    message.on('data', (chunk: Buffer) => this.#take(chunk));
    for (const event of ['end', 'error', 'close']) message.on(event, () => this.end());
  }

  #take(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > MAX_BODY) this.end();
  }

  end(): void {
    clearTimeout(this.#limit);
    const { statusCode = 0, headers } = this.#message;
    this.#done({
      status: statusCode,
      headers,
      body: Buffer.concat(this.#chunks).toString().slice(0, MAX_TEXT),
    });
  }
}

/** Whether the error means that the server closed the connection. */
const wasClosed = (error: NodeJS.ErrnoException): boolean => error.code === 'ECONNRESET' || error.code === 'EPIPE';

const failureOf = (error: unknown): DeliveryError => {
  if (error instanceof DeliveryError) return error;
  const isParseError = error instanceof Error && 'code' in error && String(error.code).startsWith('HPE_');
  return new DeliveryError(isParseError ? 'invalid_response' : 'no_connection', { cause: error });
};
