/**
 * Runs before each test file, because a process runs many: undoes what earlier files changed of the environment, the
 * clock, global objects and modules, so that a file starts as in a new process.
 */
import { vi } from 'vitest';
import { restoreEnvironment } from './support/first-environment.ts';
import { loadAnew } from './support/fresh-modules.ts';

vi.useRealTimers();
vi.unstubAllGlobals();
vi.unstubAllEnvs();
restoreEnvironment();
if (!process.env.NODE_V8_COVERAGE) loadAnew();
