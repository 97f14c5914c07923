/** Serves the stack once for all stack tests, as `npm start` does, on free ports and a table of its own. */
import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { callTableOf } from '../../../infra/local/call-table.ts';
import { seedDemo } from '../../../infra/local/demo.ts';
import { LocalStack } from '../../../infra/local/local-stack.ts';
import { Outside } from '../../../infra/local/simulated/outside.ts';
import { localFolder, type StackFile } from '../../../infra/local/stack-file.ts';
import { synthesise } from '../../../infra/local/synthesise.ts';
import { callsFile, recordCall, testAssembly } from '../../support/calls.ts';

/** The served stack, and where its log lines and its synthesised form stand. */
export interface TestStack extends Omit<StackFile, 'docs_url'> {
  log: string;
  assembly: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    stack: TestStack;
  }
}

/** In milliseconds: attempts have a sixth of it, and whatever is due is looked for once in it. */
const MINUTE = 2_000;

/** RapidPro waits as long as the real one does, in milliseconds: half of a short minute would be too little at times. */
const PATIENCE = 30_000;

export default async (project: TestProject) => {
  const assembly = testAssembly;
  const log = join(localFolder, 'test.log');
  const table = `business-api-test-${process.pid}-${Date.now()}`;
  await mkdir(localFolder, { recursive: true });
  await rm(callsFile, { force: true });
  const lines = createWriteStream(log);

  const outside = await Outside.start({
    ports: { phone: 0, rapidpro: 0, turn: 0 },
    minute: MINUTE,
    patience: PATIENCE,
  });
  const { app, rapidpro, turn } = outside;
  const stack = await LocalStack.start({
    assembly: synthesise(assembly, process.env.NODE_V8_COVERAGE ? 'linked' : 'minified').then(() => assembly),
    ports: { base: 0, bridge: 0 },
    dynamodbEndpoint: process.env.DYNAMODB_ENDPOINT || undefined,
    tableName: table,
    minute: MINUTE,
    secret: app.stackSecret,
    onLine: (source, line) => void lines.write(`${source} ${line}\n`),
    onCall: recordCall,
  });
  callTableOf({ dynamodbEndpoint: stack.dynamodbEndpoint, table });
  const demo = await seedDemo(outside);
  outside.connect({ bridgeUrl: stack.bridgeUrl, appToken: demo.app_token });
  project.provide('stack', {
    base_url: stack.baseUrl,
    bridge_url: stack.bridgeUrl,
    dynamodb_endpoint: stack.dynamodbEndpoint,
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
  });
  return async () => {
    await stack.close();
    await outside.close();
    lines.end();
  };
};
