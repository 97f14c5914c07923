/**
 * The operator's `media` commands: list and delete uploads of accounts.
 *
 * @module-tag long
 */
import { S3Client } from '@aws-sdk/client-s3';
import { describe, expect, inject, test, vi } from 'vitest';
import type { AccountItem } from '../../../../shared/accounts/accounts.ts';
import { accountKey } from '../../../../shared/accounts/entities.ts';
import { getConsistent } from '../../../../shared/table/client.ts';
import { asProblem, call, sendRaw } from '../../support/client.ts';
import { fileOf, pdf, png } from '../../support/files.ts';
import { inJson, machine, newAccount, operator, refusal, run, time } from '../../support/operator.ts';
import { businessOf as businessWithBot } from '../../support/phones.ts';
import { newCaller } from '../../support/world.ts';

vi.stubEnv('AWS_ENDPOINT_URL_S3', inject('stack').s3_endpoint);

/** An account with an image and a file, and their URLs. */
const withMedia = async () => {
  const { account, token } = await newCaller('messages');
  const { body: image } = await call('uploadImage', { token, body: { file: fileOf(png) } });
  const { body: file } = await call('uploadFile', { token, body: { file: fileOf(pdf) } });
  return { account, image: image.url, file: file.url };
};

/** The account's business, as users see it. */
const businessOf = async (account: string) =>
  businessWithBot((await getConsistent<AccountItem>(accountKey(account)))?.bot_number ?? '');

const handleOf = (url: string): string => (url.split('/').at(-1) ?? '').slice(0, 8);

/** Runs a command with access to the buckets of the served stack. */
const local = async (...args: string[]) => run(args, await machine({ pid: process.pid }));

describe('media list', () => {
  test("media list prints an account's media, oldest first, without the URLs", async () => {
    const { account, image, file } = await withMedia();
    const times = { created: time, expires_at: time, expired: false };
    expect(await inJson('media', 'list', account)).toEqual([
      { media: handleOf(image), type: 'image/png', size: png.length, ...times },
      { media: handleOf(file), type: 'application/pdf', size: pdf.length, ...times },
    ]);
    const { stdout } = await operator('media', 'list', account);
    expect(stdout).toMatch(/^MEDIA +TYPE +BYTES +UPLOADED +EXPIRES$/m);
    expect(stdout).toMatch(new RegExp(`^${handleOf(image)} +image/png +${png.length} +[-0-9]{10} [:0-9]{5} UTC`, 'm'));
    for (const url of [image, file]) expect(stdout).not.toContain(url.split('/').at(-1));
  });

  test('media list reports that an account has no media', async () => {
    expect((await operator('media', 'list', await newAccount())).stdout).toBe('There are no media.\n');
  });
});

describe('media delete', () => {
  const deletesOne = async (_: string, named: (url: string) => string): Promise<void> => {
    const { account, image, file } = await withMedia();
    const id = image.split('/').at(-1) ?? '';
    const { code, stdout, stderr } = await local('media', 'delete', '--yes', account, named(image));
    const words = `Deleted ${handleOf(image)}, image/png, ${png.length} bytes.\n`;
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: words, stderr: '' });
    // The function may still read what was there half a second ago.
    await expect
      .poll(async () => (await sendRaw('readMedia', { path: { id } })).body)
      .toMatchObject({ code: 'media_not_found' });
    expect((await fetch(file)).status).toBe(200);
    expect(await inJson('media', 'list', account)).toMatchObject([{ media: handleOf(file) }]);
  };

  test.each([
    ['its short id', handleOf],
    ['its URL', (url: string) => url],
  ])('media delete finds an upload by %s, and deletes only this upload with its bytes', deletesOne);

  test('media delete takes an avatar from its account: users see none, and the same image can be set again', async () => {
    const { account, token } = await newCaller('account');
    const avatar = async () => (await call('readConfiguration', { token })).body.configuration.avatar;
    await call('setAvatar', { token, body: { file: fileOf(png) } });
    const first = (await avatar()) ?? '';
    await expect.poll(() => businessOf(account)).toMatchObject({ avatar: first });
    expect((await local('media', 'delete', '--yes', account, first)).code).toBe(0);
    expect(await avatar()).toBeNull();
    await expect.poll(() => businessOf(account)).toMatchObject({ avatar: null });
    expect(asProblem(await sendRaw('readAvatar', { token })).body.code).toBe('avatar_not_set');

    await call('setAvatar', { token, body: { file: fileOf(png) } });
    const second = (await avatar()) ?? '';
    expect(second).not.toBe(first);
    expect((await fetch(second)).status).toBe(200);
    await expect.poll(() => businessOf(account)).toMatchObject({ avatar: second });
  });

  test.each([
    ["another account's media", async () => handleOf((await withMedia()).image), 'no such media'],
    ['too few characters', async () => 'abc', 'at least 8 characters'],
  ])('media delete rejects %s', async (_, named, why) => {
    expect(await refusal('media', 'delete', '--yes', await newAccount(), await named())).toContain(why);
  });

  test('media delete expires the URL even if the bucket fails, and a repeat deletes the bytes', async () => {
    const { account, image } = await withMedia();
    vi.spyOn(S3Client.prototype, 'send').mockImplementation(() => Promise.reject(new Error('away')) as never);
    const { code } = await operator('media', 'delete', '--yes', account, handleOf(image));
    vi.restoreAllMocks();
    expect(code).toBe(1);
    // Reads of the row are eventually consistent.
    const status = async () => (await fetch(image)).status;
    await expect.poll(status).toBe(410);
    expect((await local('media', 'delete', '--yes', account, handleOf(image))).code).toBe(0);
    await expect.poll(status).toBe(404);
  });
});
