/** Headers for uploaded bytes, which are untrusted: browsers show them by the detected type, in a sandbox. */
import { now } from '../core/clock.ts';
import { LIFETIME, type Media } from './media.ts';

/** Headers of a response with media (RFC 9110, 9111). Caches may keep the response until the URL expires. */
export const mediaHeaders = ({ type, sha256, until }: Media) => ({
  'content-type': type,
  'content-disposition': /^(?:image|audio|video)\//.test(type) ? 'inline' : 'attachment',
  etag: `"${sha256}"`,
  'cache-control': `public, max-age=${Math.floor(Math.min(Date.parse(`${until}Z`) - now(), LIFETIME) / 1_000)}, immutable`,
  'x-content-type-options': 'nosniff',
  'content-security-policy': "sandbox; default-src 'none'",
  'referrer-policy': 'no-referrer',
});

/** Whether an If-None-Match header contains this entity tag. */
export const matches = (ifNoneMatch: string | undefined, etag: string): boolean =>
  (ifNoneMatch ?? '').split(',').some((tag) => ['*', etag, `W/${etag}`].includes(tag.trim()));
