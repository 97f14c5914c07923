/** Checksums of texts. */
import { crc32 as crc32OfNode } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { crc32 } from '../../../shared/table/keys.ts';

test('the checksum is that of node:zlib, so that items and messages of earlier versions are found', () => {
  const texts = fc.string({ unit: 'grapheme' });
  fc.assert(
    fc.property(texts, (text) => {
      expect(crc32(text)).toBe(crc32OfNode(text));
    }),
  );
  expect(crc32('OUTBOX#app#acme#27820000001')).toBe(crc32OfNode('OUTBOX#app#acme#27820000001'));
});
