/**
 * The stack, served from within the process of the tests: what they send over HTTP is handled by the very code in which
 * a mutant is active. Everything else is as for all stack tests.
 */
import { createWriteStream } from 'node:fs';
import { callTableOf } from '../../infra/local/call-table.ts';
import { seedDemo } from '../../infra/local/demo.ts';
import { LocalStack } from '../../infra/local/local-stack.ts';
import { Outside } from '../../infra/local/simulated/outside.ts';
import type { TestStack } from '../stack/support/serve.ts';
import { environment, FunctionHere, loaded } from './function-here.ts';

/** In milliseconds. */
const MINUTE = 1_000;
const PATIENCE = 30_000;

/** The stack, and what its functions find in their environment. */
export interface ServedHere {
  stack: TestStack;
  environment: Record<string, string>;
}

export const serveHere = async ({ assembly, log }: Pick<TestStack, 'assembly' | 'log'>): Promise<ServedHere> => {
  const table = `business-api-mutation-${process.pid}`;
  const lines = createWriteStream(log);
  const outside = await Outside.start({
    ports: { phone: 0, rapidpro: 0, turn: 0 },
    minute: MINUTE,
    patience: PATIENCE,
  });
  const { app, rapidpro, turn } = outside;
  const stack = await LocalStack.start({
    assembly: Promise.resolve(assembly),
    ports: { base: 0, bridge: 0 },
    dynamodbEndpoint: undefined,
    tableName: table,
    minute: MINUTE,
    secret: app.stackSecret,
    onLine: (source, line) => void lines.write(`${source} ${line}\n`),
    functions: FunctionHere,
  });
  await loaded();
  // Functions and tests call the table through one client here, so that readers of the stream learn of every write.
  const { AWS_ENDPOINT_URL_DYNAMODB: dynamodb_endpoint = '' } = environment;
  callTableOf({ dynamodbEndpoint: dynamodb_endpoint, table });
  Object.assign(process.env, environment);
  const demo = await seedDemo(outside);
  outside.connect({ bridgeUrl: stack.bridgeUrl, appToken: demo.app_token });
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
  };
  return { stack: served, environment };
};
