/**
 * The calls of the table that a first call makes. They are recorded once with the database. Then a server of this process
 * repeats the responses, so that the function and the plain bundle make the same calls, and the database's time has no effect.
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { bodyOf, closeServer, listenOnLoopback } from '../../../infra/local/aws/loopback.ts';
import type { TableCall } from './calls.ts';

export interface Call {
  /** `DynamoDB_20120810.GetItem` */
  target: string;
  body: string;
  /** Calls of a round are made at the same time, after those of the round before. */
  round: number;
  response: Response;
}

interface TableRequest {
  target: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

interface Response {
  status: number;
  headers: IncomingHttpHeaders;
  body?: Buffer;
}

export class TableCalls {
  readonly #database: string;
  readonly #server = createServer();
  #isRecording = true;
  /** The calls that are recorded or repeated. */
  #calls: Call[] = [];
  /** Those of them that are still to be repeated. */
  #left: Call[] = [];
  #inProgress = 0;
  #round = 0;

  private constructor(database: string) {
    this.#database = database;
    this.#server.on('request', async (incoming, outgoing) => {
      const target = String(incoming.headers['x-amz-target']);
      const call = { target, headers: incoming.headers, body: await bodyOf(incoming) };
      const { status, headers, body } = this.#isRecording ? await this.#record(call) : this.#repeat(call);
      outgoing.writeHead(status, headers).end(body);
    });
  }

  /** Opens the server before a database. Returns its URL, too. */
  static async open(database: string): Promise<{ calls: TableCalls; url: string }> {
    const calls = new TableCalls(database);
    return { calls, url: await listenOnLoopback(calls.#server, 0) };
  }

  /** Records the calls that are made meanwhile. */
  async recordDuring(run: () => Promise<unknown>): Promise<Call[]> {
    this.#isRecording = true;
    this.#calls = [];
    this.#round = 0;
    await run();
    return this.#calls;
  }

  /** Repeats the responses of these calls from now on, and begins again after the last one. */
  repeat(calls: Call[]): void {
    this.#isRecording = false;
    this.#calls = calls;
    this.#left = [];
  }

  close(): Promise<void> {
    return closeServer(this.#server);
  }

  async #record({ target, headers, body }: TableRequest): Promise<Response> {
    if (this.#inProgress === 0) this.#round += 1;
    this.#inProgress += 1;
    const call: Call = { target, body: body.toString(), round: this.#round, response: { status: 500, headers: {} } };
    this.#calls.push(call);
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    request(this.#database, { method: 'POST', headers }, resolve).on('error', reject).end(body);
    const response = await promise;
    call.response = { status: response.statusCode ?? 500, headers: response.headers, body: await bodyOf(response) };
    this.#inProgress -= 1;
    return call.response;
  }

  /**
   * The response to the same call, or else, because ids and times differ, to the next one of its operation. On a busy machine, a
   * client may try a call again: then it gets any response to its operation.
   */
  #repeat({ target, headers, body }: TableRequest): Response {
    const isRetry = !String(headers['amz-sdk-request']).startsWith('attempt=1;');
    const again = isRetry && this.#calls.find((call) => call.target === target);
    if (again) return again.response;
    if (this.#left.length === 0) this.#left = [...this.#calls];
    const text = body.toString();
    const same = this.#left.findIndex((call) => call.target === target && call.body === text);
    const place = same === -1 ? this.#left.findIndex((call) => call.target === target) : same;
    const [call] = place === -1 ? [] : this.#left.splice(place, 1);
    if (call === undefined) throw new Error(`${target} was not recorded.`);
    return call.response;
  }
}

/** These calls by rounds, for a bundle that makes them. */
export const roundsOf = (calls: Call[]): TableCall[][] =>
  [...Map.groupBy(calls, ({ round }) => round).values()].map((round) =>
    round.map(({ target, body }) => ({
      operation: target.slice(target.indexOf('.') + 1) as TableCall['operation'],
      input: inputOf(JSON.parse(body)) as never,
    })),
  );

/** Members of a call that have items and values as the database has them. */
const ATTRIBUTES = new Set(['Key', 'Keys', 'Item', 'ExclusiveStartKey', 'ExpressionAttributeValues']);

/** A call of the database as the document client takes it. */
const inputOf = (call: unknown): unknown => {
  if (Array.isArray(call)) return call.map(inputOf);
  if (typeof call !== 'object' || call === null) return call;
  return Object.fromEntries(
    Object.entries(call).map(([name, value]) => [name, ATTRIBUTES.has(name) ? plainOf(value) : inputOf(value)]),
  );
};

const plainOf = (value: Parameters<typeof unmarshall>[0] | Parameters<typeof unmarshall>[0][]): unknown =>
  Array.isArray(value) ? value.map((one) => unmarshall(one)) : unmarshall(value);
