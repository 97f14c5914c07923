/**
 * The option `--stack`: commands find a deployment by the outputs of its stack.
 *
 * @module-tag long
 */
import { describe, expect, test } from 'vitest';
import { servedOutputs, serveStacks } from '../../support/cloudformation.ts';
import { operatorIn, remote, run } from '../../support/operator.ts';

const { TableName } = servedOutputs;

describe('--stack', () => {
  test('names the table by the outputs of the stack, before and after the command and in the environment', async () => {
    const env = await serveStacks({ trial: servedOutputs });
    const calls: [string[], typeof env][] = [
      [['--stack', 'trial', 'account', 'show', 'demo', '--json'], env],
      [['account', 'show', 'demo', '--json', '--stack=trial'], env],
      [['account', 'show', 'demo', '--json'], { ...env, STACK_NAME: 'trial' }],
      // An option wins over a variable.
      [['account', 'show', 'demo', '--json', '--stack', 'trial'], { ...env, TABLE_NAME: 'not-there' }],
      [['account', 'show', 'demo', '--json', '--table', TableName], { ...remote, STACK_NAME: 'not-there' }],
    ];
    for (const [args, environment] of calls) {
      const { code, stdout, stderr } = await operatorIn(environment, ...args);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(JSON.parse(stdout)).toMatchObject({ id: 'demo' });
    }
  });

  test('works in a process of its own, which loads no module of the local stack', async () => {
    const env = await serveStacks({ trial: servedOutputs });
    const update = ['account', 'update', '--yes', 'demo', '--platform=webhook', '--platform-url=http://127.0.0.1/'];
    const { code, stderr } = await run([...update, '--stack', 'trial'], env);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('must be an https address') });
  });

  const failures: [what: string, stack: object | string | undefined, line: RegExp][] = [
    ['that does not exist', undefined, /There is no stack "trial" in the region us-east-1 of this AWS account/],
    [
      'of something else',
      { Url: 'x' },
      /The stack "trial" lacks the outputs TableName, BaseUrl, BridgeUrl, HashSecretName, AppNetworkSecret, CounterRetention\..+its status is CREATE_COMPLETE/,
    ],
    [
      'that lacks an output',
      Object.fromEntries(Object.entries(servedOutputs).filter(([name]) => name !== 'BridgeUrl')),
      /The stack "trial" lacks the outputs BridgeUrl\./,
    ],
    ['that the credentials may not read', 'AccessDenied', /may not describe the stack "trial"/],
    ['with credentials that have expired', 'ExpiredToken', /The AWS credentials have expired/],
    ['with rejected credentials', 'InvalidClientTokenId', /AWS rejects the credentials/],
  ];
  test.each(failures)('a stack %s causes an error of one line', async (_what, stack, line) => {
    const env = await serveStacks(stack === undefined ? {} : { trial: stack });
    const { code, stdout, stderr } = await operatorIn(env, 'account', 'list', '--stack', 'trial');
    expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(line) });
    expect(stderr).toMatch(/^error: .+\n$/);
  });

  test.each([
    ['both options', ['account', 'list', '--stack', 'a', '--table', 'b'], {}],
    ['both variables', ['account', 'list'], { STACK_NAME: 'a', TABLE_NAME: 'b' }],
  ])('%s are an invalid command line', async (_what, args, change) => {
    const { TABLE_NAME: _, ...env } = remote;
    const { code, stderr } = await operatorIn({ ...env, ...change }, ...args);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('exclude each other') });
  });

  test('the smoke test requires the hosts, which --table does not name', async () => {
    const { code, stderr } = await operatorIn(remote, 'smoke');
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('Name the stack with --stack') });
  });
});
