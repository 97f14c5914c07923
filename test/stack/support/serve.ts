/** Serves the stack once for all stack tests, as `npm start` does, on free ports and a table of its own. */
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { callTableOf } from '../../../infra/local/call-table.ts';
import { seedDemo } from '../../../infra/local/demo.ts';
import { LocalStack } from '../../../infra/local/local-stack.ts';
import { AppNetwork } from '../../../infra/local/simulated/app-network.ts';
import { localFolder, type StackFile } from '../../../infra/local/stack-file.ts';
import { synthesise } from '../../../infra/local/synthesise.ts';

/** The served stack, and where its log lines and its synthesised form stand. */
export interface TestStack extends StackFile {
  log: string;
  assembly: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    stack: TestStack;
  }
}

export default async (project: TestProject) => {
  const assembly = join(localFolder, 'test-assembly');
  const log = join(localFolder, 'test.log');
  const table = `business-api-test-${process.pid}-${Date.now()}`;
  await mkdir(localFolder, { recursive: true });
  const lines = createWriteStream(log);

  const app = await AppNetwork.start({ port: 0 });
  const stack = await LocalStack.start({
    assembly: synthesise(assembly, process.env.NODE_V8_COVERAGE ? 'linked' : 'mapped').then(() => assembly),
    ports: { base: 0, bridge: 0 },
    dynamodbEndpoint: process.env.DYNAMODB_ENDPOINT || undefined,
    tableName: table,
    minute: 1_000,
    secret: app.stackSecret,
    onLine: (source, line) => void lines.write(`${source} ${line}\n`),
  });
  callTableOf({ dynamodbEndpoint: stack.dynamodbEndpoint, table });
  const demo = await seedDemo();
  app.connect({ bridgeUrl: stack.bridgeUrl, appToken: demo.app_token });
  project.provide('stack', {
    base_url: stack.baseUrl,
    bridge_url: stack.bridgeUrl,
    dynamodb_endpoint: stack.dynamodbEndpoint,
    table,
    phone_url: app.phoneUrl,
    app_url: app.appUrl,
    ...demo,
    pid: process.pid,
    log,
    assembly,
  });
  return async () => {
    await stack.close();
    await app.close();
    lines.end();
  };
};
