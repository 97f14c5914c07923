/** Tells when the sources of the functions or the stack have changed. */
import { watch } from 'node:fs';
import { fileURLToPath } from 'node:url';

const SOURCES = ['functions', 'shared', 'infra'];
/** An editor writes a file in several steps; this many milliseconds of rest end them. */
const REST = 100;

/** Calls `changed` after each change of the sources, never twice at a time. */
export const watchSources = (changed: () => Promise<void>): void => {
  let rest: NodeJS.Timeout | undefined;
  let running = Promise.resolve();
  for (const folder of SOURCES) {
    watch(fileURLToPath(new URL(`../../${folder}`, import.meta.url)), { recursive: true }, () => {
      clearTimeout(rest);
      rest = setTimeout(() => {
        running = running.then(changed);
      }, REST);
    });
  }
};
