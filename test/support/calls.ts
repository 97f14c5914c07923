/** The record of what functions called in AWS while the stack tests ran, on all stacks that these served. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MadeCall } from '../../infra/local/aws/iam/roles.ts';
import { localFolder } from '../../infra/local/stack-file.ts';

/** Where the stack that the tests run on stands as it was synthesised. */
export const testAssembly = join(localFolder, 'test-assembly');

/** One call a line, as JSON. */
export const callsFile = join(localFolder, 'test-calls.jsonl');

/** Adds a kind of call. Several processes do, and each line is written whole. */
export const recordCall = (call: MadeCall): void => appendFileSync(callsFile, `${JSON.stringify(call)}\n`);
