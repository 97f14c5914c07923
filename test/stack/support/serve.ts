/** Serves the stack once for all stack tests. */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { localFolder } from '../../../infra/local/stack-file.ts';
import { synthesise } from '../../../infra/local/synthesise.ts';
import { callsFile, recordCall, testAssembly } from '../../support/calls.ts';
import { startStack, type TestStack } from './start-stack.ts';

declare module 'vitest' {
  interface ProvidedContext {
    stack: TestStack;
  }
}

/** In milliseconds: attempts have a sixth of it, and whatever is due is looked for once in it. */
const MINUTE = 2_000;

export default async (project: TestProject) => {
  await mkdir(localFolder, { recursive: true });
  await rm(callsFile, { force: true });
  const { served, close } = await startStack({
    assembly: testAssembly,
    synthesised: synthesise(testAssembly, process.env.NODE_V8_COVERAGE ? 'linked' : 'minified'),
    log: join(localFolder, 'test.log'),
    table: `business-api-test-${process.pid}-${Date.now()}`,
    tableAt: async ({ dynamodbEndpoint }) => dynamodbEndpoint,
    minute: MINUTE,
    dynamodbEndpoint: process.env.DYNAMODB_ENDPOINT || undefined,
    onCall: recordCall,
  });
  project.provide('stack', served);
  return close;
};
