/** Idempotency keys: a hash distinguishes the repeat of a request from another request with the same key. */
import { createHash } from 'node:crypto';
import { Problem } from './problems.ts';

/** SHA-256 of a request, in base64url. It is stored with the item that the request created. */
export const hashOf = (request: unknown): string =>
  createHash('sha256').update(JSON.stringify(request)).digest('base64url');

/** @param what - the kind of thing that the key created: `message`, `profiler`, `request` */
export const idempotencyKeyReused = (what: string): Problem =>
  new Problem(
    'idempotency_key_reused',
    `This Idempotency-Key was used for another ${what}. Use a new key, or repeat the first request unchanged.`,
  );
