import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { LOCAL_STACK } from './infra/local/runtime/condition.ts';
import { localFolder } from './infra/local/stack-file.ts';
import { tags } from './test/support/tags.ts';

// Each test file has a process of its own, and many start others: all of them find what one has compiled. Coverage would
// be less exact by it.
if (!process.env.NODE_V8_COVERAGE) process.env.NODE_COMPILE_CACHE ??= join(localFolder, 'compile-cache');

export default defineConfig({
  test: {
    // Node itself loads the sources, as it does in production: nothing is transformed.
    experimental: { viteModuleRunner: false },
    pool: 'forks',
    tags,
    // One more than small machines have cores: many tests wait.
    maxWorkers: 3,
    // Tests load the modules that the local stack does: they shorten minutes, and call servers of this machine.
    execArgv: [`--conditions=${LOCAL_STACK}`],
    setupFiles: ['test/coverage.ts'],
    // Generous, for busy machines: no test waits for a time, only for what it tests.
    testTimeout: 120_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 50_000 } },
    projects: [
      { extends: true, test: { name: 'unit', include: ['test/unit/**/*.test.ts'] } },
      { extends: true, test: { name: 'infra', include: ['test/infra/**/*.test.ts'] } },
      { extends: true, test: { name: 'local', include: ['test/local/**/*.test.ts'] } },
      {
        extends: true,
        test: {
          name: 'stack',
          include: ['test/stack/**/*.test.ts'],
          globalSetup: 'test/stack/support/serve.ts',
          setupFiles: ['test/stack/support/use-table.ts', 'test/stack/support/record-tests.ts'],
        },
      },
      {
        extends: true,
        // After all others: it judges what the stack tests had functions do.
        test: { name: 'fences', include: ['test/fences/**/*.test.ts'], sequence: { groupOrder: 1 } },
      },
    ],
  },
});
