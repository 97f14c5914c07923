/** `operator media …`: images and files that accounts have uploaded. */
import { DeleteObjectCommand, S3Client } from '@aws-sdk/client-s3';
import type { Command } from 'commander';
import { timestamp } from '../../../shared/core/clock.ts';
import { printChange } from '../history/record.ts';
import { columns, count, minute, printResult, tinted } from '../output.ts';
import { showAccount, UserError } from '../queries/accounts-admin.ts';
import { deleteMedia, forgetAvatar, listMedia, type StoredMedia } from '../queries/media-admin.ts';
import { confirm } from '../terminal/confirm.ts';
import { ATTEMPTS } from '../terminal/retries.ts';
import { examples } from '../usage.ts';

/** Characters of an id that are shown. The whole id is secret: with it, anybody can open the media URL. */
const HANDLE = 8;

export const addMediaCommands = (program: Command): void => {
  const media = program
    .command('media')
    .description('Images and files that accounts have uploaded.')
    .addHelpText('after', examples('media list acme-research'));

  media
    .command('list')
    .description("Lists an account's media, oldest first, by the first characters of their ids.")
    .argument('<account>', 'id of the account')
    .addHelpText('after', examples('media list acme-research'))
    .action(async (account: string, _options: object, command: Command) => {
      await showAccount(account);
      const found = (await listMedia(account)).map(inJson);
      printResult(command, found, found.length === 0 ? 'There are no media.' : table(found));
    });

  media
    .command('delete')
    .description('Expires a media URL and deletes its bytes, after a question. Copies on phones remain.')
    .argument('<account>', 'id of the account')
    .argument('<media>', `the ${HANDLE} characters of the list, or the complete URL`)
    .addHelpText(
      'after',
      examples('media delete acme-research 3f9a07c1', 'media delete acme-research https://…/media/…'),
    )
    .action(async (account: string, named: string, _options: object, command: Command) => {
      await showAccount(account);
      const deleted = chosen(await listMedia(account), named);
      const shown = inJson(deleted);
      const about = `${shown.media}, ${shown.type}, ${count(shown.size)} bytes`;
      await confirm(command, `Deletes ${about}, of "${account}" permanently: its URL stops working.`);
      await forgetAvatar(account, deleted.id);
      await deleteMedia(deleted.id, () => deleteBytes(deleted));
      printChange(command, shown, `Deleted ${about}.`);
    });
};

/** @throws UserError — no id, or more than one id, begins with these characters */
const chosen = (all: StoredMedia[], named: string): StoredMedia => {
  const id = named.split('/').at(-1) ?? '';
  const found = id.length < HANDLE ? [] : all.filter((one) => one.id.startsWith(id));
  const [one, ...more] = found;
  if (one !== undefined && more.length === 0) return one;
  throw new UserError(
    one === undefined
      ? `The account has no such media. "media list" shows them; give at least ${HANDLE} characters.`
      : 'Several ids begin with these characters: give more, or the complete URL.',
  );
};

/** Deletes the object of an upload. */
export const deleteBytes = async ({
  bucket,
  id,
  object = id,
}: Pick<StoredMedia, 'bucket' | 'id' | 'object'>): Promise<void> => {
  const client = new S3Client({ forcePathStyle: true, maxAttempts: ATTEMPTS });
  await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: object }));
  client.destroy();
};

const inJson = ({ id, bucket: _bucket, object: _object, until, ...rest }: StoredMedia) => ({
  media: id.slice(0, HANDLE),
  ...rest,
  expires_at: until,
  expired: timestamp() >= until,
});

const table = (found: ReturnType<typeof inJson>[]): string =>
  columns(
    ['MEDIA', 'TYPE', 'BYTES', 'UPLOADED', 'EXPIRES'],
    found.map(({ media, type, size, created, expires_at, expired }) => [
      media,
      type,
      count(size),
      minute(created),
      expired ? tinted('dim', 'has expired') : minute(expires_at),
    ]),
    ['BYTES'],
  );
