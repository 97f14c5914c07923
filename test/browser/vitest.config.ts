import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: ['test/browser/**/*.test.ts'],
    globalSetup: 'test/browser/support/serve.ts',
    // Node itself loads the sources, as it does in production: nothing is transformed.
    experimental: { viteModuleRunner: false },
    pool: 'forks',
    // A browser is at work beside them.
    maxWorkers: 2,
    // Generous, for busy machines: no test waits for a time, only for what it tests.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 50_000 } },
  },
});
