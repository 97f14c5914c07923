/** Starts a stack for many tests, as `npm start` does, on free ports and a table of its own. */
import { createWriteStream } from 'node:fs';
import { callTableOf } from '../../../infra/local/call-table.ts';
import { seedDemo } from '../../../infra/local/demo.ts';
import { LocalStack, type LocalStackOptions } from '../../../infra/local/local-stack.ts';
import { Simulators } from '../../../infra/local/simulators/simulators.ts';
import type { StackFile } from '../../../infra/local/stack-file.ts';
import { callRecorder } from '../../support/run-record.ts';

/** The served stack, and where its log lines, its synthesised form and the record of its functions' calls are. */
export interface TestStack extends Omit<StackFile, 'docs_url'> {
  log: string;
  assembly: string;
  calls: string;
}

/** RapidPro waits as long as the real one does, in milliseconds: half of a short minute would be too little at times. */
const PATIENCE = 30_000;

type Settings = 'minute' | 'dynamodbEndpoint' | 'functions' | 'staleReads' | 'transactionsHeldFor';

interface Starting extends Pick<LocalStackOptions, Settings> {
  /** Where the synthesised stack stands, or will. */
  assembly: string;
  synthesised: Promise<unknown>;
  log: string;
  /** Where the calls of its functions are recorded. */
  calls: string;
  table: string;
  /** Where the tests find the table. */
  tableAt: (stack: LocalStack) => Promise<string>;
  /** What functions that run in this process find in its environment. */
  environment?: Record<string, string>;
}

/** Answers the stack, and a function that ends it. */
export const startStack = async ({
  assembly,
  synthesised,
  log,
  calls,
  table,
  tableAt,
  environment,
  ...options
}: Starting) => {
  const lines = createWriteStream(log);
  const simulators = await Simulators.start({
    ports: { phone: 0, rapidpro: 0, turn: 0 },
    minute: options.minute,
    patience: PATIENCE,
  });
  const { app, rapidpro, turn } = simulators;
  const stack = await LocalStack.start({
    ...options,
    assembly: synthesised.then(() => assembly),
    ports: { base: 0, bridge: 0 },
    tableName: table,
    secret: app.stackSecret,
    onLine: (source, line) => void lines.write(`${source} ${line}\n`),
    onCall: callRecorder(calls),
  });
  const dynamodb_endpoint = await tableAt(stack);
  callTableOf({ dynamodbEndpoint: dynamodb_endpoint, table });
  Object.assign(process.env, environment);
  const demo = await seedDemo(simulators);
  simulators.connect({ bridgeUrl: stack.bridgeUrl, appToken: demo.app_token });
  const served: TestStack = {
    base_url: stack.baseUrl,
    bridge_url: stack.bridgeUrl,
    dynamodb_endpoint,
    s3_endpoint: stack.bucketsEndpoint,
    table,
    phone_url: app.phoneUrl,
    app_url: app.appUrl,
    rapidpro_url: rapidpro.url,
    turn_url: turn.url,
    ...demo,
    pid: process.pid,
    log,
    assembly,
    calls,
  };
  const close = async (): Promise<void> => {
    await stack.close();
    await simulators.close();
    lines.end();
  };
  return { served, close };
};
