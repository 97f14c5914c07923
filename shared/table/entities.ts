/** The rows that several domains write. */
import type { Entity } from './entity.ts';
import { DELETIONS, IDEMPOTENCY } from './keys.ts';

const idempotencyKey = {
  name: 'idempotency key',
  pk: IDEMPOTENCY,
  sk: 'IDEMPOTENCY',
  account: ({ pk }) => pk.split('#')[1] ?? '',
  restore: 'missing',
  expires: true,
  // A keyed hash of the key, and ids.
  person: 'none',
  access: { findIdempotencyKey: 'GetItem', putIdempotencyKey: 'PutItem' },
} as const satisfies Entity;

const deletion = {
  name: 'deletion marker',
  pk: DELETIONS,
  sk: 'DELETED',
  restore: 'everything',
  expires: true,
  person: 'none',
  access: { putDeletion: 'PutItem' },
} as const satisfies Entity;

export const tableEntities = [idempotencyKey, deletion] as const;
