/** Helpers for tests of the simulators: requests to them, and a server in place of the service. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { expect } from 'vitest';
import { closeServer, listenOnLoopback } from '../../../infra/local/aws/loopback.ts';

/** Sends a request. Returns status and body; a JSON body is parsed. */
export const askAt = async (
  url: string,
  method: string,
  path: string,
  body?: unknown,
  // biome-ignore lint/suspicious/noExplicitAny: what tests look into is theirs to know
): Promise<{ status: number; body: any }> => {
  const answer = await fetch(url + path, {
    method,
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const raw = await answer.text();
  const isJson = answer.headers.get('content-type')?.includes('json');
  return { status: answer.status, body: isJson ? JSON.parse(raw) : raw };
};

/** The headers with which the service signs a body. */
export const signatureOf = (secret: string, body: string, id: string = crypto.randomUUID(), time = new Date()) => ({
  'webhook-id': id,
  'webhook-timestamp': `${Math.floor(time.getTime() / 1000)}`,
  'webhook-signature': new Webhook(secret).sign(id, time, body),
});

/**
 * Executes all requests in a simulator's help text, in order.
 *
 * @param made - replaces placeholders in an example
 */
export const tryHelp = async (url: string, made: (example: string) => string | Promise<string> = (it) => it) => {
  const { status, body: help } = await askAt(url, 'GET', '/');
  expect(status).toBe(200);
  const examples = [...String(help).matchAll(/^ {2}curl (?:-X (\w+) )?'?(http[^\s']+)'?(?: -d '(.*?)')?/gm)];
  expect(examples.length).toBe(String(help).match(/curl/g)?.length);
  for (const [, method, address = '', body] of examples) {
    // The content type that curl sends with -d.
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const reply = await fetch(await made(address), {
      method: method ?? (body ? 'POST' : 'GET'),
      ...(body && { body, headers }),
    });
    expect([address, reply.status]).toEqual([address, expect.toSatisfy((is) => is === 200 || is === 204)]);
    await reply.body?.cancel();
  }
};

interface BridgeCall {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A status with an optional body and content type, or a function that writes the response. */
type Answer = { status: number; type?: string; body?: string } | ((response: ServerResponse) => void);

/** A server in place of the service's bridge host. It records requests and sends the test's responses. */
export const openBridge = async () => {
  const calls: BridgeCall[] = [];
  /** The responses in order; the last one repeats. */
  const answers: Answer[] = [{ status: 200 }];
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    calls.push({ method, url, headers, body: await text(request) });
    const answer = (answers.length > 1 ? answers.shift() : answers[0]) ?? { status: 200 };
    if (typeof answer === 'function') answer(response);
    else response.writeHead(answer.status, answer.type ? { 'content-type': answer.type } : {}).end(answer.body);
  });
  const url = await listenOnLoopback(server, 0);
  return {
    url,
    calls,
    answerWith: (...next: Answer[]) => void answers.splice(0, answers.length, ...next),
    close: () => closeServer(server),
  };
};

export type Bridge = Awaited<ReturnType<typeof openBridge>>;

/** Closes the connection without a response. */
export const drop = (response: ServerResponse): void => void response.destroy();

/** Responds 200 when the test calls the function that `called` resolves to. */
export const hold = (body = '') => {
  const { promise, resolve } = Promise.withResolvers<() => void>();
  return {
    answer: (response: ServerResponse) => resolve(() => void response.writeHead(200).end(body)),
    called: promise,
  };
};

/** The format of the simulators' times. */
export const aTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
export const aUuid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
