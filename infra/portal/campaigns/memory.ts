/** The draft of the campaign that is being written. It stays in the memory of this tab only: it contains personal data. */
import { useEffect, useState } from 'preact/hooks';
import { type Draft, emptyDraft } from './draft.ts';
import type { Sending } from './sending.ts';

interface Memory {
  account: string;
  draft: Draft;
  /** What has begun, and is not complete. */
  sending: Sending | undefined;
  /** Why the draft was rejected, of which nothing was sent. */
  rejection: unknown;
}

const emptyMemory = (account: string): Memory => ({
  ...{ account, draft: emptyDraft() },
  ...{ sending: undefined, rejection: undefined },
});

let memory = emptyMemory('');
const watchers = new Set<() => void>();

/** Changes the draft, or what is being sent. */
export const remember = (changes: Partial<Memory>): void => {
  memory = { ...memory, ...changes };
  for (const watcher of watchers) watcher();
};

export const change = (changes: Partial<Draft>): void =>
  remember({ draft: { ...memory.draft, ...changes }, rejection: undefined });

/** Forgets the draft. */
export const discard = (): void => {
  if (memory.draft.attachment) URL.revokeObjectURL(memory.draft.attachment.preview);
  remember(emptyMemory(memory.account));
};

/** The draft of an account, and what is being sent. Another account begins with an empty one. */
export const useMemory = (account: string): Memory => {
  const [, draw] = useState(0);
  if (memory.account !== account) memory = emptyMemory(account);
  useEffect(() => {
    const watcher = () => draw((round) => round + 1);
    watchers.add(watcher);
    return () => void watchers.delete(watcher);
  }, []);
  return memory;
};
