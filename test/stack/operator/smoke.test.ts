/** `.ci/smoke`, which the workflow Deploy runs after a deployment, on the served stack. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { type Environment, remote } from '../support/operator.ts';

const { base_url: BaseUrl, bridge_url: BridgeUrl, table: TableName } = inject('stack');

const good = { BaseUrl, BridgeUrl, TableName };

/** Runs the smoke test with these outputs of a stack. */
const smoke = async (outputs: object, env: Environment = remote): Promise<{ code: unknown; lines: string[] }> => {
  const folder = await mkdtemp(join(tmpdir(), 'smoke-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'outputs.json');
  await writeFile(file, JSON.stringify({ 'business-api-trial': outputs }));
  // As in an npm script, `node` is the one that runs the tests.
  const PATH = `${dirname(process.execPath)}:${process.env.PATH}`;
  return new Promise((resolve) => {
    execFile(join('.ci', 'smoke'), [file], { env: { ...env, PATH } }, (error, stdout) =>
      resolve({ code: error ? error.code : 0, lines: stdout.trim().split('\n') }),
    );
  });
};

/** The steps that failed. */
const failed = (lines: string[]): string[] =>
  lines.filter((line) => line.startsWith('FAILED')).map((line) => line.split(': ')[1] ?? '');

test('passes all steps on a stack that works', async () => {
  const { code, lines } = await smoke(good);
  expect({ code, failed: failed(lines) }).toEqual({ code: 0, failed: [] });
  expect(lines).toHaveLength(6);
});

test.each<[string, object, Environment, string[]]>([
  [
    'the API host serves something else',
    { ...good, BaseUrl: BridgeUrl },
    remote,
    // The bridge host asks for a token on every path.
    ['the API host serves its description'],
  ],
  [
    'the bridge host serves something else',
    { ...good, BridgeUrl: BaseUrl },
    remote,
    ['the bridge host requires a token', 'a function reads the table'],
  ],
  ['there is no such table', { ...good, TableName: 'not-there' }, remote, ["the operator's command reads the table"]],
])('fails if %s, and names the steps', async (_, outputs, env, steps) => {
  const { code, lines } = await smoke(outputs, env);
  expect({ code, failed: failed(lines) }).toEqual({ code: 1, failed: steps });
  expect(lines).toHaveLength(6);
});

test('fails without an output', async () => {
  const { code, lines } = await smoke({ BaseUrl, BridgeUrl });
  expect(code).not.toBe(0);
  expect(lines.join()).not.toContain('passed');
});
