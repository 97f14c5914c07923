/** The tests that run for mutants: the unit tests, which run the code of `shared/` in their own process. */
import { defineConfig } from 'vitest/config';
import { LOCAL_STACK } from '../../infra/local/runtime/condition.ts';
import { tags } from '../support/tags.ts';

export default defineConfig({
  test: {
    include: ['test/unit/**/*.test.ts'],
    // As in the other tests, Node itself loads the sources. Without isolation, a mutant would stay from file to file.
    experimental: { viteModuleRunner: false },
    tags,
    execArgv: [`--conditions=${LOCAL_STACK}`],
    setupFiles: ['test/environment.ts'],
    testTimeout: 12_000,
  },
});
