/**
 * `npm run operator -- panelist import`.
 *
 * @module-tag long
 */
import { spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { findUser, registerUser } from '../../../../infra/operator/queries/users-admin.ts';
import { get } from '../../../../shared/table/client.ts';
import { userKey } from '../../../../shared/users/entities.ts';
import {
  csv,
  failingTable,
  folder,
  hasTerminal,
  inJson,
  onTerminal,
  operator,
  refusal,
  remote,
  run,
  time,
} from '../../support/operator.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { newPhone } from '../../support/world.ts';

useOwnTable('operator-import');

describe('panelist import', () => {
  test('an import registers 200 panelists, and a repeat changes nothing', async () => {
    const start = randomInt(1e9, 9e9) * 10_000;
    const numbers = Array.from({ length: 200 }, (_, index) => `${start + index}`);
    const file = await csv('name,phone_number', ...numbers.map((number) => `"Doe, J",${number}`));
    const result = { imported: 200, unchanged: 0, duplicates: 0, skipped: [] };
    const sample = [0, 1, 31, 32, 33, 100, 198, 199].map((index) => numbers[index] ?? '');
    const rows = () => Promise.all(sample.map((number) => get(userKey(number))));

    expect(await inJson('panelist', 'import', file)).toEqual(result);
    const before = await rows();
    expect(before).toMatchObject(sample.map((number) => ({ ...userKey(number), panelist: true, created: time })));

    expect(await inJson('panelist', 'import', file)).toEqual({ ...result, imported: 0, unchanged: 200 });
    expect(await rows()).toEqual(before);
  });

  test('an import skips invalid rows, and reports their line numbers without their contents', async () => {
    const [one, two] = [newPhone(), newPhone()];
    const file = await csv('phone_number,name', `${one},A`, '+Secret', '', `"${two}`, `${one},A again`, 'Secret', two);
    const ended = await operator('panelist', 'import', file);
    expect(ended.code).toBe(1);
    expect(ended.stdout).toBe('2 imported, 0 unchanged, 1 twice in the file, 3 skipped.\n');
    expect(ended.stderr.match(/^line \d+/gm)).toEqual(['line 3', 'line 5', 'line 7']);
    expect(ended.stderr).not.toMatch(new RegExp(`Secret|${two}`));
    expect(ended.stderr).toContain(', not +xxxxxx');

    const rejected = file.replace('.csv', '-rejected.csv');
    expect(ended.stderr).toContain(rejected);
    expect((await stat(rejected)).mode & 0o777).toBe(0o600);
    expect(await readFile(rejected, 'utf8')).toMatch(
      new RegExp(
        `^phone_number,name\n# line 3: it must .+\n\\+Secret\n# line 5: it has .+\n"${two}\n# line 7: it .+\nSecret\n$`,
      ),
    );
    // Corrected, it is imported.
    const three = newPhone();
    await writeFile(rejected, (await readFile(rejected, 'utf8')).replace('+Secret', three).replace(`"${two}`, two));
    const corrected = await operator('panelist', 'import', rejected);
    expect(corrected.stdout).toBe('1 imported, 1 unchanged, 0 twice in the file, 1 skipped.\n');
    expect(await findUser(three)).toMatchObject({ panelist: true });
    expect(corrected.stderr).toContain(rejected.replace('.csv', '-2.csv'));

    const again = await operator('panelist', 'import', file, '--json');
    expect(again.code).toBe(1);
    expect(again.stdout).not.toMatch(new RegExp(`Secret|${two}`));
    expect(JSON.parse(again.stdout)).toEqual({
      imported: 0,
      unchanged: 2,
      duplicates: 1,
      skipped: [3, 5, 7].map((line) => ({ line, reason: expect.any(String), value: expect.any(String) })),
      rejected_file: file.replace('.csv', '-rejected-3.csv'),
    });
  });

  test('an import lists the first 20 of 30 invalid rows, and all 30 in JSON', async () => {
    const file = await csv('phone_number', ...Array<string>(30).fill('x'));
    const { stderr } = await operator('panelist', 'import', file);
    expect(stderr.match(/^line /gm)).toHaveLength(20);
    expect(stderr).toContain('10 more');
    expect(JSON.parse((await operator('panelist', 'import', file, '--json')).stdout).skipped).toHaveLength(30);
  });

  test('an import makes a registered user a panelist', async () => {
    const phone_number = newPhone();
    await registerUser({ phone_number, panelist: false });
    expect(await inJson('panelist', 'import', await csv(phone_number))).toMatchObject({ imported: 1, unchanged: 0 });
    expect(await findUser(phone_number)).toEqual({ phone_number, panelist: true });
  });

  test('an import rejects a missing file, a folder, and a file without a column of phone numbers', async () => {
    const path = await folder();
    expect(await refusal('panelist', 'import', join(path, 'none.csv'))).toContain('no such file');
    expect(await refusal('panelist', 'import', path)).toContain('cannot be read');
    expect(await refusal('panelist', 'import', await csv('name', 'Ann'))).toContain(
      'must name a column "phone_number"',
    );
  });

  test('an import stops when a write fails, and reports its progress', async () => {
    const { asked, env } = await failingTable('ResourceNotFoundException', 400, (time) => time === 100);
    const file = await csv(...Array.from({ length: 2_000 }, (_, index) => `${27_820_000_000 + index}`));
    const { code, stdout, stderr } = await run(['panelist', 'import', file], env);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^Stopped after \d+ of 2,000; it is safe to repeat\.\nerror: There is no table .+\n$/);
    expect(asked.times).toBeLessThan(200);
  });

  test('an import reads standard input, and writes its rejected rows into the current folder', async () => {
    const [cwd, phone] = [await folder(), newPhone()];
    const child = spawnSync(process.execPath, [resolve('infra/operator/main.ts'), 'panelist', 'import', '-'], {
      cwd,
      env: remote,
      input: Buffer.from(`\uFEFFPhone;Name\r\n${phone};Zoë\r\nx;Ben\r\n`, 'utf16le'),
      encoding: 'utf8',
    });
    expect(child).toMatchObject({ status: 1, stdout: '1 imported, 0 unchanged, 0 twice in the file, 1 skipped.\n' });
    expect(await readFile(join(cwd, 'panelists-rejected.csv'), 'utf8')).toMatch(
      /^\uFEFFPhone;Name\r\n# line 3: .+\r\nx;Ben\r\n$/,
    );
  });

  test.each([['SIGINT', 130] as const, ['SIGTERM', 143] as const])(
    'an import ends after %s with its progress and the documented exit code',
    async (signal, code) => {
      const { asked, env } = await failingTable('none', 200, () => false);
      const phones = Array.from({ length: 200_000 }, (_, index) => `${27_820_000_000 + index}`);
      const file = await csv(phones.join('\n'));
      const child = spawn(process.execPath, ['infra/operator/main.ts', 'panelist', 'import', file], { env });
      const printed = text(child.stderr);
      await expect.poll(() => asked.times).toBeGreaterThan(100);
      child.kill(signal);
      const [status] = await once(child, 'exit');
      expect(status).toBe(code);
      expect(await printed).toMatch(
        /error: Interrupted after [\d,]+ of 200,000; it is safe to repeat: [\d,]+ were imported\.\n$/,
      );
    },
  );

  test.runIf(hasTerminal)('an import draws a bar on a terminal', async () => {
    const { printed } = await onTerminal(['panelist', 'import', await csv(newPhone(), newPhone())]);
    expect(printed).toMatch(/█+ 100 % {2}2 of 2 panelists/);
  });
});
