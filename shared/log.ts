/**
 * Structured log lines, one JSON object each. They say which request, which account, what came of it; never a phone
 * number, a value, a text, a path or a token.
 */

type Level = 'info' | 'warn' | 'error';

/** Writes one line. `message` is a fixed text that one can search for. */
export const log = (level: Level, message: string, fields: Record<string, string | number | undefined>): void => {
  process.stdout.write(`${JSON.stringify({ level, message, ...fields })}\n`);
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
