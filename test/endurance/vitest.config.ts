/** `npm run test:endurance`: conversations and outages, on separate stacks. They take minutes, so CI runs them. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { LOCAL_STACK } from '../../infra/local/runtime/condition.ts';
import { summary } from '../support/summary.ts';
import { tags } from '../support/tags.ts';

// As in `npm test`, but shorter: the proxies of these tests also lose responses of the database.
process.env.TABLE_TIMEOUT_MS ??= '10000';

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    name: 'endurance',
    include: ['test/endurance/**/*.test.ts'],
    globalSetup: 'test/stack/support/serve.ts',
    execArgv: [`--conditions=${LOCAL_STACK}`],
    setupFiles: ['test/environment.ts', 'test/coverage.ts', 'test/stack/support/use-table.ts'],
    experimental: { viteModuleRunner: false },
    pool: 'forks',
    tags,
    reporters: [summary, 'default'],
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 50_000 } },
  },
});
