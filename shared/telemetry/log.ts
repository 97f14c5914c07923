/**
 * Structured log lines, one JSON object each. They contain ids of traces, accounts and messages, and results; never
 * phone numbers, values of properties, texts, paths or tokens.
 */
import { traceId } from './trace.ts';

export type Level = 'info' | 'warn' | 'error';

export type Fields = Record<string, string | number | string[] | undefined>;

/**
 * Writes one line, with the id of the current trace.
 *
 * @param message - a fixed text, so that searches find it, without characters that JSON escapes
 */
export const log = (level: Level, message: string, fields: Fields): void => write(level, message, fields);

/** Writes a line. `more` contains further members as JSON, and begins with a comma. Copying the fields would be slower. */
export const write = (level: Level, message: string, fields: Fields, more = ''): void => {
  fields.trace_id ??= traceId();
  const members = JSON.stringify(fields).slice(1, -1);
  process.stdout.write(`{"level":"${level}","message":"${message}"${members && ','}${members}${more}}\n`);
};

/** An error for the log: its name and its stack. Without its message, which may quote data. */
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
