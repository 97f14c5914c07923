/**
 * A proxy between the local stack and its database that records the capacity units of each call by caller. The embedded
 * database does not report index writes of transactions. They are computed from the writes, as if each conversation
 * were new. Leases of rate limits depend on the traffic before, so they are left out: `rate-limit` measures them.
 */
import { Agent, createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { callerOf } from '../../infra/local/aws/iam/roles.ts';
import { closeServer, listenOnLoopback } from '../../infra/local/aws/loopback.ts';
import { rateKey } from '../../shared/accounts/entities.ts';
import { nameOf } from './parts.ts';

/** Consumption of a caller. */
export interface Units {
  calls: number;
  reads: number;
  writes: number;
  /** Units of writes to indexes. */
  indexes: number;
}

export const noUnits = (): Units => ({ calls: 0, reads: 0, writes: 0, indexes: 0 });

interface Capacity {
  CapacityUnits?: number;
  GlobalSecondaryIndexes?: Record<string, { CapacityUnits?: number }>;
}

interface Call {
  ReturnConsumedCapacity?: string;
  Key?: Record<string, { S?: string }>;
  TransactItems?: { Put?: { Item: object }; Update?: { UpdateExpression: string } }[];
}

const READS = new Set(['GetItem', 'Query', 'BatchGetItem']);
const WRITES = new Set(['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem', 'TransactWriteItems']);

export class Meter {
  readonly #endpoint: string;
  readonly #server: Server;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #consumed = new Map<string, Units>();

  constructor(endpoint: string) {
    this.#endpoint = endpoint;
    this.#server = createServer((incoming, outgoing) => {
      void this.#pass(incoming, outgoing).catch(() => outgoing.destroy());
    });
  }

  /** Listens on a free port. Returns the URL for clients of the database. */
  listen(): Promise<string> {
    return listenOnLoopback(this.#server, 0);
  }

  /** The consumption since the last call of this method, by function, or by the access key of another caller. */
  take(): Map<string, Units> {
    const taken = new Map(this.#consumed);
    this.#consumed.clear();
    return taken;
  }

  async close(): Promise<void> {
    this.#agent.destroy();
    await closeServer(this.#server);
  }

  async #pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const given = await buffer(incoming);
    const action = String(incoming.headers['x-amz-target']).replace(/^DynamoDB_\d+\./, '');
    const metered = READS.has(action) || WRITES.has(action);
    const call: Call = metered ? { ...JSON.parse(given.toString()), ReturnConsumedCapacity: 'INDEXES' } : {};
    const body = metered ? Buffer.from(JSON.stringify(call)) : given;
    const { status, headers, answer } = await this.#call(incoming, body);
    if (metered && status === 200) {
      const { ConsumedCapacity } = JSON.parse(answer.toString());
      this.#note(nameOf(callerOf(incoming.headers)), READS.has(action), call, [ConsumedCapacity ?? []].flat());
    }
    outgoing.writeHead(status, headers).end(answer);
  }

  async #call({ method, headers }: IncomingMessage, body: Buffer) {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const length = { 'content-length': body.length };
    request(this.#endpoint, { method, headers: { ...headers, ...length }, agent: this.#agent }, resolve)
      .once('error', reject)
      .end(body);
    const response = await promise;
    return { status: response.statusCode ?? 500, headers: response.headers, answer: await buffer(response) };
  }

  #note(caller: string, isRead: boolean, call: Call, capacity: Capacity[]): void {
    if (call.Key?.pk?.S?.startsWith(rateKey('').pk)) return;
    const units = this.#consumed.get(caller) ?? noUnits();
    const all = sum(capacity.map(({ CapacityUnits = 0 }) => CapacityUnits));
    const indexes = sum(
      capacity.flatMap(({ GlobalSecondaryIndexes = {} }) =>
        Object.values(GlobalSecondaryIndexes).map(({ CapacityUnits = 0 }) => CapacityUnits),
      ),
    );
    units.calls += 1;
    if (isRead) units.reads += all;
    else {
      units.writes += all - indexes;
      units.indexes += indexes > 0 ? indexes : indexesOf(call);
    }
    this.#consumed.set(caller, units);
  }
}

const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0);

/** The number of index entries that a transaction writes. */
const indexesOf = ({ TransactItems = [] }: Call): number =>
  sum(
    TransactItems.map(({ Put, Update }) =>
      Put
        ? Object.keys(Put.Item).filter((name) => /^gsi\dpk$/.test(name)).length
        : new Set(Update?.UpdateExpression.match(/gsi\dpk/g)).size,
    ),
  );
