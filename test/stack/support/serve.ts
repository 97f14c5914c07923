/** Serves the stack once for all stack tests. */
import { randomInt } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { localFolder } from '../../../infra/local/stack-file.ts';
import { synthesise } from '../../../infra/local/synthesise.ts';
import { callsFile, recordCall, testAssembly } from '../../support/calls.ts';
import { seeded } from '../../support/seeded.ts';
import { startStack, type TestStack } from './start-stack.ts';

declare module 'vitest' {
  interface ProvidedContext {
    stack: TestStack;
  }
}

/** The share of eventually consistent reads that are stale. */
const STALE = 0.25;
/** Milliseconds that a transaction's items are held for. */
const HELD_FOR = 3;

/** Lists are behind at times, and read again: tests of them read once. */
const mayBeStale = (caller: string): boolean => !/^List(Logs|Jobs)/.test(caller);

/** In milliseconds: attempts have a sixth of it, and whatever is due is looked for once in it. */
const MINUTE = 2_000;

export default async (project: TestProject) => {
  await mkdir(localFolder, { recursive: true });
  await rm(callsFile, { force: true });
  const { STALE_READS: seed = String(randomInt(1e9)) } = process.env;
  console.info(`Reads are stale, and transactions conflict, as with STALE_READS=${seed} (none: STALE_READS=none).`);
  const consistency = seed !== 'none' && {
    staleReads: { share: STALE, random: seeded(Number(seed)), of: mayBeStale },
    transactionsHeldFor: HELD_FOR,
  };
  const { served, close } = await startStack({
    assembly: testAssembly,
    synthesised: synthesise(testAssembly, process.env.NODE_V8_COVERAGE ? 'linked' : 'minified'),
    log: join(localFolder, 'test.log'),
    table: `business-api-test-${process.pid}-${Date.now()}`,
    tableAt: async ({ dynamodbEndpoint }) => dynamodbEndpoint,
    minute: MINUTE,
    dynamodbEndpoint: process.env.DYNAMODB_ENDPOINT || undefined,
    onCall: recordCall,
    ...consistency,
  });
  project.provide('stack', served);
  return close;
};
