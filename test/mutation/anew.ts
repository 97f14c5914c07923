/**
 * Runs before each test file, because a process runs many: resets modules and environment variables, so that each file
 * starts as in a new process.
 */
import { vi } from 'vitest';
import { restoreEnvironment } from '../support/first-environment.ts';

vi.resetModules();
restoreEnvironment();
