/** The campaign that is being written. It stays in the memory of this tab only: it contains personal data. */
import { useEffect, useState } from 'preact/hooks';
import type { Table } from './csv.ts';
import type { Reading } from './people.ts';
import type { Sending } from './sending.ts';

/** A table that was read from a file. */
export interface Source extends Reading {
  name: string;
  table: Table;
}

export type MediaType = 'image' | 'video' | 'audio' | 'file';

/** An uploaded file. */
export interface Attachment {
  type: MediaType;
  name: string;
  url: string;
  /** The picture or film, as the page shows it. */
  preview: string;
}

export interface Draft {
  /** Whether the people come from a file, or from the typed list. */
  from: 'file' | 'typed';
  typed: string;
  source: Source | undefined;
  /** The calling code for numbers in national format. */
  country: string;
  text: string;
  attachment: Attachment | undefined;
  replies: string[];
  isLater: boolean;
  /** The local time of an input, without a zone: `2026-11-27T09:00`. */
  at: string;
  /** `account`: the hours that the account has, if any. */
  hours: 'account' | 'own' | 'any';
  open: string;
  close: string;
  /** The name of an IANA time zone, or `recipient`. */
  zone: string;
  name: string;
}

const emptyDraft = (): Draft => ({
  ...{ from: 'file', typed: '', source: undefined, country: '' },
  ...{ text: '', attachment: undefined, replies: [] },
  ...{ isLater: false, at: '', hours: 'account', open: '08:00', close: '20:00', zone: 'recipient' },
  name: '',
});

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

export const isEmpty = ({ typed, source, text, attachment }: Draft): boolean =>
  typed === '' && source === undefined && text === '' && attachment === undefined;

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
