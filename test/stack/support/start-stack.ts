/** Starts a stack for many tests, like `npm start`, on free ports and with a separate table. */
import { createWriteStream } from 'node:fs';
import type { LocalStackOptions } from '../../../infra/local/local-stack.ts';
import type { StackFile } from '../../../infra/operator/local-stack/stack-file.ts';
import { callRecorder } from '../../support/run-record.ts';
import { startSimulatedStack } from '../../support/simulated-stack.ts';

/** The served stack, and the paths of its log, its synthesised assembly, and the record of its functions' calls. */
export interface TestStack extends Omit<StackFile, 'docs_url'> {
  log: string;
  assembly: string;
  calls: string;
}

/** The time that RapidPro waits for a response, in milliseconds. Half of a short minute is sometimes too short. */
const TIMEOUT_MS = 30_000;

type Settings = 'minute' | 'dynamodbEndpoint' | 'staleReads' | 'transactionsHeldFor';

interface Starting extends Pick<LocalStackOptions, Settings> {
  assembly: Promise<string>;
  log: string;
  /** The path of the record of the functions' calls. */
  calls: string;
  table: string;
}

/** Starts the stack. Returns the stack and a function that stops it. */
export const startStack = async ({ assembly, log, calls, table, ...options }: Starting) => {
  const lines = createWriteStream(log);
  const { stack, simulators, demo, close } = await startSimulatedStack({
    ...options,
    assembly,
    tableName: table,
    timeoutMs: TIMEOUT_MS,
    // Tests of all endpoints send more than people who sign in.
    throttles: false,
    onLine: (source, line) => void lines.write(`${source} ${line}\n`),
    onCall: callRecorder(calls),
  });
  const { app, rapidpro, turn } = simulators;
  const served: TestStack = {
    base_url: stack.baseUrl,
    bridge_url: stack.bridgeUrl,
    dynamodb_endpoint: stack.dynamodbEndpoint,
    s3_endpoint: stack.bucketsEndpoint,
    aws_endpoint: stack.awsEndpoint,
    queues: stack.queueUrls(),
    table,
    phone_url: app.phoneUrl,
    app_url: app.appUrl,
    rapidpro_url: rapidpro.url,
    turn_url: turn.url,
    ...demo,
    pid: process.pid,
    log,
    assembly: await assembly,
    calls,
  };
  return { served, close: () => close().finally(() => lines.end()) };
};
