import { Problem } from '../problems.ts';
import type { HttpMiddleware } from './event.ts';

/** Keeps the bytes of a body, before a parser puts what they say in its place: signatures are made over them. */
export const keepBytes = (): HttpMiddleware => ({
  before: function keepBytesBefore({ event }) {
    event.bytes = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8');
  },
});

/**
 * Refuses a form that cannot be read: its parser takes anything, and puts replacement characters where it cannot.
 *
 * @throws malformed_body — a broken percent-encoding, or text that is not UTF-8
 */
export const refuseBrokenForm = (): HttpMiddleware => ({
  before: function refuseBrokenFormBefore({ event }) {
    if (isReadable(event.bytes)) return;
    throw new Problem('malformed_body', 'The form holds a broken percent-encoding, or text that is not UTF-8.');
  },
});

const isReadable = (bytes: Buffer | undefined): boolean => {
  try {
    decodeURIComponent(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return true;
  } catch {
    return false;
  }
};
