/**
 * Hashes of personal data: of a phone number, alone or with a text. There are so few numbers that whoever knows an unkeyed
 * hash of one finds it in seconds. So every such hash is keyed with a secret of the deployment, which is outside the table.
 */
import { createHash, createHmac } from 'node:crypto';

/** The secret, once this process has read it. */
let secret: string | undefined;

/** Whether this process has the secret. */
export const hasHashSecret = (): boolean => secret !== undefined;

/** Sets the secret of this process: `hash-secret.ts` reads it. */
export const setHashSecret = (value: string): void => {
  secret = value;
};

/** Characters of a keyed hash: 132 bits in base64url, so that no two texts of a deployment have the same one. */
const LENGTH = 22;

/**
 * The keyed hash of some texts: HMAC-SHA-256, in base64url.
 *
 * @param what - what is hashed: the same number has another hash in another place
 * @throws NoHashSecret — the function does not read the secret: its handler needs `withHashes`
 */
export const keyedHash = (what: string, ...texts: string[]): string => {
  if (secret === undefined)
    throw Object.assign(new Error('The secret of hashes is not read.'), { name: 'NoHashSecret' });
  return createHmac('sha256', secret)
    .update(JSON.stringify([what, ...texts]))
    .digest('base64url')
    .slice(0, LENGTH);
};

/** The SHA-256 of what is no personal data, in hexadecimal: of random tokens, of ids, or of files. */
export const unkeyedHash = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');
