/**
 * A server that the service posts to. It records calls and returns the responses that the test sets.
 *
 * Accounts retry after the test that made them. So that no other server receives their calls, the system does not assign its
 * port again; and because another of these servers may have the port then, each has a path of its own, and leaves out other calls.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { closeServer, freePort, listenOnLoopback } from '../../../infra/local/aws/loopback.ts';

export interface Call {
  /** The path with the query, within the server's own path. */
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  // biome-ignore lint/suspicious/noExplicitAny: what tests look into is theirs to know
  json: any;
}

/** A status, a status with headers and a body, or a function that writes the response. */
export type Answer =
  | number
  | { status: number; headers?: Record<string, string>; body?: string }
  | ((response: ServerResponse) => void);

export class DestinationServer {
  readonly calls: Call[] = [];
  /** The responses to calls, in order. The last one is repeated. */
  answers: Answer[] = [204];
  /** The maximum number of simultaneous calls. */
  max = 0;
  #pending = 0;
  readonly #server: Server;
  readonly #path = `/${randomUUID()}`;
  readonly url: string;

  private constructor(server: Server, origin: string) {
    this.#server = server;
    this.url = `${origin}${this.#path}/hook`;
    server.on('request', async (request, response) => {
      if (!request.url?.startsWith(`${this.#path}/`)) {
        request.resume();
        response.writeHead(503).end();
        return;
      }
      const path = request.url.slice(this.#path.length);
      request.url = path;
      this.#pending += 1;
      this.max = Math.max(this.max, this.#pending);
      response.once('close', () => {
        this.#pending -= 1;
      });
      const body = await text(request);
      const { headers } = request;
      this.calls.push({
        path,
        headers,
        body,
        get json() {
          return JSON.parse(body);
        },
      });
      const answer = (this.answers.length > 1 ? this.answers.shift() : this.answers[0]) ?? 204;
      if (typeof answer === 'function') answer(response);
      else if (typeof answer === 'number') response.writeHead(answer).end();
      else response.writeHead(answer.status, answer.headers).end(answer.body);
    });
  }

  static async start(): Promise<DestinationServer> {
    const server = createServer();
    return new DestinationServer(server, await listenOnLoopback(server, await freePort()));
  }

  close(): Promise<void> {
    return closeServer(this.#server);
  }
}

/** Never responds. */
export const hang = (): void => undefined;

/** Closes the connection without a response. */
export const drop = (response: ServerResponse): void => void response.destroy();
