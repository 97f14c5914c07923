/** The log of the served stack, line by line. */
import { readFile } from 'node:fs/promises';
import { inject } from 'vitest';

export interface LogLine {
  /** The function or host that wrote it. */
  source: string;
  line: Record<string, unknown>;
}

/** All log lines of functions and hosts so far. */
export const logLines = async (): Promise<LogLine[]> => {
  const written = await readFile(inject('stack').log, 'utf8');
  return written
    .split('\n')
    .slice(0, -1)
    .map((text) => {
      const [source = ''] = text.split(' ', 1);
      return { source, line: JSON.parse(text.slice(source.length + 1)) };
    });
};
