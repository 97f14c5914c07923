/**
 * Fresh modules in a process that runs many test files. Every file gets its own copies of the project's modules, so
 * that no state of theirs, such as a client of the table, passes from file to file. Packages are loaded once.
 */
import { registerHooks } from 'node:module';

const ROOT = new URL('../..', import.meta.url).href;
const PACKAGES = new URL('node_modules/', ROOT).href;

const kept = globalThis as { testFiles?: { count: number } };

/** Modules that are loaded from now on are new copies. */
export const loadAnew = (): void => {
  if (kept.testFiles !== undefined) {
    kept.testFiles.count += 1;
    return;
  }
  const files = { count: 1 };
  kept.testFiles = files;
  registerHooks({
    resolve: (specifier, context, next) => {
      const resolved = next(specifier, context);
      const { url } = resolved;
      const isOurs = url.startsWith(ROOT) && !url.startsWith(PACKAGES) && !url.includes('?');
      return isOurs ? { ...resolved, url: `${url}?file=${files.count}` } : resolved;
    },
  });
};
