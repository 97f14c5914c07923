/** Watches the sources of the functions and the stack. */
import { watch } from 'node:fs';
import { join } from 'node:path/posix';
import { fileURLToPath } from 'node:url';

const SOURCES = ['functions', 'shared', 'infra'];
/** Editors write a file in several steps. A change counts as complete after this many milliseconds without another. */
const REST = 20;
/** Other files, such as those that editors write beside a source, are no sources. */
const SOURCE = /\.(ts|tsx|js|json|css|html|svg|md|txt)$/;

/**
 * Calls `changed` after each change, with the paths of the changed files, relative to the repository. Calls do not overlap:
 * changes during one are in the next.
 */
export const watchSources = (changed: (files: string[]) => Promise<void>): void => {
  let rest: NodeJS.Timeout | undefined;
  let running = Promise.resolve();
  const files = new Set<string>();
  const handle = async (): Promise<void> => {
    const found = [...files];
    files.clear();
    if (found.length > 0) await changed(found);
  };
  for (const folder of SOURCES) {
    watch(fileURLToPath(new URL(`../../../${folder}`, import.meta.url)), { recursive: true }, (_, name) => {
      if (name === null || !SOURCE.test(name)) return;
      files.add(join(folder, name.replaceAll('\\', '/')));
      clearTimeout(rest);
      rest = setTimeout(() => {
        running = running.then(handle);
      }, REST);
    });
  }
};
