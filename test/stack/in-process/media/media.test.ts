/**
 * Datafree media, from the upload to the phone, and until they expire.
 *
 * @module-tag long
 */
import { createHash, randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { listMedia } from '../../../../infra/operator/queries/media-admin.ts';
import { mediaKey } from '../../../../shared/media/entities.ts';
import { messageKey } from '../../../../shared/outbox/entities.ts';
import type { LogItem } from '../../../../shared/outbox/message.ts';
import { getConsistent, update } from '../../../../shared/table/client.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { asProblem, call, fail, sendRaw, urlOf } from '../../support/client.ts';
import { fileOf, further, gif, jpeg, others, pdf, png, pngOf, webp } from '../../support/files.ts';
import { untilShown } from '../../support/phones.ts';
import { type Caller, newCaller, newPhone } from '../../support/world.ts';

const { bridge_url } = inject('stack');

const DAY = 86_400_000;
const MB = 1024 * 1024;

captureLog();

let caller: Caller;

beforeAll(async () => {
  caller = await newCaller('messages');
});

type Upload = 'uploadImage' | 'uploadFile';

const upload = async (name: Upload, content: Uint8Array<ArrayBuffer>, { token }: Caller = caller): Promise<string> =>
  (await call(name, { token, body: { file: fileOf(content) } })).body.url;

const idIn = (url: string): string => url.split('/').at(-1) ?? '';

/** The problem of a rejected upload. */
const rejected = async (name: Upload, init: RequestInit) =>
  asProblem(await sendRaw(name, { token: caller.token, ...init })).body;

const formOf = (...files: [string, File | string][]): FormData => {
  const form = new FormData();
  for (const [field, value] of files) form.append(field, value);
  return form;
};

const sha256 = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');

describe('an upload', () => {
  test.each<readonly [string, Upload, Uint8Array<ArrayBuffer>, string]>([
    ['a PNG', 'uploadImage', png, 'image/png'],
    ['a JPEG', 'uploadImage', jpeg, 'image/jpeg'],
    ['a GIF', 'uploadImage', gif, 'image/gif'],
    ['a WebP', 'uploadImage', webp, 'image/webp'],
    ['an image as a file', 'uploadFile', png, 'image/png'],
    ['a PDF', 'uploadFile', pdf, 'application/pdf'],
    ...Object.entries(further).map(
      ([type, content]) => [`a file of the type ${type}`, 'uploadFile', content, type] as const,
    ),
    ['a BMP', 'uploadImage', further['image/bmp'] ?? png, 'image/bmp'],
    ['4 MB', 'uploadImage', pngOf(4 * MB), 'image/png'],
  ])('of %s returns a URL that serves it for 30 days', async (_, name, content, type) => {
    const before = Date.now();
    // The file name and type of the request have no effect.
    const { body } = await call(name, { token: caller.token, body: { file: fileOf(content, 'x.txt', 'text/html') } });
    expect(body.url).toMatch(new RegExp(`^${bridge_url}/media/[0-9a-f]{32}$`));
    const lifetime = Date.parse(`${body.expires_at}Z`) - 30 * DAY;
    expect(lifetime).toBeGreaterThanOrEqual(before);
    expect(lifetime).toBeLessThanOrEqual(Date.now());

    const shown = await fetch(body.url);
    expect(shown.status).toBe(200);
    expect(Buffer.from(await shown.bytes()).equals(content)).toBe(true);
    expect(Object.fromEntries(shown.headers)).toMatchObject({
      'content-type': type,
      'content-length': String(content.length),
      'content-disposition': type === 'application/pdf' ? 'attachment' : 'inline',
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      etag: `"${sha256(content)}"`,
    });
    const [, age] = /^public, max-age=(\d+), immutable$/.exec(shown.headers.get('cache-control') ?? '') ?? [];
    expect(Number(age)).toBeGreaterThan(30 * 86_400 - 60);
    expect(Number(age)).toBeLessThanOrEqual(30 * 86_400);
  });

  test('of the same file again returns another URL', async () => {
    expect(await upload('uploadImage', png)).not.toBe(await upload('uploadImage', png));
  });

  test('may have additional form fields, which are ignored', async () => {
    const body = formOf(['name', 'x'], ['file', fileOf(png)], ['name', 'y']);
    expect((await sendRaw('uploadImage', { token: caller.token, body })).status).toBe(200);
  });

  test.each(Object.entries(others))('of %s returns 422, although its name is picture.png', async (_, content) => {
    for (const name of ['uploadImage', 'uploadFile'] as const) {
      const problem = await rejected(name, { body: formOf(['file', fileOf(content)]) });
      expect(problem).toMatchObject({ status: 422, code: 'file_type_not_supported' });
      expect(problem.detail).toContain(name === 'uploadFile' ? 'BMP, PDF, MP3' : 'WebP, BMP.');
    }
  });

  test('of a PDF as an image returns 422', async () => {
    expect(await rejected('uploadImage', { body: formOf(['file', fileOf(pdf)]) })).toMatchObject({
      status: 422,
      code: 'file_type_not_supported',
    });
  });

  test("of more than 4 MB returns 413, and of more than Lambda's limit a 413 of the gateway", async () => {
    expect(await rejected('uploadImage', { body: formOf(['file', fileOf(pngOf(4 * MB + 1))]) })).toMatchObject({
      status: 413,
      code: 'file_too_large',
      detail: expect.stringContaining(String(4 * MB)),
    });
    const { status, body } = await sendRaw('uploadImage', {
      token: caller.token,
      body: formOf(['file', fileOf(pngOf(6 * MB))]),
    });
    expect({ status, body }).toEqual({ status: 413, body: { message: 'Request Entity Too Large' } });
  });

  test.each<[string, FormData, string]>([
    ['no file', formOf(['other', fileOf(png)]), 'is required'],
    [
      'two files',
      formOf(['file', fileOf(png)], ['file', fileOf(gif)]),
      'must be there once: upload one file at a time',
    ],
    ['a text', formOf(['file', 'picture.png']), 'must be a file, with a file name: curl -F file=@picture.png'],
    ['an empty file', formOf(['file', fileOf(new Uint8Array())]), 'must not be empty'],
  ])('with %s returns 422', async (_, body, detail) => {
    expect(await rejected('uploadImage', { body })).toMatchObject({
      status: 422,
      code: 'invalid_request',
      errors: [{ pointer: '#/file', detail }],
    });
  });

  const BOUNDARY = 'x-boundary-x';
  const multipart = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };
  const whole = Buffer.concat([
    Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\n`),
    png,
    Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
  ]);

  test('with a hand-written form returns 200', async () => {
    expect((await sendRaw('uploadImage', { token: caller.token, headers: multipart, body: whole })).status).toBe(200);
  });

  test('that breaks off creates no media, and later uploads succeed', async () => {
    const { account, token } = await newCaller('messages');
    const sent = request(urlOf('uploadImage'), {
      method: 'POST',
      headers: { ...multipart, authorization: `Bearer ${token}`, 'content-length': whole.length },
    });
    const failed = new Promise((resolve) => sent.once('error', resolve));
    sent.write(whole.subarray(0, 100));
    await pause(100);
    sent.destroy();
    await failed;
    // The host still accepts uploads.
    await upload('uploadImage', png);
    expect(await listMedia(account)).toEqual([]);
  });
});

describe('a datafree URL', () => {
  test('is public: GET and HEAD work without a token', async () => {
    const url = await upload('uploadImage', png);
    const [got, head] = await Promise.all([fetch(url), fetch(url, { method: 'HEAD' })]);
    const headersOf = ({ headers }: Response) => {
      const passing = ['date', 'connection', 'keep-alive', 'apigw-requestid', 'cache-control'];
      return [...headers].filter(([name]) => !passing.includes(name));
    };
    expect([got.status, head.status]).toEqual([200, 200]);
    expect(headersOf(head)).toEqual(headersOf(got));
    expect((await head.bytes()).length).toBe(0);
  });

  test.each(['"%"', 'W/"%"', '"other", "%"', '*'])(
    'returns 304 if the ETag matches: If-None-Match: %s',
    async (tags) => {
      const response = await fetch(await upload('uploadImage', png), {
        headers: { 'if-none-match': tags.replaceAll('%', sha256(png)) },
      });
      expect(response.status).toBe(304);
      expect(response.headers.get('etag')).toBe(`"${sha256(png)}"`);
      expect(response.headers.get('cache-control')).toContain('max-age=');
    },
  );

  test('returns 200 if the ETag does not match', async () => {
    const response = await fetch(await upload('uploadImage', png), { headers: { 'if-none-match': '"other"' } });
    expect(response.status).toBe(200);
  });

  test.each(['0123456789abcdef0123456789abcdef', 'x', '%00', '..%2f..', 'a'.repeat(3_000), '%E2%82%AC'.repeat(800)])(
    'that does not exist, %s, returns 404',
    async (id) => {
      const { status, body } = asProblem(await sendRaw('readMedia', { path: { id: decodeURIComponent(id) } }));
      expect({ status, code: body.code }).toEqual({ status: 404, code: 'media_not_found' });
    },
  );

  test('returns 410 from exactly 30 days after the upload, and 404 after 30 more days', async () => {
    const { body } = await call('uploadImage', { token: caller.token, body: { file: fileOf(png) } });
    const id = idIn(body.url);
    const { handler } = await import('../../../../functions/media/read-media.ts');
    const statusAt = async (time: number) => {
      vi.useFakeTimers({ toFake: ['Date'], now: time });
      const event = {
        routeKey: 'HEAD /media/{id}',
        headers: {},
        pathParameters: { id },
        requestContext: { requestId: 'request-1', http: { method: 'HEAD' } },
      };
      try {
        const answer = await handler(event as never, { getRemainingTimeInMillis: () => 9_000 } as never);
        return [answer.statusCode, answer.headers?.['cache-control']];
      } finally {
        vi.useRealTimers();
      }
    };
    const end = Date.parse(`${body.expires_at}Z`);
    expect(await statusAt(end - 1_500)).toEqual([200, 'public, max-age=1, immutable']);
    expect(await statusAt(end - 1)).toEqual([200, 'public, max-age=0, immutable']);
    expect(await statusAt(end)).toEqual([410, 'no-store']);
    expect(await statusAt(end + 30 * DAY - 1_000)).toEqual([410, 'no-store']);
    expect(await statusAt(end + 30 * DAY)).toEqual([404, 'no-store']);
  });

  test('that has expired returns 410 media_expired, by GET and HEAD', async () => {
    const url = await upload('uploadImage', png);
    await expire(url);
    const problem = asProblem(await sendRaw('readMedia', { path: { id: idIn(url) } }));
    expect(problem.body).toMatchObject({ status: 410, code: 'media_expired' });
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(410);
  });
});

const expire = (url: string) =>
  update({
    Key: mediaKey(idIn(url)),
    UpdateExpression: 'SET #until = :past',
    ExpressionAttributeNames: { '#until': 'until' },
    ExpressionAttributeValues: { ':past': new Date(Date.now() - 1).toISOString().replace('Z', '000') },
  });

describe('a message', () => {
  const send = (phone: string, type: 'image' | 'file', url: string) => ({
    token: caller.token,
    body: { to: phone, recipient_type: 'individual', type, [type]: { url } } as never,
  });

  test('with a document as an image arrives as a file, and its job counts a file', async () => {
    const phone = newPhone();
    const document = await upload('uploadFile', pdf);
    const { body } = send(phone, 'image', document);
    const request = { token: caller.token, headers: { 'idempotency-key': phone }, body };
    const { id } = (await call('sendMessage', request)).body;
    expect((await call('sendMessage', request)).body).toEqual({ id });
    expect(await untilShown(phone, 1)).toMatchObject([{ data: { type: 'file', file: { url: document } } }]);
    const item = await getConsistent<LogItem>(messageKey(id));
    expect(item?.payload_type).toBe('file');
  });

  test("returns 422 for a URL that is expired, another account's, or not a datafree URL", async () => {
    const [expired, foreign] = await Promise.all([
      upload('uploadImage', png),
      newCaller('messages').then((other) => upload('uploadImage', png, other)),
    ]);
    await expire(expired);
    const own = await upload('uploadImage', png);
    const notYours = /^must be a datafree URL of yours/;
    const reasons: [string, RegExp][] = [
      [expired, /^has expired, 30 days after its upload/],
      [foreign, notYours],
      [`${bridge_url}/media/${'a'.repeat(32)}`, notYours],
      [`${own}?x`, notYours],
      [`${own}/`, notYours],
      [own.replace('/media/', '/other/'), notYours],
      [`${bridge_url}/media/${'€'.repeat(1_900)}`, notYours],
      ['https://example.com/a.png', notYours],
      [`https://example.com/?${own}`, notYours],
    ];
    for (const [url, detail] of reasons) {
      const { body } = await fail('sendMessage', send(newPhone(), 'image', url));
      expect(body).toMatchObject({
        status: 422,
        code: 'invalid_request',
        errors: [{ pointer: '#/image/url', detail: expect.stringMatching(detail) }],
      });
    }
  });

  test('from Turn with such a URL, or one of another host, is sent as text', async () => {
    const turn = await newCaller('messages', 'bridge');
    const encoded_token = Buffer.from(turn.token).toString('base64url');
    const sendTurn = async (message: object) => {
      const to = newPhone();
      const body = JSON.stringify({ to, ...message });
      const headers = { 'content-type': 'application/json' };
      expect((await sendRaw('receiveTurnMessage', { path: { encoded_token }, headers, body })).status).toBe(200);
      const [shown] = await untilShown(to, 1);
      return shown?.data;
    };
    const own = await upload('uploadImage', png, turn);
    expect(await sendTurn({ type: 'image', image: { link: own } })).toMatchObject({
      type: 'image',
      image: { url: own },
    });
    await expire(own);
    const foreign = await upload('uploadImage', png);
    const elsewhere = `https://example.com/${randomUUID()}`;
    for (const link of [own, foreign, elsewhere]) {
      const text = { body: `Look\n${link}` };
      expect(await sendTurn({ type: 'image', image: { link, caption: 'Look' } })).toMatchObject({ type: 'text', text });
    }
  });
});
