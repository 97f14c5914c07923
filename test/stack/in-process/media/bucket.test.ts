/**
 * Media and the bucket: the cost at the table, calls to the bucket, and uploads that the bucket does not accept.
 *
 * @module-tag long
 */

import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { deleteMedia, listMedia } from '../../../../infra/operator/queries/media-admin.ts';
import { Problem } from '../../../../shared/core/problems.ts';
import { checkOwnMedia, getMedia } from '../../../../shared/media/media.ts';
import { getObject, putObject } from '../../../../shared/media/object-store.ts';
import { upload } from '../../../../shared/media/uploads.ts';
import { documents } from '../../../../shared/table/client.ts';
import { RawServer } from '../../../unit/support/raw-server.ts';
import { consumedBy } from '../../support/consumed.ts';
import { type Answer, type Call, DestinationServer, drop } from '../../support/destination-server.ts';
import { fileOf, others, pdf, png, pngOf } from '../../support/files.ts';
import { useOwnTable, useServedBucket } from '../../support/own-table.ts';
import { newAccountId } from '../../support/world.ts';

useOwnTable('media');
useServedBucket();

afterEach(() => void vi.restoreAllMocks());

const idIn = (url: string): string => url.split('/').at(-1) ?? '';

test.skipIf(process.env.DYNAMODB_ENDPOINT)(
  'an upload costs 2 write units, one of them on an index; each read of its URL costs half a read unit',
  async () => {
    const account = newAccountId().padEnd(40, '0');
    let url = '';
    const uploading = async () => {
      ({ url } = await upload(account, 'image', fileOf(png)));
    };
    expect(await consumedBy(uploading)).toMatchObject({ calls: 1, table: 1, indexes: 1 });
    expect(await consumedBy(() => getMedia(idIn(url)))).toMatchObject({ calls: 1, table: 0.5, indexes: 0 });
    expect(await consumedBy(() => checkOwnMedia(account, 'image', url))).toMatchObject({
      calls: 1,
      table: 1,
      indexes: 0,
    });
    expect(Buffer.from((await getObject(idIn(url))) ?? []).equals(png)).toBe(true);
  },
);

/** Starts a server in place of the bucket, with these responses. Returns the calls that it receives. */
const startBucket = async (...answers: Answer[]): Promise<Call[]> => {
  const server = await DestinationServer.start();
  onTestFinished(() => server.close());
  server.answers = answers;
  vi.stubEnv('AWS_ENDPOINT_URL_S3', server.url);
  return server.calls;
};

describe('an upload', () => {
  const failure = async (account: string): Promise<unknown> =>
    upload(account, 'image', fileOf(png)).then(
      () => undefined,
      (error: unknown) => error,
    );

  test.each<[string, Answer, number]>([
    ['returns 503 three times', 503, 3],
    ['returns 500 three times', 500, 3],
    ['drops the connection twice', drop, 2],
  ])('returns 503 with Retry-After, and leaves no item in the table, if the bucket %s', async (_, answer, times) => {
    const calls = await startBucket(answer);
    const account = newAccountId();
    const problem = await failure(account);
    expect(problem).toBeInstanceOf(Problem);
    expect(problem).toMatchObject({ code: 'unavailable', detail: 'Retry in a moment.', retryAfter: 1 });
    expect(calls).toHaveLength(times);
    expect(await listMedia(account)).toEqual([]);
  });

  test('throws an error, and leaves no item in the table, if the bucket returns 403', async () => {
    await startBucket(403);
    const account = newAccountId();
    expect(await failure(account)).toMatchObject({ message: 'The bucket answered 403.' });
    expect(await listMedia(account)).toEqual([]);
  });

  test('of an unsupported or too large file is rejected without a call to the bucket', async () => {
    const calls = await startBucket(200);
    const account = newAccountId();
    const files = [...Object.values(others), pdf, pngOf(4 * 1024 * 1024 + 1)];
    for (const content of files) await expect(upload(account, 'image', fileOf(content))).rejects.toThrow(Problem);
    expect(calls).toEqual([]);
    expect(await listMedia(account)).toEqual([]);
  });

  test('succeeds if the bucket returns 503 twice, then 200', async () => {
    const calls = await startBucket(503, 503, 200);
    const account = newAccountId();
    expect(await failure(account)).toBeUndefined();
    expect(calls).toHaveLength(3);
    expect(await listMedia(account)).toHaveLength(1);
  });
});

test.each(['by FIN', 'by RST'] as const)('an idle connection that the bucket closes %s fails no call', async (how) => {
  const server = await RawServer.start();
  onTestFinished(() => server.close());
  vi.stubEnv('AWS_ENDPOINT_URL_S3', server.url);
  server.respond = ({ socket, place }) => {
    if (place === 1) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    else if (how === 'by FIN') socket.end();
    else socket.resetAndDestroy();
  };
  for (const content of ['A', 'B', 'C']) {
    await putObject('key', new TextEncoder().encode(content), '');
    // Node's fetch makes the connection idle after it has returned the response.
    await setImmediate();
  }
  // The second and third call are repeated on new connections.
  expect(server.bodies).toEqual(['A', 'B', 'B', 'C', 'C']);
});

test('an object whose download breaks off returns 503 with Retry-After, not a part of it', async () => {
  await startBucket((response) => {
    response.writeHead(200, { 'content-length': 100 }).write('half', () => response.destroy());
  });
  await expect(getObject('key')).rejects.toMatchObject({
    code: 'unavailable',
    detail: 'Retry in a moment.',
    retryAfter: 1,
  });
});

describe('a call to the bucket', () => {
  /** Stubs `fetch` as a bucket that accepts every call. Returns the stub. */
  const takingBucket = () => {
    vi.stubEnv('AWS_ENDPOINT_URL_S3', 'http://127.0.0.1:9');
    vi.stubEnv('MEDIA_BUCKET', 'media');
    return vi.spyOn(globalThis, 'fetch').mockImplementation(async () => new Response(png));
  };

  const firstRequest = (bucket: ReturnType<typeof takingBucket>): Request => bucket.mock.calls[0]?.[0] as Request;

  test('to store an object sends its bytes and their checksum', async () => {
    const bucket = takingBucket();
    await putObject('key', png, 'a'.repeat(64));
    const { method, url, headers } = firstRequest(bucket);
    expect({ method, url }).toEqual({ method: 'PUT', url: 'http://127.0.0.1:9/media/key' });
    expect(headers.get('x-amz-content-sha256')).toBe('a'.repeat(64));
    expect(Buffer.from(await firstRequest(bucket).arrayBuffer()).equals(png)).toBe(true);
  });

  test('to read an object returns its bytes, and sends no body', async () => {
    const bucket = takingBucket();
    expect(Buffer.from((await getObject('key')) ?? []).equals(png)).toBe(true);
    expect(firstRequest(bucket)).toMatchObject({ method: 'GET', body: null });
  });

  test.each(['session-token', undefined])(
    'is signed with the session token of the function, if any: %s',
    async (token) => {
      vi.stubEnv('AWS_SESSION_TOKEN', token);
      const bucket = takingBucket();
      await getObject('key');
      expect(firstRequest(bucket).headers.get('x-amz-security-token')).toBe(token ?? null);
    },
  );
});

describe('media', () => {
  beforeEach(() => {
    vi.stubEnv('MEDIA_BUCKET', 'media');
    vi.spyOn(globalThis, 'fetch').mockImplementation(async () => new Response(null));
  });

  const uploaded = async (account: string, content: Uint8Array<ArrayBuffer>): Promise<string> =>
    idIn((await upload(account, 'file', fileOf(content))).url);

  test('are listed for their account in the order of upload, without items that have been deleted', async () => {
    const [account, other] = [newAccountId(), newAccountId()];
    const ids: string[] = [];
    for (const content of [png, pdf, png, png, png]) ids.push(await uploaded(account, content));
    await uploaded(other, png);
    const time = expect.stringMatching(/^\d{4}-/);
    const listed = await listMedia(account);
    expect(listed.map(({ id }) => id)).toEqual(ids);
    expect(listed.slice(0, 2)).toEqual([
      { id: ids[0], type: 'image/png', size: png.length, bucket: 'media', created: time, until: time },
      { id: ids[1], type: 'application/pdf', size: pdf.length, bucket: 'media', created: time, until: time },
    ]);
    const send = documents.send.bind(documents);
    vi.spyOn(documents, 'send').mockImplementation(async (command) =>
      command instanceof GetCommand ? {} : send(command),
    );
    expect(await listMedia(account)).toEqual([]);
  });

  test('are expired during their deletion and absent after it, even if it is interrupted or repeated', async () => {
    const account = newAccountId();
    const [id, other] = [await uploaded(account, png), await uploaded(account, png)];
    const cutOff = deleteMedia(id, async () => {
      await expect(getMedia(id)).rejects.toMatchObject({ code: 'media_expired' });
      throw new Error('cut off');
    });
    await expect(cutOff).rejects.toThrow('cut off');
    for (const _ of ['once', 'again']) {
      await deleteMedia(id, async () => undefined);
      await expect(getMedia(id)).rejects.toMatchObject({ code: 'media_not_found' });
    }
    expect((await listMedia(account)).map((kept) => kept.id)).toEqual([other]);
  });

  test('may be an animated PNG, and have 4 MB', async () => {
    const account = newAccountId();
    // The chunk with the number of frames, after the first chunk of every PNG.
    const frames = Buffer.from([0, 0, 0, 8, ...Buffer.from('acTL'), 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
    const moving = Uint8Array.from(Buffer.concat([png.subarray(0, 33), frames, png.subarray(33)]));
    await uploaded(account, moving);
    await uploaded(account, pngOf(4 * 1024 * 1024));
    expect((await listMedia(account)).map(({ type, size }) => [type, size])).toEqual([
      ['image/png', moving.length],
      ['image/png', 4 * 1024 * 1024],
    ]);
  });
});

describe("an object's URL", () => {
  /** The request for an object, in this environment. */
  const requested = async (environment: Record<string, string>): Promise<Request> => {
    const unset = {
      AWS_ENDPOINT_URL_S3: '',
      AWS_ENDPOINT_URL: '',
      AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: '',
      AWS_USE_FIPS_ENDPOINT: '',
    };
    for (const [name, value] of Object.entries({ ...unset, ...environment })) vi.stubEnv(name, value);
    const fetched = vi.spyOn(globalThis, 'fetch').mockResolvedValue(new Response(png));
    await getObject('key');
    const [request] = fetched.mock.calls[0] ?? [];
    if (!(request instanceof Request)) throw new Error('Nothing was requested.');
    return request;
  };

  test.each([
    ['af-south-1', 'amazonaws.com'],
    ['cn-north-1', 'amazonaws.com.cn'],
  ])('in %s contains the bucket, its region and the suffix %s', async (AWS_REGION, URL_SUFFIX) => {
    const bucket = randomUUID();
    const { url, headers } = await requested({ MEDIA_BUCKET: bucket, AWS_REGION, URL_SUFFIX });
    expect(url).toBe(`https://${bucket}.s3.${AWS_REGION}.${URL_SUFFIX}/key`);
    expect(headers.get('user-agent')).toBe('business-api');
    expect(headers.get('authorization')).toMatch(
      new RegExp(`^AWS4-HMAC-SHA256 Credential=\\w+/\\d{8}/${AWS_REGION}/s3/aws4_request, SignedHeaders=host;`),
    );
  });

  test.each<[string, Record<string, string>, string]>([
    [
      'the endpoint for S3, before the one for all services',
      { AWS_ENDPOINT_URL_S3: 'http://s3.test:9000', AWS_ENDPOINT_URL: 'http://all.test' },
      'http://s3.test:9000/media/key',
    ],
    [
      'the host that FIPS 140 validates',
      { AWS_USE_FIPS_ENDPOINT: 'true' },
      'https://media.s3-fips.eu-west-1.amazonaws.com/key',
    ],
    ['the endpoint for all services', { AWS_ENDPOINT_URL: 'http://all.test:4566' }, 'http://all.test:4566/media/key'],
    ['an endpoint that ends with a slash', { AWS_ENDPOINT_URL: 'http://all.test/' }, 'http://all.test/media/key'],
    ['an endpoint with a path', { AWS_ENDPOINT_URL: 'http://all.test/a/b' }, 'http://all.test/a/b/media/key'],
    [
      'no endpoint if the environment has them ignored',
      { AWS_ENDPOINT_URL: 'http://all.test', AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: 'true' },
      'https://media.s3.eu-west-1.amazonaws.com/key',
    ],
  ])('uses %s', async (_, environment, url) => {
    const aws = { MEDIA_BUCKET: 'media', AWS_REGION: 'eu-west-1', URL_SUFFIX: 'amazonaws.com' };
    expect((await requested({ ...aws, ...environment })).url).toBe(url);
  });
});
