/** The draft of the campaign that is being written. It stays in the memory of this tab only: it contains personal data. */
import { useEffect, useState } from 'preact/hooks';
import { whenSignedOut } from '../session.ts';
import { type Draft, emptyDraft, isEmpty } from './draft.ts';
import type { Sending } from './sending.ts';

interface Memory {
  /** Another one after the draft was discarded, or another account has signed in. */
  id: symbol;
  account: string;
  draft: Draft;
  /** What has begun, and is not complete. */
  sending: Sending | undefined;
  /** Why the draft was rejected, of which nothing was sent. */
  rejection: unknown;
}

const emptyMemory = (account: string): Memory => ({
  ...{ id: Symbol('draft'), account, draft: emptyDraft() },
  ...{ sending: undefined, rejection: undefined },
});

let memory = emptyMemory('');
const watchers = new Set<() => void>();

/** Changes the draft, or what is being sent. */
const remember = (changes: Partial<Memory>): void => {
  memory = { ...memory, ...changes };
  for (const watcher of watchers) watcher();
};

/**
 * As `remember`, for what goes on for some time.
 *
 * @returns whether the draft is still the one of the present moment: else nothing is changed
 */
export const rememberer = (): ((changes: Partial<Memory>) => boolean) => {
  const { id } = memory;
  return (changes) => {
    const isSame = memory.id === id;
    if (isSame) remember(changes);
    return isSame;
  };
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

whenSignedOut(discard);

addEventListener('beforeunload', (event) => {
  if (!isEmpty(memory.draft) || memory.sending !== undefined) event.preventDefault();
});
