/**
 * AWS on this machine. Serves the resources of a synthesised template with HTTP hosts, threads, queues, buckets and a
 * database. README.md in this folder describes it.
 */

import { setTimeout as pause } from 'node:timers/promises';
import { Buckets } from './buckets.ts';
import { ClockDriver } from './clock-driver.ts';
import { HeldItems } from './consistency/held-items.ts';
import { Replica } from './consistency/replica.ts';
import { StaleReads } from './consistency/stale-reads.ts';
import { createTable, type Database, existingTableOf, openDatabase, streamOf } from './database/database.ts';
import { TableGuard } from './database/table-guard.ts';
import type { EmulatorOptions } from './emulator-options.ts';
import { EventSources } from './event-sources/event-sources.ts';
import { Schedules } from './event-sources/schedules.ts';
import { Stream, type StreamRecord } from './event-sources/stream.ts';
import { Writes } from './event-sources/writes.ts';
import { type Beside, Gateway } from './gateway/gateway.ts';
import { Roles } from './iam/roles.ts';
import { lambdaEnvironment } from './lambda/environment.ts';
import { LambdaPool, type LocalFunction } from './lambda/lambda-pool.ts';
import { takePort } from './loopback.ts';
import { AwsEndpoint, type Secret } from './queues/aws-endpoint.ts';
import { Queues } from './queues/queues.ts';
import type { FunctionDefinition, SecretDefinition, Template } from './template/definitions.ts';
import { readTemplate } from './template/template.ts';
import { Clock } from './time/clock.ts';

/** A host that listens. */
interface OpenHost {
  gateway: Gateway;
  output: string;
  url: string;
}

/** The parts of an emulator. */
export interface Parts {
  hosts: Map<string, OpenHost>;
  database: Database;
  guard: TableGuard;
  /** The table's endpoint for functions, behind the guard. */
  guardedEndpoint: string;
  aws: AwsEndpoint;
  awsEndpoint: string;
  buckets: Buckets;
  bucketsEndpoint: string;
  queues: Queues;
  roles: Roles;
  writes: Writes;
  clock: Clock;
}

/** Milliseconds between two looks at the calls of a function whose code was replaced. */
const RETIRED_MS = 50;

type Invoke = (functionId: string, event: unknown) => Promise<unknown>;

export class AwsEmulator {
  /** The table's endpoint for operators, without the guard. */
  readonly dynamodbEndpoint: string;
  /** The endpoint of queues and secrets. The access key `operator` may do everything. */
  readonly awsEndpoint: string;
  /** The endpoint of buckets. The access key `operator` may do everything. */
  readonly bucketsEndpoint: string;
  /** The table's endpoint for functions, behind the guard. */
  readonly guardedEndpoint: string;
  readonly clockDriver: ClockDriver;
  readonly #options: EmulatorOptions;
  readonly #parts: Parts;
  #definitions: readonly FunctionDefinition[] = [];
  /** Functions whose code was replaced while they had calls. */
  readonly #retiring = new Set<Promise<void>>();
  #functions = new Map<string, LocalFunction>();
  #eventSources: EventSources | undefined;
  #replica: Replica | undefined;
  #schedules: Schedules | undefined;
  readonly #recordWatchers = new Set<(record: StreamRecord) => void>();
  #closed = false;

  protected constructor(options: EmulatorOptions, parts: Parts) {
    this.#options = options;
    this.#parts = parts;
    this.dynamodbEndpoint = parts.database.endpoint;
    this.awsEndpoint = parts.awsEndpoint;
    this.bucketsEndpoint = parts.bucketsEndpoint;
    this.guardedEndpoint = parts.guardedEndpoint;
    this.clockDriver = new ClockDriver(parts, () => ({
      functions: this.#functions,
      eventSources: this.#eventSources,
      schedules: this.#schedules,
    }));
  }

  /**
   * Opens the ports, starts the database, creates the table and serves the stack.
   *
   * @throws StartError — a port or the database is not available
   */
  static async open(options: EmulatorOptions): Promise<AwsEmulator> {
    return AwsEmulator.serve(options, (parts) => new AwsEmulator(options, parts));
  }

  /** Opens the parts, creates an emulator from them, and loads the stack. After a failure, closes all parts. */
  protected static async serve<Emulator extends AwsEmulator>(
    options: EmulatorOptions,
    make: (parts: Parts) => Emulator,
  ): Promise<Emulator> {
    const opened: { close(): Promise<void> }[] = [];
    try {
      const hosts = new Map<string, OpenHost>();
      for (const [name, { output, port }] of Object.entries(options.hosts)) {
        const gateway = new Gateway();
        opened.push(gateway);
        hosts.set(name, { gateway, output, url: await takePort(gateway, port) });
      }
      const database = await openDatabase(options.dynamodbEndpoint, options.dataFolder);
      const roles = new Roles(options);
      const { clock = new Clock() } = options;
      const queues = new Queues({ ...options, clock });
      const writes = new Writes();
      const guard = new TableGuard(database.endpoint, roles, writes);
      const aws = new AwsEndpoint(queues, roles);
      opened.push(database, guard, aws);
      const buckets = await Buckets.open(roles, options.dataFolder);
      opened.push(buckets);
      const guardedEndpoint = await guard.listen();
      const awsEndpoint = await aws.listen();
      const bucketsEndpoint = await buckets.listen();
      const endpoints = { guardedEndpoint, awsEndpoint, bucketsEndpoint };
      const emulator = make({ hosts, database, guard, aws, buckets, queues, roles, writes, clock, ...endpoints });
      await emulator.load(await options.assembly);
      return emulator;
    } catch (error) {
      await Promise.all(opened.map((part) => part.close()));
      throw error;
    }
  }

  /** The URL of a host, by its name in the options. */
  urlOf(host: string): string {
    return this.#hostOf(host).url;
  }

  /**
   * Replaces the stack by another assembly. The table is unchanged, queues keep their messages, and readers of the
   * stream continue at their positions.
   */
  async load(assembly: string): Promise<void> {
    const { stackName, tableName, minute, transactionsHeldFor } = this.#options;
    const { hosts, roles, queues, guard, clock } = this.#parts;
    const template = await readTemplate(assembly, {
      stackName,
      tableName,
      existingTable: await existingTableOf(this.dynamodbEndpoint, tableName),
      hosts: Object.fromEntries(hosts),
      awsUrl: this.awsEndpoint,
    });
    const secrets = this.#withValues(template.secrets);
    await this.#parts.buckets.serve(template);
    await createTable(this.dynamodbEndpoint, template.table.properties, tableName);
    this.#eventSources ??= await this.#openEventSources();
    const staleReads = await this.#readStale(template);
    if (this.#closed) return;

    const old = this.#functions;
    const stopped = this.#eventSources.stop();
    roles.judgeBy(template);
    const heldItems =
      transactionsHeldFor === undefined
        ? undefined
        : new HeldItems(transactionsHeldFor, template.table.keys.attributes);
    guard.guard(template.table, { staleReads, heldItems });
    queues.define(template.queues);
    this.#parts.aws.setSecrets(secrets);
    this.#functions = this.#startFunctions(template);
    this.#serveHosts(template);
    this.#schedules?.stop();
    this.#schedules = new Schedules(template.schedules, { clock, minute, invoke: this.#invoke });
    await Promise.all([...old.values()].map((pool) => pool.close()));
    await stopped;
    if (!this.#closed) this.#eventSources.start(template.mappings);
  }

  /** Serves other requests than the API's on a host's port. */
  serveBeside(host: string, beside: Beside): void {
    this.#hostOf(host).gateway.serveBeside(beside);
  }

  /** Rights of the functions' roles that no call has needed so far, by function. */
  unusedRights(): Record<string, string[]> {
    return this.#parts.roles.unusedRights();
  }

  /** Runs the code in a folder as a function, instead of that in the template. Calls in progress end with the old code. */
  replaceCode(functionId: string, folder: string): void {
    const index = this.#definitions.findIndex(({ id }) => id === functionId);
    const definition = this.#definitions[index];
    const old = this.#functions.get(functionId);
    if (definition === undefined || old === undefined) throw new Error(`The template names no function ${functionId}.`);
    const replaced = { ...definition, folder };
    this.#definitions = this.#definitions.with(index, replaced);
    this.#functions.set(functionId, this.#startFunction(replaced));
    const ended = this.#retire(old).finally(() => this.#retiring.delete(ended));
    this.#retiring.add(ended);
  }

  /** Closes a function when its calls have ended. */
  async #retire(old: LocalFunction): Promise<void> {
    while (old.calls > 0 && !this.#closed) await pause(RETIRED_MS);
    await old.close();
  }

  /** Logical ids of all functions. */
  functionIds(): string[] {
    return [...this.#functions.keys()];
  }

  /** Ends a running call of a function, as a crash would. Returns whether there was one. */
  kill(functionId: string): boolean {
    return this.#pool(functionId).kill();
  }

  /** The number of visible and hidden messages of each queue, by the queue's logical id. */
  queueCounts(): Record<string, { visible: number; inFlight: number }> {
    return this.#parts.queues.counts();
  }

  /** Calls back with each record of the table's stream, at least once. Returns a function that ends this. */
  watchRecords(watcher: (record: StreamRecord) => void): () => void {
    this.#recordWatchers.add(watcher);
    return () => this.#recordWatchers.delete(watcher);
  }

  /** The URLs of the queues, by logical id. */
  queueUrls(): Record<string, string> {
    return this.#parts.queues.urls();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#schedules?.stop();
    const stopped = this.#eventSources?.stop();
    await Promise.all([...this.#parts.hosts.values()].map(({ gateway }) => gateway.close()));
    await Promise.all([...this.#functions.values()].map((pool) => pool.close()));
    await Promise.all(this.#retiring);
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
    this.#definitions = functions;
    return new Map(functions.map((definition) => [definition.id, this.#startFunction(definition)]));
  }

  #startFunction(definition: FunctionDefinition): LocalFunction {
    const { functions: Runs = LambdaPool, latency } = this.#options;
    return new Runs(
      definition,
      this.#environmentOf(definition),
      (line) => this.#options.onLine(definition.id, line),
      this.#parts.clock.memory,
      latency,
    );
  }

  /** The variables of Lambda's runtime, of the template, of the emulator's endpoints, and of the options. */
  #environmentOf({ id, environment }: FunctionDefinition): Record<string, string> {
    return {
      ...lambdaEnvironment(id),
      ...environment,
      AWS_ENDPOINT_URL_DYNAMODB: this.#parts.guardedEndpoint,
      AWS_ENDPOINT_URL_SQS: this.awsEndpoint,
      AWS_ENDPOINT_URL_SECRETS_MANAGER: this.awsEndpoint,
      AWS_ENDPOINT_URL_S3: this.bucketsEndpoint,
      ...this.#options.environment,
    };
  }

  #serveHosts(template: Template): void {
    const { emptyRest = 'does not match', throttles = true } = this.#options;
    const { clock } = this.#parts;
    for (const [name, { gateway }] of this.#parts.hosts) {
      const definition = template.hosts[name];
      if (definition === undefined) throw new Error(`The template has no host ${name}.`);
      const onLine = (line: string) => this.#options.onLine(definition.id, line);
      gateway.serve({
        definition,
        invoke: this.#invoke,
        onLine,
        onExchange: this.#options.onExchange,
        emptyRest,
        throttles,
        clock,
      });
    }
  }

  #hostOf(name: string): OpenHost {
    const host = this.#parts.hosts.get(name);
    if (host === undefined) throw new Error(`The emulator serves no host ${name}.`);
    return host;
  }

  async #openEventSources(): Promise<EventSources> {
    const { minute, faultInjection = {}, latency } = this.#options;
    const { queues, writes } = this.#parts;
    return new EventSources({
      queues,
      stream: await this.#openStream(),
      writes,
      minute,
      faultInjection,
      latency,
      invoke: this.#invoke,
    });
  }

  async #openStream(): Promise<Stream> {
    const arn = await streamOf(this.dynamodbEndpoint, this.#options.tableName);
    return new Stream(this.dynamodbEndpoint, arn, (records) => {
      for (const watcher of this.#recordWatchers) for (const record of records) watcher(record);
    });
  }

  /** Starts a replica of the table, if the options enable stale reads. */
  async #readStale({ table: { properties } }: Template): Promise<StaleReads | undefined> {
    const { staleReads, tableName } = this.#options;
    if (staleReads === undefined) return undefined;
    const replica = `${tableName}-replica`;
    const { StreamSpecification: _stream, ...withoutStream } = properties;
    await createTable(this.dynamodbEndpoint, withoutStream, replica);
    const { behind, held } = staleReads;
    const settings = { stream: await this.#openStream(), table: replica, behind, held };
    this.#replica ??= new Replica(this.dynamodbEndpoint, settings);
    return new StaleReads(staleReads, { table: tableName, replica, state: this.#replica });
  }

  #withValues(secrets: SecretDefinition[]): Secret[] {
    const values = Object.entries(this.#options.secrets ?? {});
    return secrets.map((definition) => {
      const [, value] = values.find(([id]) => definition.id.startsWith(id)) ?? [];
      if (value === undefined) throw new Error(`The secret ${definition.id} needs a value.`);
      return { ...definition, value };
    });
  }
}
