/** Hashes of personal data: nobody finds a number by its hash without the secret. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { keyedHash, setHashSecret } from '../../../shared/core/keyed-hashes.ts';

const PHONE = '27821234567';

test('the same texts always have the same hash, and another text, place or secret has another one', () => {
  setHashSecret('one');
  const hash = keyedHash('user', 'acme', PHONE);
  expect(keyedHash('user', 'acme', PHONE)).toBe(hash);
  expect(hash).toMatch(/^[\w-]{22}$/);
  const others = [
    keyedHash('contact', 'acme', PHONE),
    keyedHash('user', 'acm', `e${PHONE}`),
    keyedHash('user', 'acme', '27821234568'),
  ];
  setHashSecret('two');
  expect(new Set([hash, ...others, keyedHash('user', 'acme', PHONE)]).size).toBe(5);
});

test('the hash is none that can be made without the secret', () => {
  setHashSecret('one');
  const texts = [PHONE, JSON.stringify(['user', PHONE]), `user ${PHONE}`];
  const unkeyed = texts.map((text) => createHash('sha256').update(text).digest('base64url').slice(0, 22));
  expect(unkeyed).not.toContain(keyedHash('user', PHONE));
});
