/**
 * Writes what a test process has for others: its coverage, where that is collected, and what it has compiled. The runner
 * ends its processes before they would.
 */
import { flushCompileCache } from 'node:module';
import { takeCoverage } from 'node:v8';
import { afterAll } from 'vitest';

afterAll(() => {
  takeCoverage();
  flushCompileCache();
});
