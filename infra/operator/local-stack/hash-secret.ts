/**
 * The secret of hashes of every local stack, so that this machine's programs find the items of its tables. It protects
 * nothing.
 */
export const HASH_SECRET = 'local';
