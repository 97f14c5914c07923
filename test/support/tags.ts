/** Tags that select tests: `npm test` runs the quick ones, `npm run test:long` the others, and `npm run test:full` all. */
import type { TestTagDefinition } from 'vitest/config';

declare module 'vitest' {
  interface TestTags {
    tag: 'long' | 'fences';
  }
}

export const tags: TestTagDefinition[] = [
  {
    name: 'long',
    description: 'Takes longer: more cases of what a quick test checks too, domain functions with a table, or waits.',
  },
  { name: 'fences', description: 'Judges the calls that functions made in this run.' },
];

/** Whether all tests of a file are long, by its source. */
export const isLongFile = (source: string): boolean => /^ \* @module-tag long$/m.test(source);

/** Whether some tests of a file are long. */
export const hasLongTests = (source: string): boolean => isLongFile(source) || /tags: \[?'long'/.test(source);

/** The filter of `npm test`. */
export const QUICK = '!long';

/** The filter of `npm run test:long`. */
export const LONG = 'long || fences';
