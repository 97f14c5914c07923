import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { summary } from '../support/summary.ts';

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: ['test/browser/**/*.test.ts'],
    globalSetup: 'test/browser/support/serve.ts',
    // Node loads the sources without transformation, as in production.
    experimental: { viteModuleRunner: false },
    pool: 'forks',
    // A process, with one browser, runs many files: they only direct it to the shared stack.
    isolate: false,
    reporters: [summary, 'default'],
    // The browser needs processor time too.
    maxWorkers: 2,
    // Long timeouts for busy machines, and because what was made due is sent by the sweep, once a minute. Tests wait for
    // conditions, so they do not take longer.
    testTimeout: 240_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 120_000 } },
  },
});
