/** How tests meet a simulator: as people who ask it, and as the service that it calls. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { closeServer, listenOnLoopback } from '../../../infra/local/aws/loopback.ts';

/** Asks as people do. Answers status and body: as JSON, where it is that. */
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
  const said = await answer.text();
  const isJson = answer.headers.get('content-type')?.includes('json');
  return { status: answer.status, body: isJson ? JSON.parse(said) : said };
};

/**
 * Does all that a simulator's help shows, in order.
 *
 * @param made - puts what is there in place of what the help leaves open
 */
export const tryHelp = async (url: string, made: (example: string) => string | Promise<string> = (it) => it) => {
  const { status, body: help } = await askAt(url, 'GET', '/');
  expect(status).toBe(200);
  const examples = [...String(help).matchAll(/^ {2}curl (?:-X (\w+) )?'?(http[^\s']+)'?(?: -d '(.*?)')?/gm)];
  expect(examples.length).toBe(String(help).match(/curl/g)?.length);
  for (const [, method, address = '', body] of examples) {
    // As curl sends what it is given with -d.
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

/** A status, with a body and its type perhaps; or whatever the function does with the response. */
type Answer = { status: number; type?: string; body?: string } | ((response: ServerResponse) => void);

/** Stands in for the service's bridge host: keeps what it gets, and answers as the test says. */
export const openBridge = async () => {
  const calls: BridgeCall[] = [];
  /** One after the other; the last answer stays. */
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

/** Closes the connection without an answer. */
export const drop = (response: ServerResponse): void => void response.destroy();

/** Answers 200 when the test says so: by a function that it gets once there is a call. */
export const hold = (body = '') => {
  const { promise, resolve } = Promise.withResolvers<() => void>();
  return {
    answer: (response: ServerResponse) => resolve(() => void response.writeHead(200).end(body)),
    called: promise,
  };
};

/** What has to be a time of the simulator. */
export const aTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
export const aUuid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
