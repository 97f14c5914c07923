/**
 * @module-tag long
 *
 * The program in Python that the guide for businesses contains, as it is there. It needs Python, and its library from PyPI.
 * Without Python, the test is skipped; if the environment sets CI, it fails.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { run } from '../../../deploy/processes.ts';
import { installPackages, pythonVersion } from '../../../support/python.ts';
import { call } from '../../support/client.ts';
import { untilShown } from '../../support/phones.ts';
import { newCaller, newPhone } from '../../support/world.ts';

const GUIDE = join(import.meta.dirname, '../../../../infra/docs/business.md');
const LIBRARY = join(import.meta.dirname, 'csv-program.txt');

const { base_url: baseUrl } = inject('stack');

const options = { tags: 'long', timeout: 300_000 } as const;

test(
  'the program for CSV files in the guide sends each person one text, also if it runs twice',
  options,
  async (context) => {
    const version = await pythonVersion();
    if (version === undefined && process.env.CI) throw new Error('There is no python3 on the PATH.');
    if (version === undefined) return context.skip('There is no python3 on the PATH.');
    const python = await installPackages(version, 'requests', LIBRARY);
    const folder = await mkdtemp(join(tmpdir(), 'csv-program-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const program = join(folder, 'send.py');
    const [, source = ''] = /^```python\n(.*?)^```$/ms.exec(await readFile(GUIDE, 'utf8')) ?? [];
    await writeFile(program, source);
    const { token } = await newCaller('messages', 'stats');
    const send = async (rows: string[]) => {
      const file = join(folder, 'people.csv');
      // As Excel writes it: with a byte order mark.
      await writeFile(file, `\uFEFF${['name,phone', ...rows].join('\r\n')}\r\n`);
      return run(python, [program, file], { env: { PATH: process.env.PATH, BASE_URL: baseUrl, TOKEN: token } });
    };

    const [ada, tomas] = [newPhone(), newPhone()];
    const people = [`"Lovelace, Ada",${ada}`, `Tomáš,${tomas}`];
    const first = await send(people);
    expect(first).toMatchObject({ status: 0, output: expect.stringMatching(/^2 of 2 accepted, job [0-9a-f-]{36}\n$/) });
    expect(await send(people)).toMatchObject({ status: 0, output: first.output });
    for (const [phone, name] of [
      [ada, 'Lovelace, Ada'],
      [tomas, 'Tomáš'],
    ] as const) {
      const body = `Good morning, ${name}! A new survey is open.`;
      expect(await untilShown(phone, 1)).toMatchObject([{ data: { text: { body } } }]);
    }
    expect((await call('listLogs', { token, query: { state: 'sent' } })).body).toHaveLength(2);

    const rejected = await send(['Nobody,none']);
    expect(rejected.status).toBe(1);
    expect(rejected.output).toContain('#/0/to');
  },
);
