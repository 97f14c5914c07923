/**
 * Runs before each test file, because a process runs many: undoes what earlier files changed of the environment, the
 * clock, global objects and modules, so that a file starts as in a new process.
 */
import { expect, vi } from 'vitest';
import { restoreEnvironment } from './support/first-environment.ts';
import { loadAnew } from './support/fresh-modules.ts';

/** Its tests run the service's code in this process, but with the clients of AWS that the deployed functions have. */
const AS_DEPLOYED = '/test/stack/in-process/failing-calls/';

vi.useRealTimers();
vi.unstubAllGlobals();
vi.unstubAllEnvs();
restoreEnvironment();
const { testPath = '' } = expect.getState();
if (!process.env.NODE_V8_COVERAGE) loadAnew(testPath.includes(AS_DEPLOYED));
// The copies of this file: no test of a domain function reads the secret of hashes.
const [{ setHashSecret }, { HASH_SECRET }] = await Promise.all([
  import('../shared/core/keyed-hashes.ts'),
  import('../infra/operator/local-stack/hash-secret.ts'),
]);
setHashSecret(HASH_SECRET);
