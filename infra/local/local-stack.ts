/** The stack on this machine: what the template says, served by two gateways, threads, and a database. */
import { createTable, type Database, openDatabase } from './database.ts';
import { FunctionPool } from './function-pool.ts';
import { Gateway } from './gateway.ts';
import { runSchedules } from './schedules.ts';
import { StartError } from './start-error.ts';
import { TableGuard } from './table-guard.ts';
import { readTemplate, type Template } from './template.ts';

export interface LocalStackOptions {
  /** Where the stack was synthesised, or will have been when the promise fulfils. */
  assembly: Promise<string>;
  /** Ports of the API host and the bridge host; 0 takes free ones. */
  ports: { base: number; bridge: number };
  /** A database to use instead of the embedded one. */
  dynamodbEndpoint: string | undefined;
  tableName: string;
  /** Milliseconds that count as a minute for schedules. */
  minute: number;
  /** Takes every log line: of functions, and of the hosts' access logs. */
  onLine: (source: string, line: string) => void;
}

/** What a stack runs on. */
interface Parts {
  gateways: Record<'base' | 'bridge', Gateway>;
  urls: Record<'base' | 'bridge', string>;
  database: Database;
  guard: TableGuard;
  /** Where functions find the table: behind the guard. */
  guardedEndpoint: string;
}

export class LocalStack {
  readonly baseUrl: string;
  readonly bridgeUrl: string;
  /** Where operators find the table: nobody guards it from them. */
  readonly dynamodbEndpoint: string;
  readonly #options: LocalStackOptions;
  readonly #parts: Parts;
  #functions = new Map<string, FunctionPool>();
  #stopSchedules: () => void = () => undefined;

  private constructor(options: LocalStackOptions, parts: Parts) {
    this.#options = options;
    this.#parts = parts;
    this.baseUrl = parts.urls.base;
    this.bridgeUrl = parts.urls.bridge;
    this.dynamodbEndpoint = parts.database.endpoint;
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
        base: await listen(gateways.base, options.ports.base),
        bridge: await listen(gateways.bridge, options.ports.bridge),
      };
      const database = await openDatabase(options.dynamodbEndpoint);
      const guard = new TableGuard(database.endpoint, options.onLine);
      opened.push(database, guard);
      const guardedEndpoint = await guard.listen();
      const stack = new LocalStack(options, { gateways, urls, database, guard, guardedEndpoint });
      await stack.load(await options.assembly);
      return stack;
    } catch (error) {
      await Promise.all(opened.map((part) => part.close()));
      throw error;
    }
  }

  /** Serves another assembly of the stack from now on; the table stays as it is. */
  async load(assembly: string): Promise<void> {
    const { tableName, minute, onLine } = this.#options;
    const template = await readTemplate(assembly, { tableName, baseUrl: this.baseUrl, bridgeUrl: this.bridgeUrl });
    await createTable(this.dynamodbEndpoint, template.table, tableName);

    const old = this.#functions;
    this.#parts.guard.judgeBy(template);
    this.#functions = this.#startFunctions(template);
    const invoke = (id: string, event: unknown) => this.#invoke(id, event);
    for (const name of ['base', 'bridge'] as const) {
      this.#parts.gateways[name].serve({
        definition: template.hosts[name],
        invoke,
        onLine: (line) => onLine(template.hosts[name].id, line),
      });
    }
    this.#stopSchedules();
    this.#stopSchedules = runSchedules(template.schedules, minute, invoke);
    await Promise.all([...old.values()].map((pool) => pool.close()));
  }

  /** What functions' roles allow and no call has needed so far, by function. */
  unusedRights(): Record<string, string[]> {
    return this.#parts.guard.unusedRights();
  }

  async close(): Promise<void> {
    this.#stopSchedules();
    await Promise.all(Object.values(this.#parts.gateways).map((gateway) => gateway.close()));
    await Promise.all([...this.#functions.values()].map((pool) => pool.close()));
    await this.#parts.guard.close();
    await this.#parts.database.close();
  }

  #invoke(id: string, event: unknown): Promise<unknown> {
    const pool = this.#functions.get(id);
    if (pool === undefined) throw new Error(`The template names no function ${id}.`);
    return pool.invoke(event);
  }

  #startFunctions({ functions }: Template): Map<string, FunctionPool> {
    return new Map(
      functions.map((definition) => [
        definition.id,
        new FunctionPool(
          definition,
          { ...lambdaEnvironment(definition.id, this.#parts.guardedEndpoint), ...definition.environment },
          (line) => this.#options.onLine(definition.id, line),
        ),
      ]),
    );
  }
}

/** What Lambda's runtime adds to a function's environment. The access key names the function to the endpoints here. */
const lambdaEnvironment = (id: string, dynamodbEndpoint: string): Record<string, string> => ({
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: id,
  AWS_SECRET_ACCESS_KEY: 'local',
  AWS_SESSION_TOKEN: 'local',
  AWS_LAMBDA_FUNCTION_NAME: id,
  AWS_ENDPOINT_URL_DYNAMODB: dynamodbEndpoint,
  // The files of this machine's user have no say here.
  AWS_CONFIG_FILE: '/dev/null',
  AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  TZ: ':UTC',
  // Set where test coverage is collected.
  ...(process.env.NODE_V8_COVERAGE && { NODE_V8_COVERAGE: process.env.NODE_V8_COVERAGE }),
});

const listen = async (gateway: Gateway, port: number): Promise<string> => {
  try {
    return await gateway.listen(port);
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error;
    if (error.code === 'EADDRINUSE') throw new StartError(`Port ${port} is taken: set PORT to another one.`);
    throw new StartError(`Port ${port} cannot be used (${error.code}): set PORT to another one.`);
  }
};
