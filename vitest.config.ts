import { globSync, readFileSync } from 'node:fs';
import { configDefaults, defineConfig } from 'vitest/config';
import { LOCAL_STACK } from './infra/local/runtime/condition.ts';
import { summary } from './test/support/summary.ts';
import { isLongFile, QUICK, tags } from './test/support/tags.ts';

// A test is of what the database returns, not of when: on a busy machine a call may take longer than a caller waits.
process.env.TABLE_TIMEOUT_MS ??= '30000';

/** The files whose tests are all long. A quick run does not load them, which would take longer than most tests. */
const longFiles = (): string[] =>
  globSync('test/{unit,infra,local,stack}/**/*.test.ts').filter((file) => isLongFile(readFileSync(file, 'utf8')));

export default defineConfig({
  test: {
    exclude: [...configDefaults.exclude, ...(process.argv.includes(QUICK) ? longFiles() : [])],
    // Node itself loads the sources, as it does in production: nothing is transformed.
    experimental: { viteModuleRunner: false },
    pool: 'forks',
    // A process runs many files: loading packages takes longer than most tests. `test/environment.ts` keeps the files
    // apart. Coverage would be less exact by it.
    isolate: Boolean(process.env.NODE_V8_COVERAGE),
    tags,
    reporters: [summary, 'default'],
    // One more than small machines have cores: many tests wait.
    maxWorkers: 3,
    // Tests load the modules that the local stack does: they shorten minutes, and call servers of this machine.
    // Helper threads of the garbage collector only compete with the other processes.
    execArgv: [`--conditions=${LOCAL_STACK}`, '--single-threaded-gc'],
    setupFiles: ['test/environment.ts', 'test/coverage.ts'],
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
