/** The log lines of the local stack, from the feed that it serves. */
import { setTimeout as pause } from 'node:timers/promises';
import type { FedLine } from '../local-stack/fed-line.ts';
import { findStack, type StackFile } from '../local-stack/stack-file.ts';
import { printNote } from '../output.ts';
import { UserError } from '../queries/accounts-admin.ts';
import { type Entry, sourceOf } from './entry.ts';
import type { Tailing } from './tailing.ts';

/** Milliseconds between two checks whether a stack is running again. */
const CHECK = 200;

/**
 * The lines of the local stack. Without `follow`, those that it keeps. With it, also new ones until the signal: after the
 * end of the stack, those of its next start.
 */
export async function* localEntries({ since, follow, signal }: Tailing): AsyncGenerator<Entry[]> {
  let after = '';
  let isWaiting = false;
  let isFirst = true;
  for (;;) {
    const stack = await findStack();
    if (stack !== undefined) {
      if (isWaiting) printNote(`The local stack runs again: ${stack.base_url}`);
      isWaiting = false;
      for await (const { id, time, source, text, kept } of linesOf(stack, { after, follow, signal })) {
        after = id;
        // A new line may have an earlier time: the clock of the stack can return to real time.
        const isNew = follow && (!isFirst || kept === undefined);
        if (isNew || time >= since) yield [{ time, source: sourceOf(source), text }];
      }
      isFirst = false;
    }
    if (signal.aborted || !follow) return;
    if (!isWaiting) printNote('The local stack has ended. Its log continues after the next start; Ctrl-C ends this.');
    isWaiting = true;
    await pause(CHECK, undefined, { signal }).catch(() => undefined);
  }
}

interface Place extends Pick<Tailing, 'follow' | 'signal'> {
  /** The id of the last line that was received. */
  after: string;
}

/** The lines of a stack until it ends, or until the signal. */
async function* linesOf(stack: StackFile, { after, follow, signal }: Place): AsyncGenerator<FedLine> {
  const query = new URLSearchParams({ after, follow: String(follow) });
  const response = await fetch(`${stack.phone_url}/log?${query}`, { signal }).catch(() => undefined);
  if (response === undefined) return;
  if (!response.ok || response.body === null) {
    throw new UserError(`The local stack at ${stack.base_url} has no log for this command: start it again.`);
  }
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for await (const chunk of response.body) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) yield JSON.parse(line) as FedLine;
    }
  } catch (error) {
    // The connection was lost: the stack has ended, or the signal came.
    if (!(error instanceof TypeError) && !signal.aborted) throw error;
  }
}
