/** The files of running local stacks: one for each port, and `stack.json` for the first. */
import { mkdtempSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  findStack,
  removeStackFiles,
  SeveralStacks,
  type StackFile,
  writeStackFiles,
} from '../../infra/operator/local-stack/stack-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'stack-file-'));

beforeEach(() => {
  vi.stubEnv('LOCAL_FOLDER', folder);
  vi.stubEnv('PORT', '');
});

afterEach(() => vi.unstubAllEnvs());

afterAll(() => rm(folder, { recursive: true }));

/** The file of a stack whose process is running: this one, or its parent. */
const fileOf = (port: number, pid: number): StackFile => ({
  ...{ base_url: `http://127.0.0.1:${port}`, bridge_url: '', docs_url: '', phone_url: '', app_url: '' },
  ...{
    rapidpro_url: '',
    turn_url: '',
    dynamodb_endpoint: '',
    s3_endpoint: '',
    aws_endpoint: '',
    queues: {},
    table: '',
    token: '',
    app_token: '',
  },
  ...{ turn_token: '', bot_phone_number: '', turn_bot_phone_number: '', panelist: '', pid },
});

const [first, second, third] = [
  fileOf(3000, process.pid),
  fileOf(4000, process.ppid),
  // A process that exists on every system.
  fileOf(5000, 1),
];

test('a second local stack neither overwrites nor removes the file of the first one', async () => {
  await writeStackFiles(first);
  await writeStackFiles(second);
  expect((await readdir(folder)).sort()).toEqual(['stack-3000.json', 'stack-4000.json', 'stack.json']);
  expect(await findStack()).toEqual(first);
  vi.stubEnv('PORT', '4000');
  expect(await findStack()).toEqual(second);
  vi.stubEnv('PORT', '6000');
  expect(await findStack()).toBeUndefined();
  vi.stubEnv('PORT', '');

  await removeStackFiles(second);
  expect(JSON.parse(await readFile(join(folder, 'stack.json'), 'utf8'))).toEqual(first);
  await removeStackFiles(first);
  expect(await readdir(folder)).toEqual([]);
  expect(await findStack()).toBeUndefined();
});

test('after the end of the first local stack, the only other one is used, and one of several must be chosen', async () => {
  await writeStackFiles(first);
  await writeStackFiles(second);
  await removeStackFiles(first);
  expect(await findStack()).toEqual(second);
  await writeStackFiles(third);
  await removeStackFiles(third);
  expect(await findStack()).toEqual(second);

  await writeStackFiles(first);
  await writeStackFiles(third);
  await removeStackFiles(first);
  await expect(findStack()).rejects.toThrow(SeveralStacks);
  await expect(findStack()).rejects.toThrow('on the ports 4000, 5000. Choose one with PORT=4000.');
  await removeStackFiles(second);
  await removeStackFiles(third);
});

test('the file of a stack that was killed is replaced', async () => {
  // No process has this id: it is above the highest one.
  await writeStackFiles(fileOf(3000, 2 ** 30));
  expect(await findStack()).toBeUndefined();
  await writeStackFiles(second);
  expect(JSON.parse(await readFile(join(folder, 'stack.json'), 'utf8'))).toEqual(second);
  await removeStackFiles(second);
});
