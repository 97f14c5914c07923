/** Idempotency keys: a hash distinguishes the repeat of a request from another request with the same key. */
import { keyedHash } from './keyed-hashes.ts';
import { Problem } from './problems.ts';

/** The keyed hash of a request, which may contain a number and a text. It stays when the user is erased. */
export const hashOf = (request: unknown): string => keyedHash('request', JSON.stringify(request));

/** @param what - the kind of thing that the key created: `message`, `profiler`, `request` */
export const idempotencyKeyReused = (what: string): Problem =>
  new Problem(
    'idempotency_key_reused',
    `This Idempotency-Key was used for another ${what}. Use a new key, or repeat the first request unchanged.`,
  );
