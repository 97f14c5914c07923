import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hashToken, isWellFormedToken, mintToken } from '../../../shared/accounts/tokens.ts';

test('a new token consists of the prefix bapi_, which secret scanners detect, 32 random bytes and a checksum', () => {
  const token = mintToken();
  expect(token).toMatch(/^bapi_[0-9a-f]{72}$/);
  expect(isWellFormedToken(token)).toBe(true);
  expect(mintToken()).not.toBe(token);
});

test('a token with one wrong character at any position is not well-formed', () => {
  const token = mintToken();
  fc.assert(
    fc.property(fc.nat(token.length - 1), fc.constantFrom(...'0123456789abcdefgZ-_ '), (index, letter) => {
      fc.pre(token[index] !== letter);
      expect(isWellFormedToken(token.slice(0, index) + letter + token.slice(index + 1))).toBe(false);
    }),
  );
});

test('a shorter, longer or upper-case text is not a well-formed token', () => {
  const token = mintToken();
  for (const text of ['', 'bapi_', token.slice(0, -1), `${token}0`, ` ${token}`, `${token}\n`, token.toUpperCase()]) {
    expect(isWellFormedToken(text)).toBe(false);
  }
});

test('the hash of a token is its SHA-256 in hexadecimal', () => {
  expect(hashToken('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
});
