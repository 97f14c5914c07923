/** The stack on this machine: what the template says, served by two gateways, threads, queues, and a database. */

import { Buckets } from './buckets.ts';
import { HeldItems } from './consistency/held-items.ts';
import { Replica } from './consistency/replica.ts';
import { StaleReads, type StaleReadsOptions } from './consistency/stale-reads.ts';
import { createTable, type Database, openDatabase, streamOf } from './database/database.ts';
import { TableGuard } from './database/table-guard.ts';
import { EventSources } from './event-sources/event-sources.ts';
import { Stream } from './event-sources/stream.ts';
import { Writes } from './event-sources/writes.ts';
import type { Faults } from './fault-injection.ts';
import { type Beside, Gateway } from './gateway/gateway.ts';
import { type MadeCall, Roles } from './iam/roles.ts';
import { FunctionPool, type LocalFunction } from './lambda/lambda-pool.ts';
import { takePort } from './loopback.ts';
import { AwsEndpoint, type Secret } from './queues/aws-endpoint.ts';
import { Queues } from './queues/queues.ts';
import { runSchedules } from './schedules.ts';
import type { FunctionDefinition, SecretDefinition, Template } from './template/definitions.ts';
import { REGION } from './template/references.ts';
import { readTemplate } from './template/template.ts';

export interface LocalStackOptions {
  /** Where the stack was synthesised, or will have been when the promise fulfils. */
  assembly: Promise<string>;
  /** Ports of the API host and the bridge host; 0 takes free ones. */
  ports: { base: number; bridge: number };
  /** A database to use instead of the embedded one. */
  dynamodbEndpoint: string | undefined;
  tableName: string;
  /**
   * Milliseconds that count as a minute: for schedules, for a queue's deduplication, for messages whose function has
   * failed, and for functions, who find it as MINUTE in their environment.
   */
  minute: number;
  /** The value of the template's secret, if it has one. */
  secret?: string;
  /** What is to go wrong. */
  faults?: Faults;
  /** Has eventually consistent reads of the table return what was there half a second ago, as DynamoDB may. */
  staleReads?: StaleReadsOptions;
  /** Milliseconds that a transaction takes, in which other writes of its items conflict with it; without it none do. */
  transactionsHeldFor?: number;
  /** Takes every log line: of functions, and of the hosts' access logs. */
  onLine: (source: string, line: string) => void;
  /** Takes every kind of call that functions make of AWS, once. */
  onCall?: (call: MadeCall) => void;
  /** How functions are run, if not in threads of their own. */
  functions?: new (
    ...of: ConstructorParameters<typeof FunctionPool>
  ) => LocalFunction;
}

/** What a stack runs on. */
interface Parts {
  gateways: Record<'base' | 'bridge', Gateway>;
  urls: Record<'base' | 'bridge', string>;
  database: Database;
  guard: TableGuard;
  /** Where functions find the table: behind the guard. */
  guardedEndpoint: string;
  aws: AwsEndpoint;
  awsEndpoint: string;
  buckets: Buckets;
  bucketsEndpoint: string;
  queues: Queues;
  roles: Roles;
  writes: Writes;
}

type Invoke = (functionId: string, event: unknown) => Promise<unknown>;

export class LocalStack {
  readonly baseUrl: string;
  readonly bridgeUrl: string;
  /** Where operators find the table: nobody guards it from them. */
  readonly dynamodbEndpoint: string;
  /** Where functions find queues and the secret, and operators too: the access key `operator` may do everything. */
  readonly awsEndpoint: string;
  /** Where both find buckets. */
  readonly bucketsEndpoint: string;
  /** Where functions find the table: behind the guard. */
  readonly guardedEndpoint: string;
  readonly #options: LocalStackOptions;
  readonly #parts: Parts;
  readonly #heldItems: HeldItems | undefined;
  #functions = new Map<string, LocalFunction>();
  #eventSources: EventSources | undefined;
  #replica: Replica | undefined;
  #stopSchedules: () => void = () => undefined;
  #closed = false;

  private constructor(options: LocalStackOptions, parts: Parts) {
    this.#options = options;
    this.#parts = parts;
    this.baseUrl = parts.urls.base;
    this.bridgeUrl = parts.urls.bridge;
    this.dynamodbEndpoint = parts.database.endpoint;
    this.awsEndpoint = parts.awsEndpoint;
    this.bucketsEndpoint = parts.bucketsEndpoint;
    this.guardedEndpoint = parts.guardedEndpoint;
    const { transactionsHeldFor } = options;
    this.#heldItems = transactionsHeldFor === undefined ? undefined : new HeldItems(transactionsHeldFor);
  }

  /**
   * Takes the ports, starts the database, creates the table and serves the stack.
   *
   * @throws StartError — a port is taken, or the database cannot be had
   */
  static async start(options: LocalStackOptions): Promise<LocalStack> {
    const gateways = { base: new Gateway(), bridge: new Gateway() };
    const opened: { close(): Promise<void> }[] = [gateways.base, gateways.bridge];
    try {
      const urls = {
        base: await takePort(gateways.base, options.ports.base),
        bridge: await takePort(gateways.bridge, options.ports.bridge),
      };
      const database = await openDatabase(options.dynamodbEndpoint);
      const roles = new Roles(options);
      const queues = new Queues(options.faults ?? {}, options.minute);
      const writes = new Writes();
      const guard = new TableGuard(database.endpoint, roles, writes);
      const aws = new AwsEndpoint(queues, roles);
      opened.push(database, guard, aws);
      const buckets = await Buckets.open(roles);
      opened.push(buckets);
      const guardedEndpoint = await guard.listen();
      const awsEndpoint = await aws.listen();
      const bucketsEndpoint = await buckets.listen();
      const doors = { guardedEndpoint, awsEndpoint, bucketsEndpoint };
      const parts = { gateways, urls, database, guard, aws, buckets, queues, roles, writes, ...doors };
      const stack = new LocalStack(options, parts);
      await stack.load(await options.assembly);
      return stack;
    } catch (error) {
      await Promise.all(opened.map((part) => part.close()));
      throw error;
    }
  }

  /**
   * Serves another assembly of the stack from now on. The table stays as it is, queues keep their messages, and readers
   * of the stream go on where they were.
   */
  async load(assembly: string): Promise<void> {
    const { tableName, minute } = this.#options;
    const { roles, queues, guard } = this.#parts;
    const template = await readTemplate(assembly, {
      tableName,
      baseUrl: this.baseUrl,
      bridgeUrl: this.bridgeUrl,
      awsUrl: this.awsEndpoint,
    });
    const secrets = this.#withValues(template.secrets);
    await this.#parts.buckets.serve(template);
    await createTable(this.dynamodbEndpoint, template.table, tableName);
    this.#eventSources ??= await this.#openEventSources();
    const staleReads = await this.#readStale(template);
    if (this.#closed) return;

    const old = this.#functions;
    const stopped = this.#eventSources.stop();
    roles.judgeBy(template);
    guard.guard(template.table.id, { staleReads, heldItems: this.#heldItems });
    queues.define(template.queues);
    this.#parts.aws.tell(secrets);
    this.#functions = this.#startFunctions(template);
    this.#serveHosts(template);
    this.#stopSchedules();
    this.#stopSchedules = runSchedules(template.schedules, minute, this.#invoke);
    await Promise.all([...old.values()].map((pool) => pool.close()));
    await stopped;
    if (!this.#closed) this.#eventSources.start(template.mappings);
  }

  /** Lets something else than the API be served on the API host's port. */
  serveBeside(beside: Beside): void {
    this.#parts.gateways.base.serveBeside(beside);
  }

  /** What functions' roles allow and nothing has needed so far, by function. */
  unusedRights(): Record<string, string[]> {
    return this.#parts.roles.unusedRights();
  }

  /** Logical ids of all functions. */
  functionIds(): string[] {
    return [...this.#functions.keys()];
  }

  /** Ends one of a function's calls that are under way, as a crash would. Answers whether there was one. */
  kill(functionId: string): boolean {
    return this.#pool(functionId).kill();
  }

  /** How many messages each queue holds, by its logical id: those that can be received, and those that are hidden. */
  queueCounts(): Record<string, { visible: number; inFlight: number }> {
    return this.#parts.queues.counts();
  }

  /** Addresses of the queues, by logical id. */
  queueUrls(): Record<string, string> {
    return this.#parts.queues.urls();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#stopSchedules();
    const stopped = this.#eventSources?.stop();
    await Promise.all(Object.values(this.#parts.gateways).map((gateway) => gateway.close()));
    await Promise.all([...this.#functions.values()].map((pool) => pool.close()));
    await stopped;
    await this.#replica?.close();
    await this.#parts.guard.close();
    await this.#parts.aws.close();
    await this.#parts.buckets.close();
    await this.#parts.database.close();
  }

  readonly #invoke: Invoke = (id, event) => this.#pool(id).invoke(event);

  #pool(id: string): LocalFunction {
    const pool = this.#functions.get(id);
    if (pool === undefined) throw new Error(`The template names no function ${id}.`);
    return pool;
  }

  #startFunctions({ functions }: Template): Map<string, LocalFunction> {
    const { functions: Runs = FunctionPool } = this.#options;
    return new Map(
      functions.map((definition) => [
        definition.id,
        new Runs(definition, this.#environmentOf(definition), (line) => this.#options.onLine(definition.id, line)),
      ]),
    );
  }

  /** What the template says, what Lambda's runtime adds, and what functions are told of this machine alone. */
  #environmentOf({ id, environment }: FunctionDefinition): Record<string, string> {
    return {
      ...lambdaEnvironment(id),
      ...environment,
      AWS_ENDPOINT_URL_DYNAMODB: this.#parts.guardedEndpoint,
      AWS_ENDPOINT_URL_SQS: this.awsEndpoint,
      AWS_ENDPOINT_URL_SECRETS_MANAGER: this.awsEndpoint,
      AWS_ENDPOINT_URL_S3: this.bucketsEndpoint,
      MINUTE: String(this.#options.minute),
      ALLOW_LOOPBACK: 'true',
    };
  }

  #serveHosts({ hosts }: Template): void {
    for (const name of ['base', 'bridge'] as const) {
      this.#parts.gateways[name].serve({
        definition: hosts[name],
        invoke: this.#invoke,
        onLine: (line) => this.#options.onLine(hosts[name].id, line),
      });
    }
  }

  async #openEventSources(): Promise<EventSources> {
    const { minute, faults = {} } = this.#options;
    const { queues, writes } = this.#parts;
    return new EventSources({
      queues,
      stream: await this.#openStream(),
      writes,
      minute,
      faults,
      invoke: this.#invoke,
    });
  }

  async #openStream(): Promise<Stream> {
    return new Stream(this.dynamodbEndpoint, await streamOf(this.dynamodbEndpoint, this.#options.tableName));
  }

  /** Begins to follow the table with a replica, if stale reads are asked for. */
  async #readStale({ table: { id, properties } }: Template): Promise<StaleReads | undefined> {
    const { staleReads, tableName } = this.#options;
    if (staleReads === undefined) return undefined;
    const replica = `${tableName}-replica`;
    const { StreamSpecification: _stream, ...withoutStream } = properties;
    await createTable(this.dynamodbEndpoint, { id, properties: withoutStream }, replica);
    const { behind, held } = staleReads;
    const settings = { stream: await this.#openStream(), table: replica, behind, held };
    this.#replica ??= new Replica(this.dynamodbEndpoint, settings);
    return new StaleReads(staleReads, { table: tableName, replica });
  }

  #withValues(secrets: SecretDefinition[]): Secret[] {
    const { secret } = this.#options;
    return secrets.map((definition) => {
      if (secret === undefined) throw new Error(`The secret ${definition.id} needs a value.`);
      return { ...definition, value: secret };
    });
  }
}

/** What Lambda's runtime adds to a function's environment. The access key names the function to the endpoints here. */
const lambdaEnvironment = (id: string): Record<string, string> => ({
  AWS_REGION: REGION,
  AWS_ACCESS_KEY_ID: id,
  AWS_SECRET_ACCESS_KEY: 'local',
  AWS_SESSION_TOKEN: 'local',
  AWS_LAMBDA_FUNCTION_NAME: id,
  // The files of this machine's user have no say here.
  AWS_CONFIG_FILE: '/dev/null',
  AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  TZ: ':UTC',
  // Set where test coverage is collected.
  ...(process.env.NODE_V8_COVERAGE && { NODE_V8_COVERAGE: process.env.NODE_V8_COVERAGE }),
});
