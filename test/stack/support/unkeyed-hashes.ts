/** Hashes that someone without the secret can make. */
import { createHash } from 'node:crypto';

/** The beginnings of unkeyed hashes of texts, in the usual forms. */
export const unkeyedHashesOf = (texts: string[]): string[] =>
  texts.flatMap((text) =>
    ['sha256', 'sha1', 'md5'].flatMap((algorithm) => {
      const hash = createHash(algorithm).update(text).digest();
      const hex = hash.toString('hex').slice(0, 12);
      return [hex, hex.toUpperCase(), hash.toString('base64').slice(0, 12), hash.toString('base64url').slice(0, 12)];
    }),
  );
