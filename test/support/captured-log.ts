/** Captures the log lines of the code under test. */
import { afterEach, beforeEach, vi } from 'vitest';

/** Returns the lines since the beginning of the test, unchanged. Call it once in a test file, outside of its tests. */
export const captureLog = (): string[] => {
  const written: string[] = [];
  beforeEach(() => {
    written.length = 0;
    vi.spyOn(process.stdout, 'write').mockImplementation((line) => written.push(String(line)) > 0);
  });
  afterEach(() => void vi.restoreAllMocks());
  return written;
};
