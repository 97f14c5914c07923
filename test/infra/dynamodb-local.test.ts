/**
 * @module-tag long
 *
 * The tests with DynamoDB Local on a machine without Java and Maven.
 */
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

/** Runs the script with an empty PATH, so without Java and Maven. */
const withoutJava = (CI: string | undefined) => {
  const { DYNAMODB_ENDPOINT: _endpoint, CI: _ci, ...env } = process.env;
  const { status, stderr } = spawnSync(process.execPath, ['test/dynamodb-local.ts'], {
    env: { ...env, ...(CI !== undefined && { CI }), PATH: '' },
    encoding: 'utf8',
  });
  return { status, stderr };
};

test.each([
  ['fails in CI', 'true', 1],
  ['exits with 0 elsewhere', undefined, 0],
])('without Java and Maven, the run with DynamoDB Local %s, and reports that it tested nothing', (_, CI, status) => {
  expect(withoutJava(CI)).toEqual({
    status,
    stderr: expect.stringMatching(/^Nothing was tested, because Java or Maven is missing: .+\n$/),
  });
});
