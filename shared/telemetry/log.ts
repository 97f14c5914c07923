/**
 * Structured log lines, one JSON object each. They say which trace, which account, which message, what came of it; never
 * a phone number, a value, a text, a path or a token.
 */
import { traceId } from './trace.ts';

export type Level = 'info' | 'warn' | 'error';

export type Fields = Record<string, string | number | string[] | undefined>;

/** Writes one line, with the id of the current trace. `message` is a fixed text that one can search for. */
export const log = (level: Level, message: string, fields: Fields): void => write({ level, message, ...fields });

/** Writes a line, with `more` at its end: further members, as JSON. */
export const write = (line: Record<string, unknown>, more = ''): void => {
  const { trace_id = traceId() } = line;
  process.stdout.write(`${JSON.stringify({ ...line, trace_id }).slice(0, -1)}${more}}\n`);
};

/** An error as the log may hold it: its kind and where it came from. Its message may quote data, so it stays out. */
export const describeError = (error: unknown): { error: string; at?: string } => {
  if (!(error instanceof Error)) return { error: typeof error };
  const frames = error.stack?.split('\n').filter((line) => line.startsWith('    at ')) ?? [];
  return {
    error: error.name,
    at: frames
      .slice(0, 8)
      .map((frame) => frame.trim())
      .join(' < '),
  };
};
