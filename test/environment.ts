/**
 * Runs before each test file, because a process runs many: undoes what earlier files changed of the environment, the
 * clock, global objects and modules, so that a file starts as in a new process.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { restoreEnvironment } from './support/first-environment.ts';
import { loadAnew } from './support/fresh-modules.ts';

/** These tests call the service's code, with the clients of AWS that the deployed functions have. */
const IN_PROCESS = /\/test\/(endurance|stack\/in-process)\//;
/** What commands of operators need, which have the clients of the SDK. */
const OPERATOR = /support\/operator\.ts|copied-table\.ts|operator\/program\.ts/;

vi.useRealTimers();
vi.unstubAllGlobals();
vi.unstubAllEnvs();
restoreEnvironment();
// With the compile cache, programs that a test starts begin in half the time. It would make coverage less exact.
if (process.env.NODE_V8_COVERAGE === undefined)
  process.env.NODE_COMPILE_CACHE = join(import.meta.dirname, '../.local/compile-cache');
const { testPath = '' } = expect.getState();
loadAnew(IN_PROCESS.test(testPath) && !OPERATOR.test(readFileSync(testPath, 'utf8')));
// The copies of this file: no test of a domain function reads the secret of hashes.
const [{ setHashSecret }, { HASH_SECRET }] = await Promise.all([
  import('../shared/core/keyed-hashes.ts'),
  import('../infra/operator/local-stack/hash-secret.ts'),
]);
setHashSecret(HASH_SECRET);
