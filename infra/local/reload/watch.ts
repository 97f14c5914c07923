/** Watches the sources of the functions and the stack. */
import { watch } from 'node:fs';
import { fileURLToPath } from 'node:url';

const SOURCES = ['functions', 'shared', 'infra'];
/** Editors write a file in several steps. A change counts as complete after this many milliseconds without another. */
const REST = 100;

/** Calls `changed` after each change of the sources. Calls do not overlap. */
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
