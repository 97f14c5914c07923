/** Texts, names and examples of uploads. */
import { EXPIRED_MEDIA_DAYS, inDays, MEDIA_DAYS } from '../../core/lifetimes.ts';
import { type AreaDocs, TIME } from '../docs.ts';
import { placeholders } from '../placeholders.ts';
import type { media } from './media.ts';

export const mediaDocs: AreaDocs<typeof media> = {
  name: 'Media',
  description: `Upload images and files. Their datafree URLs expire after ${inDays(MEDIA_DAYS)}.`,
  endpoints: {
    uploadImage: {
      text: `PNG, JPEG, GIF, WebP or BMP. The service detects the type from the content, not from the name. Anyone who has the URL
can open it for ${inDays(MEDIA_DAYS)}; only your account can send it.`,
      names: { request: 'Upload', 200: 'UploadedMedia' },
      examples: { shows: 'A picture', answer: { url: placeholders.media, expires_at: '2026-12-20T09:58:09.118000' } },
    },
    readMedia: {
      text: `Returns an uploaded file, with headers that let a browser display it and nothing else. It may be cached until it
expires. Needs no token: the URL is the secret. Returns 410 after ${inDays(MEDIA_DAYS)}, and 404 after ${EXPIRED_MEDIA_DAYS} more.`,
      id: 'media_id',
      fileTypes: [
        ...['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/bmp', 'application/pdf'],
        ...['audio/mpeg', 'audio/ogg', 'audio/mp4', 'audio/aac', 'audio/amr', 'audio/wav'],
        ...['video/mp4', 'video/3gpp', 'video/webm', 'application/octet-stream'],
      ],
      examples: { shows: 'The picture', path: { id: '5f0c2f6f2d8f4a1e9b7a3c4d5e6f7081' } },
    },
    uploadFile: {
      text: `The same types as for images; PDF; MP3, Ogg, M4A, AAC, AMR and WAV; MP4, 3GP and WebM.

With the field \`encrypted=true\`, the file may have any content: your program has encrypted it. The URL ends with the extension
of the file's name, by which the app chooses how it shows the file. The bytes are returned as they are, as \`application/octet-stream\`.`,
      names: { request: 'FileUpload', 200: 'UploadedMedia' },
      uploads: 'document.pdf',
      examples: {
        shows: 'A document',
        answer: {
          url: 'https://bridge.example.com/media/8192a3b4c5d6e7f80918273645546372',
          expires_at: '2026-12-20T09:58:10.204000',
        },
      },
    },
  },
  fields: {
    'Upload.file': 'One file of at most 4 MB (4,194,304 bytes), which is what a request can carry.',
    'FileUpload.file': 'One file of at most 4 MB (4,194,304 bytes), which is what a request can carry.',
    encrypted: 'Whether your program has encrypted the file. Default: false.',
    'If-None-Match': 'The `ETag` of your copy.',
    expires_at: `When the URL expires. ${TIME}`,
    media_id: 'The last segment of a datafree URL: 32 hexadecimal digits, and the extension of an encrypted file.',
  },
  guarantees: { 'UploadedMedia.url': 'url' },
};
