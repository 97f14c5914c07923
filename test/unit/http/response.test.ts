/** Responses in the format of API Gateway. */
import { describe, expect, test } from 'vitest';
import { nextPage, noContent, notModified, ok, toProblemResponse, toResponse } from '../../../shared/http/response.ts';

describe('a response', () => {
  test('is JSON that caches do not store', () => {
    expect(toResponse(ok({ text: 'Zoë' }))).toStrictEqual({
      statusCode: 200,
      headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
      body: '{"text":"Zoë"}',
    });
  });

  test('has its own headers, which replace the defaults', () => {
    expect(toResponse(ok([], { 'cache-control': 'public', link: '</v1/a>; rel="next"' })).headers).toStrictEqual({
      'content-type': 'application/json',
      'cache-control': 'public',
      link: '</v1/a>; rel="next"',
    });
  });

  test('of bytes is in base64, with its own content type', () => {
    expect(toResponse(ok(new Uint8Array([0, 255]), { 'content-type': 'image/png' }))).toStrictEqual({
      statusCode: 200,
      headers: { 'cache-control': 'no-store', 'content-type': 'image/png' },
      body: 'AP8=',
      isBase64Encoded: true,
    });
  });

  test('may have no body', () => {
    expect(toResponse(noContent())).toStrictEqual({ statusCode: 204, headers: { 'cache-control': 'no-store' } });
    expect(toResponse(notModified({ etag: '"1"' }))).toStrictEqual({
      statusCode: 304,
      headers: { 'cache-control': 'no-store', etag: '"1"' },
    });
  });
});

describe('a problem', () => {
  test('is application/problem+json, with its own headers', () => {
    const body = { code: 'unavailable' };
    const headers = { 'content-type': 'application/problem+json', 'cache-control': 'no-store' };
    expect(toProblemResponse(422, body, {})).toStrictEqual({
      statusCode: 422,
      headers,
      body: '{"code":"unavailable"}',
    });
    expect(toProblemResponse(503, body, { 'retry-after': '7' }).headers).toStrictEqual({
      ...headers,
      'retry-after': '7',
    });
  });
});

test('nextPage links to the path with all query parameters that are set', () => {
  expect(nextPage('/v1/logs', { cursor: 'a b&c', page_size: 10, state: undefined })).toEqual({
    link: '</v1/logs?cursor=a+b%26c&page_size=10>; rel="next"',
  });
});
