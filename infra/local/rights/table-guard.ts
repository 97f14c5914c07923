/**
 * Stands between the functions and the database and holds every call against the role of the function that makes it:
 * what IAM would refuse in AWS is refused here.
 */
import { Agent, createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { closeServer, listenOnLoopback } from '../loopback.ts';
import type { Writes } from '../sources/writes.ts';
import { touchesOf } from './policies.ts';
import { callerOf, OPERATOR, type Roles } from './roles.ts';

export class TableGuard {
  readonly #endpoint: string;
  readonly #roles: Roles;
  readonly #writes: Writes;
  readonly #server: Server;
  readonly #agent = new Agent({ keepAlive: true });
  #table = '';

  constructor(endpoint: string, roles: Roles, writes: Writes) {
    this.#endpoint = endpoint;
    this.#roles = roles;
    this.#writes = writes;
    this.#server = createServer((incoming, outgoing) => void this.#handle(incoming, outgoing));
  }

  /** Takes a free port. Answers the address that functions find the table at. */
  listen(): Promise<string> {
    return listenOnLoopback(this.#server, 0);
  }

  /** Guards the table of this logical id from now on. */
  guard(table: string): void {
    this.#table = table;
  }

  async close(): Promise<void> {
    this.#agent.destroy();
    await closeServer(this.#server);
  }

  async #handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    try {
      const body = await buffer(incoming);
      const refusal = this.#judge(incoming, body);
      if (refusal === undefined) this.#forward(incoming, body, outgoing);
      else refuse(outgoing, refusal);
    } catch {
      outgoing.destroy();
    }
  }

  /** Why a call is refused; nothing, if it is allowed. */
  #judge({ headers }: IncomingMessage, body: Buffer): string | undefined {
    if (callerOf(headers) === OPERATOR) return undefined;
    const action = String(headers['x-amz-target']).replace(/^.*\./, '');
    const touches = touchesOf(this.#table, action, JSON.parse(body.toString()));
    // A call that touches nothing is one that we do not understand.
    const unclear = { action: `dynamodb:${action}`, resource: 'nothing' };
    return this.#roles.refusal(callerOf(headers), touches.length > 0 ? touches : [unclear]);
  }

  #forward({ method, headers }: IncomingMessage, body: Buffer, outgoing: ServerResponse): void {
    const call = request(this.#endpoint, { method, headers, agent: this.#agent }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
      if (!READS.test(String(headers['x-amz-target']))) this.#writes.note();
    });
    call.once('error', () => outgoing.destroy());
    call.end(body);
  }
}

/** Actions that change nothing. */
const READS = /\.(GetItem|Query|BatchGetItem|TransactGetItems)$/;

const refuse = (outgoing: ServerResponse, message: string): void => {
  outgoing.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' });
  outgoing.end(JSON.stringify({ __type: 'com.amazon.coral.service#AccessDeniedException', Message: message }));
};
