/** Tags that select tests. `npm test` leaves out long tests; `npm run test:full` runs all. */
import type { TestTagDefinition } from 'vitest/config';

declare module 'vitest' {
  interface TestTags {
    tag: 'long' | 'fences';
  }
}

export const tags: TestTagDefinition[] = [
  { name: 'long', description: 'Takes many seconds: more cases of what a quick test checks too, or long waits.' },
  { name: 'fences', description: 'Judges the calls that functions made in this run.' },
];

/** The filter of `npm test`. */
export const QUICK = '!long';
