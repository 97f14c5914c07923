/** Whether contestants do the same work: they return the same response, and log the same line. */
import assert from 'node:assert/strict';
import type { Context } from 'aws-lambda';
import type { Case } from './cases.ts';
import type { Handler } from './work.ts';

export const context = { getRemainingTimeInMillis: () => 10_000 } as Context;

/** Redirects stdout to `take` during `work`. */
export const logging = async (take: (line: string) => void, work: () => Promise<void>): Promise<void> => {
  const { write } = process.stdout;
  process.stdout.write = (line) => {
    take(String(line));
    return true;
  };
  try {
    await work();
  } finally {
    process.stdout.write = write;
  }
};

/** A log line without times. */
const withoutTimes = ({ _aws, ...line }: Record<string, object>) => ({
  ...line,
  request_ms: 0,
  _aws: { ..._aws, Timestamp: 0 },
});

/** @throws AssertionError — a contestant does not do what the first one does, or another response is right */
export const checkEqual = async (contestants: Record<string, Handler>, { event, status }: Case): Promise<void> => {
  const seen: { name: string; does: { answer: { statusCode?: number | undefined }; lines: object[] } }[] = [];
  for (const [name, handler] of Object.entries(contestants)) {
    const lines: object[] = [];
    const take = (line: string) => lines.push(withoutTimes(JSON.parse(line)));
    await logging(take, async () => {
      const { statusCode, headers, body } = await handler(JSON.parse(event), context);
      const answer = { statusCode, type: headers?.['content-type'], cached: headers?.['cache-control'], body };
      seen.push({ name, does: { answer, lines } });
    });
  }
  const [first] = seen;
  assert.equal(first?.does.answer.statusCode, status);
  assert.equal(first?.does.lines.length, 1);
  for (const { name, does } of seen) assert.deepEqual(does, first?.does, `${name} does other work than the others do.`);
};
