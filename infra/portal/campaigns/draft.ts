/** A campaign that is being written. */
import type { Table } from './csv.ts';
import type { Reading } from './people.ts';

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

export const emptyDraft = (): Draft => ({
  ...{ from: 'file', typed: '', source: undefined, country: '' },
  ...{ text: '', attachment: undefined, replies: [] },
  ...{ isLater: false, at: '', hours: 'account', open: '08:00', close: '20:00', zone: 'recipient' },
  name: '',
});

export const isEmpty = ({ typed, source, text, attachment }: Draft): boolean =>
  typed === '' && source === undefined && text === '' && attachment === undefined;
