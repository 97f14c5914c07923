/** The operator's command on media: what accounts have uploaded, and its end. */
import { S3Client } from '@aws-sdk/client-s3';
import { describe, expect, inject, test, vi } from 'vitest';
import { asProblem, call, sendRaw } from '../support/client.ts';
import { fileOf, pdf, png } from '../support/files.ts';
import { inJson, machine, newAccount, operator, refusal, run, time } from '../support/operator.ts';
import { newCaller } from '../support/world.ts';

vi.stubEnv('AWS_ENDPOINT_URL_S3', inject('stack').s3_endpoint);

/** An account with an image and a file, and their addresses. */
const withMedia = async () => {
  const { account, token } = await newCaller('messages');
  const { body: image } = await call('uploadImage', { token, body: { file: fileOf(png) } });
  const { body: file } = await call('uploadFile', { token, body: { file: fileOf(pdf) } });
  return { account, image: image.url, file: file.url };
};

const handleOf = (url: string): string => (url.split('/').at(-1) ?? '').slice(0, 8);

/** Runs a command that is told where the buckets of the served stack are. */
const local = async (...args: string[]) => run(args, await machine({ pid: process.pid }));

describe('media list', () => {
  test("shows an account's media, oldest first, without what would open them", async () => {
    const { account, image, file } = await withMedia();
    expect(await inJson('media', 'list', account)).toEqual([
      { media: handleOf(image), type: 'image/png', size: png.length, created: time, expires_at: time, expired: false },
      {
        media: handleOf(file),
        type: 'application/pdf',
        size: pdf.length,
        created: time,
        expires_at: time,
        expired: false,
      },
    ]);
    const { stdout } = await operator('media', 'list', account);
    expect(stdout).toMatch(/^MEDIA +TYPE +BYTES +UPLOADED +EXPIRES$/m);
    expect(stdout).toMatch(new RegExp(`^${handleOf(image)} +image/png +${png.length} +[-0-9]{10} [:0-9]{5} UTC`, 'm'));
    for (const url of [image, file]) expect(stdout).not.toContain(url.split('/').at(-1));
  });

  test('says so where there are none, and knows no account that is not there', async () => {
    expect((await operator('media', 'list', await newAccount())).stdout).toBe('There are no media.\n');
    expect(await refusal('media', 'list', 'nobody')).toContain('nobody');
  });
});

describe('media delete', () => {
  test.each<[string, (url: string) => string]>([
    ['the characters of the list', handleOf],
    ['its address', (url) => url],
  ])('deletes one by %s, its bytes with it, and leaves the others', async (_, named) => {
    const { account, image, file } = await withMedia();
    const id = image.split('/').at(-1) ?? '';
    const { code, stdout, stderr } = await local('media', 'delete', account, named(image));
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: `Deleted ${handleOf(image)}, image/png, ${png.length} bytes.\n`,
      stderr: '',
    });
    expect(asProblem(await sendRaw('readMedia', { path: { id } })).body.code).toBe('media_not_found');
    expect((await fetch(file)).status).toBe(200);
    expect(await inJson('media', 'list', account)).toMatchObject([{ media: handleOf(file) }]);
  });

  test.each([
    ['nothing of the account', async () => handleOf((await withMedia()).image), 'no such media'],
    ['too few characters', async () => 'abc', 'at least 8 characters'],
  ])('refuses %s', async (_, named, why) => {
    expect(await refusal('media', 'delete', await newAccount(), await named())).toContain(why);
  });

  test('closes the address at once, and can be repeated where the bucket could not be reached', async () => {
    const { account, image } = await withMedia();
    vi.spyOn(S3Client.prototype, 'send').mockImplementation(() => Promise.reject(new Error('away')) as never);
    const { code } = await operator('media', 'delete', account, handleOf(image));
    vi.restoreAllMocks();
    expect(code).toBe(1);
    expect((await fetch(image)).status).toBe(410);
    expect((await local('media', 'delete', account, handleOf(image))).code).toBe(0);
    expect((await fetch(image)).status).toBe(404);
  });
});
