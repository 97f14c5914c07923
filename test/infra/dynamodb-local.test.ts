/** The run over DynamoDB Local on a machine that lacks what it takes. */
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

/** Runs the script where neither Java nor Maven is found. */
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
  ['ends with 0 elsewhere', undefined, 0],
])('without Java and Maven the run over DynamoDB Local %s, and says that it tested nothing', (_, CI, status) => {
  expect(withoutJava(CI)).toEqual({
    status,
    stderr: expect.stringMatching(/^Nothing was tested, because Java or Maven is missing: .+\n$/),
  });
});
