/**
 * The table that operator commands use, and their errors when they cannot use it.
 *
 * @module-tag long
 */
import { spawnSync } from 'node:child_process';
import { describe, expect, inject, test } from 'vitest';
import { type Environment, failingTable, machine, remote, run, withoutCredentials } from '../../support/operator.ts';

const stack = inject('stack');

describe('the table', () => {
  const NONE = 'error: No local stack is running. Start it with "npm start", or name a stack in AWS with --stack';

  test('without a table name, a command uses the running local stack and ignores AWS settings', async () => {
    const here = await machine({ pid: process.pid });
    const settings = { AWS_PROFILE: 'none', AWS_ENDPOINT_URL: 'http://127.0.0.1:9', AWS_SESSION_TOKEN: 'x' };
    for (const env of [here, { ...here, ...settings }, { ...here, TABLE_NAME: '' }]) {
      const { code, stdout, stderr } = await run(['account', 'show', 'demo', '--json'], env);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(JSON.parse(stdout)).toMatchObject({ id: 'demo' });
    }
  });

  test('without a table name and a local stack, a command fails with a hint', async () => {
    const { pid } = spawnSync(process.execPath, ['--version']);
    for (const env of [await machine(), await machine({ pid })]) {
      const ended = await run(['account', 'list'], env);
      expect(ended).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining(NONE) });
      expect(ended.stderr).toMatch(/^.+\n$/);
    }
  });

  test('--table works before and after the command', async () => {
    const { TABLE_NAME: _, ...env } = remote;
    for (const args of [
      ['--table', stack.table, 'account', 'list', '--json'],
      ['--json', 'account', 'list', '--table', stack.table],
    ]) {
      const { code, stdout } = await run(args, env);
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toContainEqual(expect.objectContaining({ id: 'demo' }));
    }
  });

  const failures: [what: string, env: Environment, line: RegExp][] = [
    ['that does not exist', { TABLE_NAME: 'nowhere' }, /There is no table "nowhere" at http/],
    ['with an invalid name', { TABLE_NAME: 'no where' }, /"no where" at http\S+ is not a table of the Business API/],
    [
      'that does not respond',
      { AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:9' },
      /127\.0\.0\.1:9 refuses the connection: nothing listens there/,
    ],
    ['without a region', { AWS_REGION: undefined, AWS_CONFIG_FILE: '/dev/null' }, /No AWS region is set/],
    ['without credentials', withoutCredentials, /No AWS credentials were found/],
  ];

  /** Whether a repeat may succeed, by the message. */
  const isTemporary = ({ source }: RegExp): boolean => /refuses|status 500|throttles/.test(source);

  const endsWithOneLine = async (env: Environment, line: RegExp): Promise<void> => {
    const { code, stdout, stderr } = await run(['account', 'list'], env);
    const expected = isTemporary(line) ? 4 : 1;
    expect({ code, stdout, stderr }).toEqual({ code: expected, stdout: '', stderr: expect.stringMatching(line) });
    expect(stderr).toMatch(/^error: .+\n$/);
    expect(stderr).not.toContain('Secret');
  };

  const fail = (_what: string, change: Environment, line: RegExp) => endsWithOneLine({ ...remote, ...change }, line);

  // Each takes a process of its own, because a process has one client of the table.
  test.each(failures)('a table %s causes an error of one line', fail);

  // The messages of all errors: test/unit/infra/operator-failures.test.ts.
  const answers: [type: string, status: number, line: RegExp][] = [
    ['ExpiredTokenException', 400, /The AWS credentials have expired/],
    ['InternalServerError', 500, /failed with status 500 \(5 attempts\)\. It is safe to repeat/],
    ['ProvisionedThroughputExceededException', 400, /AWS throttles the calls \(5 attempts\)/],
  ];

  const reject = async (type: string, status: number, line: RegExp) =>
    endsWithOneLine((await failingTable(type, status)).env, line);

  test.each(answers)('a table that returns %s causes an error of one line, without the text of the response', reject);
});
