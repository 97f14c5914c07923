/** `operator app-network`: the URL and the secret of the app network of a deployed stack. */
import { expect, test } from 'vitest';
import { servedOutputs, serveStacks } from '../../support/cloudformation.ts';
import { operator, operatorIn } from '../../support/operator.ts';

const URL = 'https://app.example.com/messages';
const WHSEC = /^whsec_[A-Za-z0-9+/]{43}=$/;
const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;

/** Runs commands for a stack whose secret has this value, and returns what the secret has then. */
const deployed = async (value: string | undefined) => {
  const secrets: Record<string, string | undefined> = { 'app-network': value };
  const env = await serveStacks({ trial: servedOutputs }, { secrets });
  return {
    appNetwork: (...args: string[]) => operatorIn(env, 'app-network', ...args, '--stack', 'trial', '--json'),
    stored: () => JSON.parse(secrets['app-network'] ?? ''),
  };
};

test('a new stack has no URL; setting it makes a secret, which is shown once', async () => {
  // What AWS generates when the stack is created.
  const { appNetwork, stored } = await deployed('random, and no JSON');
  expect(JSON.parse((await appNetwork('show')).stdout)).toEqual({ url: null });
  const { code, stdout } = await appNetwork('set', '--url', URL);
  const { secret } = JSON.parse(stdout);
  expect({ code, secret }).toEqual({ code: 0, secret: expect.stringMatching(WHSEC) });
  expect(stored()).toEqual({ url: URL, secret });
  const shown = await appNetwork('show');
  expect(JSON.parse(shown.stdout)).toEqual({ url: URL, previous_secret_signs: false });
});

test('a secret is replaced in two steps: both sign until the previous one is dropped', async () => {
  const { appNetwork, stored } = await deployed(JSON.stringify({ url: URL, secret: SECRET }));
  expect(JSON.parse((await appNetwork('set', '--secret', '', '--yes')).stdout)).toEqual({
    url: URL,
    previous_secret_signs: true,
    secret: expect.stringMatching(WHSEC),
  });
  const { secret } = stored();
  expect(secret).not.toBe(SECRET);
  expect(stored()).toEqual({ url: URL, secret, previous_secret: SECRET });
  expect((await appNetwork('set', '--drop-previous', '--yes')).code).toBe(0);
  expect(stored()).toEqual({ url: URL, secret });
});

test('a given secret is not shown, and another URL is a question first', async () => {
  const { appNetwork, stored } = await deployed(JSON.stringify({ url: URL, secret: SECRET }));
  const other = 'https://other.example.com/';
  const { code, stderr } = await appNetwork('set', '--url', other);
  expect({ code, stderr }).toEqual({
    code: 3,
    stderr: expect.stringContaining(`Sends messages to ${other} instead of ${URL}.`),
  });
  expect(stored()).toMatchObject({ url: URL });
  const given = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;
  const { stdout } = await appNetwork('set', '--url', ` ${other}`, '--secret', given, '--yes');
  expect(stdout).not.toContain('whsec_');
  expect(stored()).toEqual({ url: other, secret: given, previous_secret: SECRET });
});

test.each<[what: string, value: string | undefined, args: string[], words: string]>([
  ['no URL, and none is set', 'random', ['--secret', SECRET], 'no URL yet: give it with --url'],
  ['a URL without TLS', 'random', ['--url', 'http://app.example.com'], '--url must be an https address'],
  ['a short secret', 'random', ['--url', URL, '--secret', 'whsec_AAAA'], '--secret must be whsec_ and 24 to 64 bytes'],
  ['nothing to change', JSON.stringify({ url: URL, secret: SECRET }), ['--url', URL], 'Nothing would change'],
  ['no right', undefined, ['--url', URL], 'may not use the secret of the app network (secretsmanager:GetSecretValue)'],
])('%s is an error of one line, and nothing is written', async (_what, value, args, words) => {
  const { appNetwork } = await deployed(value);
  const { code, stdout, stderr } = await appNetwork('set', ...args, '--yes');
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(words);
  expect(stderr).not.toContain('whsec_A');
});

test('a table that is named without its stack has no app network', async () => {
  const { code, stderr } = await operator('app-network', 'show');
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('Name the stack with --stack') });
});
