/** Hostile tokens: none, malformed, or another account's. */
import fc from 'fast-check';
import type { Operation } from './description.ts';
import { INTACT, type Kind } from './kind.ts';
import type { Sent } from './wire.ts';
import { asHeader, write } from './writing.ts';

const takesToken = ({ token }: Operation): boolean => token !== 'none';
const takesHeader = ({ token }: Operation): boolean => token === 'header';

/** A request with these values as its Authorization headers. */
const authorized = (sent: Sent, values: string[]): Sent => ({
  ...sent,
  headers: [
    ...sent.headers.filter(([name]) => name !== 'Authorization'),
    ...values.map((value): [string, string] => ['Authorization', asHeader(value)]),
  ],
});

/** A token with another last digit: the format is valid, the checksum is not. */
const mistyped = (token: string): string => `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`;

/** An unknown token with a valid checksum. */
const UNKNOWN = 'bapi_000000000000000000000000000000000000000000000000000000000000000034b1e4cb';

/** Ways to write an Authorization header, most of them wrong. */
const SCHEMES: ((token: string) => string)[] = [
  () => '',
  () => ' ',
  () => 'Bearer',
  () => 'Bearer ',
  () => 'Bearer null',
  () => `Bearer ${UNKNOWN}`,
  (token) => `bEaReR    ${token}`,
  (token) => `Token ${token}`,
  (token) => token,
  (token) => `Bearer Bearer ${token}`,
  (token) => `Bearer\t${token}`,
  (token) => `Bearer ${token},`,
  (token) => `Bearer "${token}"`,
  (token) => `Bearer ${token} ${token}`,
  (token) => `Bearer ${token.toUpperCase()}`,
  (token) => `Bearer ${mistyped(token)}`,
  (token) => `Bearer ${token}\u00ff`,
  (token) => `Bearer ${'a'.repeat(5_000)}${token}`,
  (token) => `Basic ${Buffer.from(`user:${token}`).toString('base64')}`,
  (token) => `Digest username="${token}"`,
  () => 'Bearer __proto__',
  () => 'Bearer TOKEN',
  () => 'Bearer eyJhbGciOiJub25lIn0.e30.',
];

export const tokenKinds: Record<string, Kind> = {
  'no token': {
    applies: takesToken,
    rejected: true,
    make: (drafts) => drafts.map((draft) => ({ ...write({ ...draft, token: undefined }), caller: 'nobody' })),
  },
  'an odd token': {
    applies: takesToken,
    make: (drafts) =>
      fc.tuple(drafts, fc.constantFrom(...SCHEMES)).map(([draft, scheme]) => {
        const { token = '' } = draft;
        if (draft.operation.token === 'path') return write({ ...draft, token: scheme(token) });
        return authorized(write(draft), [scheme(token)]);
      }),
  },
  'a token without the permission': {
    applies: takesToken,
    rejected: true,
    make: (drafts, { lacking }) =>
      drafts.map((draft) => write({ ...draft, token: lacking.get(draft.operation.permission ?? ''), caller: 'ours' })),
  },
  "another account's token": {
    share: INTACT,
    applies: takesToken,
    make: (drafts, { tokens }) => drafts.map((draft) => write({ ...draft, token: tokens.theirs, caller: 'theirs' })),
  },
  'two tokens': {
    applies: takesHeader,
    rejected: true,
    make: (drafts, { tokens }) =>
      drafts.map((draft) => authorized(write(draft), [`Bearer ${tokens.ours}`, `Bearer ${tokens.theirs}`])),
  },
};
