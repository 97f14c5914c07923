/** Small files of accepted types and of rejected types. */
import { gzipSync } from 'node:zlib';

const bytes = (base64: string): Uint8Array<ArrayBuffer> => Uint8Array.from(Buffer.from(base64, 'base64'));

/** One transparent pixel. */
export const png = bytes(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
);

export const gif = bytes('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7');

export const webp = bytes('UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==');

/** Only the start of a JPEG file. */
export const jpeg = bytes('/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////2Q==');

export const pdf = Uint8Array.from(
  Buffer.from('%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n'),
);

const latin = (content: string): Uint8Array<ArrayBuffer> => Uint8Array.from(Buffer.from(content, 'latin1'));

/** Only the starts of files of further types. */
export const further: Record<string, Uint8Array<ArrayBuffer>> = {
  'image/bmp': latin('BM\x46\0\0\0\0\0\0\0\x36\0\0\0'),
  'audio/mpeg': latin(`ID3\x03\0\0\0\0\0\0\xff\xfb\x90\x64${'\0'.repeat(400)}`),
  'audio/ogg': latin(`OggS\0\x02${'\0'.repeat(20)}\x01\x13OpusHead\x01\x01`),
  'audio/mp4': latin('\0\0\0\x18ftypM4A \0\0\0\0M4A mp42'),
  'audio/aac': latin('\xff\xf1\x50\x80\0\0\0\0'),
  'audio/amr': latin('#!AMR\n'),
  'audio/wav': latin('RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0'),
  'video/mp4': latin('\0\0\0\x18ftypmp42\0\0\0\0mp42isom'),
  'video/3gpp': latin('\0\0\0\x18ftyp3gp4\0\0\0\0isom3gp4'),
};

const text = (content: string): Uint8Array<ArrayBuffer> => Uint8Array.from(Buffer.from(content));

/** Contents that are rejected with any file name. */
export const others: Record<string, Uint8Array<ArrayBuffer>> = {
  'a script': text('#!/bin/sh\nrm -rf /\n'),
  'a page': text('<!doctype html><script>alert(1)</script>'),
  'a drawing with a script': text('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'),
  'a text': text('Hello'),
  'an archive': bytes('UEsFBgAAAAAAAAAAAAAAAAAAAAAAAA=='),
  'a compressed text': Uint8Array.from(gzipSync('Hello')),
  // A document of Word: only its compressed list of types tells.
  'a document': bytes(
    'UEsDBBQAAAAIAAAAIVzdEsBqZwAAAHkAAAATAAAAW0NvbnRlbnRfVHlwZXNdLnhtbD2NSwqDMBQAryJuxeQCqRsP0E0vEJIXeZD34SW19fYqhW5nGCa8DoW2hOcOZphhWIU7cL/xY4yqFVPsKOx3zk4U+Eu1iFHsbZZSMEGW9KYrcR+xrCYJWkPeqLq/oYg8XeHol+B/xxNQSwECFAMUAAAACAAAACFc3RLAamcAAAB5AAAAEwAAAAAAAAAAAAAAgAEAAAAAW0NvbnRlbnRfVHlwZXNdLnhtbFBLBQYAAAAAAQABAEEAAACYAAAAAAA=',
  ),
  'a program': text('\u007fELF'.padEnd(64, '\0')),
  'the first bytes of a PNG': png.slice(0, 4),
  'white space': text(' '),
};

/** A file for a multipart form. */
export const fileOf = (content: Uint8Array<ArrayBuffer>, name = 'picture.png', type = 'image/png'): File =>
  new File([content], name, { type });

/** A PNG of this many bytes. */
export const pngOf = (size: number): Uint8Array<ArrayBuffer> => {
  const padded = new Uint8Array(size);
  padded.set(png);
  return padded;
};
