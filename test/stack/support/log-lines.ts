/** The log of the served stack, line by line. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { inject } from 'vitest';

export interface LogLine {
  /** The function or host that wrote it. */
  source: string;
  line: Record<string, unknown>;
}

const { log } = inject('stack');

/** Bytes of the log when the file of this test began: a run of all tests writes megabytes. */
const { size } = await stat(log);

/** All log lines that functions and hosts have written since the file of this test began. */
export const logLines = async (): Promise<LogLine[]> => {
  // What comes before the first line break is of an earlier line; and after the last one, of a line that is being written.
  const written = await text(createReadStream(log, { start: Math.max(size - 1, 0) }));
  return written
    .split('\n')
    .slice(Math.min(size, 1), -1)
    .map((line) => {
      const [source = ''] = line.split(' ', 1);
      return { source, line: JSON.parse(line.slice(source.length + 1)) };
    });
};
