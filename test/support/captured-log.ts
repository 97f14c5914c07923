/** Holds back the log lines of code under test, so that a test can look at them. */
import { afterEach, beforeEach, vi } from 'vitest';

/** The lines written since the test began, as they are. Call it once in a test file, outside its tests. */
export const captureLog = (): string[] => {
  const written: string[] = [];
  beforeEach(() => {
    written.length = 0;
    vi.spyOn(process.stdout, 'write').mockImplementation((line) => written.push(String(line)) > 0);
  });
  afterEach(() => void vi.restoreAllMocks());
  return written;
};
