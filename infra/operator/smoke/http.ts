/** Requests of the smoke test to both hosts, and what is wrong with a response, in words without secrets. */
import * as v from 'valibot';
import type { Deployment } from '../target.ts';

/** A step that did not find what it expected. The message says what. */
export class StepFailure extends Error {
  override readonly name = 'StepFailure';
}

/** Milliseconds for a response: longer than API Gateway waits for a function. */
const TIMEOUT_MS = 35_000;

interface Request {
  method?: 'GET' | 'HEAD' | 'POST' | 'DELETE';
  /** The path with the query. */
  path: string;
  /** The path in error messages, if the path itself contains a secret. */
  shown?: string;
  token?: string;
  headers?: Record<string, string>;
  body?: object | URLSearchParams | FormData;
}

export interface Received {
  status: number;
  headers: Headers;
  bytes: Uint8Array;
  /** The method and the path, for error messages. */
  request: string;
}

export class Hosts {
  readonly #urls: NonNullable<Deployment['hosts']>;
  readonly #signal: AbortSignal;

  constructor(urls: NonNullable<Deployment['hosts']>, signal: AbortSignal) {
    this.#urls = urls;
    this.#signal = signal;
  }

  /** Sends a request to the API host. @throws StepFailure — there is no response */
  base(request: Request): Promise<Received> {
    return this.#send(this.#urls.base, request);
  }

  /** Sends a request to the bridge host. @throws StepFailure — there is no response */
  bridge(request: Request): Promise<Received> {
    return this.#send(this.#urls.bridge, request);
  }

  async #send(host: string, { method = 'GET', path, shown = path, token, headers, body }: Request): Promise<Received> {
    const request = `${method} ${shown.split('?')[0]}`;
    const signal = AbortSignal.any([this.#signal, AbortSignal.timeout(TIMEOUT_MS)]);
    try {
      const response = await fetch(`${host}${path}`, {
        method,
        signal,
        redirect: 'manual',
        headers: {
          ...headers,
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          // fetch sets the content type of a form.
          ...(body !== undefined && !isForm(body) && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: isForm(body) ? body : JSON.stringify(body) }),
      });
      return { status: response.status, headers: response.headers, bytes: await response.bytes(), request };
    } catch (error) {
      this.#signal.throwIfAborted();
      throw new StepFailure(`${request}: no response (${causeOf(error)})`);
    }
  }
}

const isForm = (body: object): body is URLSearchParams | FormData =>
  body instanceof URLSearchParams || body instanceof FormData;

/** The code of a network error, without addresses. */
const causeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown';
  const { cause } = error;
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : error.name;
};

/** Checks the status of a response. @throws StepFailure — it is another one */
export const expectStatus = (received: Received, status: number, code?: string): Received => {
  const problem = problemIn(received);
  if (received.status === status && (code === undefined || problem?.code === code)) return received;
  const expected = [status, code].filter((part) => part !== undefined).join(' ');
  const found = [received.status, problem?.code].filter((part) => part !== undefined).join(' ');
  const trace = problem?.trace_id ?? received.headers.get('apigw-requestid');
  throw new StepFailure(`${received.request} returned ${found}, not ${expected}${trace ? ` (trace ${trace})` : ''}`);
};

const problem = v.object({ code: v.string(), trace_id: v.optional(v.string()) });

/** The code and the trace of a problem document; undefined if the response is none. */
const problemIn = (received: Received): v.InferOutput<typeof problem> | undefined => {
  const { success, output } = v.safeParse(v.pipe(v.string(), v.parseJson(), problem), textOf(received));
  return success ? output : undefined;
};

/** The body of a response with the status 200. @throws StepFailure — it has another status or form */
export const bodyOf = <Body>(received: Received, schema: v.GenericSchema<unknown, Body>): Body => {
  expectStatus(received, 200);
  const { success, output } = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), textOf(received));
  if (!success) throw new StepFailure(`${received.request} returned a body of another form`);
  return output;
};

const textOf = ({ bytes }: Received): string => new TextDecoder().decode(bytes);

/** @throws StepFailure — the condition is false */
export const check = (condition: boolean, otherwise: string): void => {
  if (!condition) throw new StepFailure(otherwise);
};
