/**
 * A proxy between the functions and the database. It checks every call against the role of the calling function, and
 * denies what IAM would deny in AWS. Optionally, it simulates two effects of DynamoDB that local databases do not have:
 * stale reads, and conflicts of transactions.
 */
import {
  Agent,
  createServer,
  type IncomingMessage,
  type RequestOptions,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import { urlToHttpOptions } from 'node:url';
import type { Input } from '../consistency/call.ts';
import type { HeldItems } from '../consistency/held-items.ts';
import type { StaleReads } from '../consistency/stale-reads.ts';
import type { Writes } from '../event-sources/writes.ts';
import { callerOf, type Denial, OPERATOR, type Roles } from '../iam/roles.ts';
import { bodyOf, closeServer, listenOnLoopback } from '../loopback.ts';
import type { TableDefinition } from '../template/definitions.ts';
import { touchesOf } from './touches.ts';

/** Effects of DynamoDB that the database does not have. A missing effect is not simulated. */
interface Consistency {
  staleReads?: StaleReads | undefined;
  heldItems?: HeldItems | undefined;
}

type Guarded = Pick<TableDefinition, 'id' | 'arn' | 'keys'>;

/** A call of a function. */
interface Call {
  incoming: IncomingMessage;
  body: Buffer;
  outgoing: ServerResponse;
}

export class TableGuard {
  readonly #agent = new Agent({ keepAlive: true });
  /** Where the database is. */
  readonly #database: RequestOptions;
  readonly #roles: Roles;
  readonly #writes: Writes;
  readonly #server: Server;
  #table: Guarded = { id: '', keys: { attributes: [], partition: '', indexes: {} } };
  #consistency: Consistency = {};

  constructor(endpoint: string, roles: Roles, writes: Writes) {
    this.#database = { ...urlToHttpOptions(new URL(endpoint)), agent: this.#agent };
    this.#roles = roles;
    this.#writes = writes;
    this.#server = createServer((incoming, outgoing) => void this.#handle(incoming, outgoing));
  }

  /** Listens on a free port. Returns the table's endpoint for functions. */
  listen(): Promise<string> {
    return listenOnLoopback(this.#server, 0);
  }

  /** Sets the guarded table. */
  guard(table: Guarded, consistency: Consistency = {}): void {
    this.#table = table;
    this.#consistency = consistency;
  }

  async close(): Promise<void> {
    this.#agent.destroy();
    await closeServer(this.#server);
  }

  async #handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    try {
      const body = await bodyOf(incoming);
      const denial = this.#denialOf(incoming, body);
      if (denial === undefined) await this.#serve({ incoming, body, outgoing });
      else {
        const { code, message } = denial;
        respond(outgoing, 400, { __type: `com.amazon.coral.service#${code}`, Message: message });
      }
    } catch {
      outgoing.destroy();
    }
  }

  /** Why a call is denied; undefined if it is allowed. */
  #denialOf({ headers }: IncomingMessage, body: Buffer): Denial | undefined {
    if (callerOf(headers) === OPERATOR) return undefined;
    const action = actionOf(headers);
    const touches = touchesOf(this.#table, action, JSON.parse(body.toString()));
    // A call without touches is of an unknown kind, and denied.
    const unclear = { action: `dynamodb:${action}`, resource: 'nothing' };
    return this.#roles.denialOf(callerOf(headers), touches.length > 0 ? touches : [unclear]);
  }

  async #serve(call: Call): Promise<void> {
    const { staleReads, heldItems } = this.#consistency;
    if (staleReads === undefined && heldItems === undefined) return this.#forward(call);
    const { headers } = call.incoming;
    const action = actionOf(headers);
    const input: Input = JSON.parse(call.body.toString());

    const stale = staleReads?.redirected(action, input, callerOf(headers));
    if (stale !== undefined) {
      return this.#forwardChanged(call, stale, (response) => staleReads?.renamed(response) ?? response);
    }
    const conflict = heldItems?.conflictOf(action, input);
    if (conflict !== undefined && 'error' in conflict) return respond(call.outgoing, 400, conflict.error);
    if (conflict !== undefined) {
      const { unprocessed: UnprocessedItems, rest } = conflict;
      if (Object.keys(rest.RequestItems ?? {}).length === 0) return respond(call.outgoing, 200, { UnprocessedItems });
      return this.#forwardChanged(call, rest, (response) => ({ ...response, UnprocessedItems }));
    }
    if (action === 'TransactWriteItems' && heldItems) return heldItems.during(input, () => this.#forward(call));
    return this.#forward(call);
  }

  /** Forwards a call unchanged. Resolves with the response. */
  async #forward({ incoming: { method, headers }, body, outgoing }: Call): Promise<void> {
    const response = await this.#call(method, headers, body);
    const output = await bodyOf(response);
    outgoing.writeHead(response.statusCode ?? 500, response.headers);
    outgoing.end(output);
  }

  /** Forwards another call instead, and returns a changed response. */
  async #forwardChanged({ incoming, outgoing }: Call, input: Input, change: (output: object) => object): Promise<void> {
    const body = Buffer.from(JSON.stringify(input));
    const headers = { ...incoming.headers, 'content-length': String(body.length) };
    const response = await this.#call(incoming.method, headers, body);
    const output = Object(JSON.parse((await bodyOf(response)).toString()));
    respond(outgoing, response.statusCode ?? 500, response.statusCode === 200 ? change(output) : output);
  }

  #call(method: string | undefined, headers: IncomingMessage['headers'], body: Buffer): Promise<IncomingMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const call = request({ ...this.#database, method, headers }, (response) => {
      resolve(response);
      if (!READS.has(actionOf(headers))) this.#writes.notify();
    });
    call.once('error', reject);
    call.end(body);
    return promise;
  }
}

/** Actions that only read. */
const READS = new Set(['GetItem', 'Query', 'BatchGetItem', 'TransactGetItems']);

const actionOf = (headers: IncomingMessage['headers']): string => String(headers['x-amz-target']).replace(/^.*\./, '');

const respond = (outgoing: ServerResponse, status: number, body: object): void => {
  outgoing.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' });
  outgoing.end(JSON.stringify(body));
};
