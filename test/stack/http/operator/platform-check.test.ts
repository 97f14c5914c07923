/**
 * `operator platform check`: calls an account's chat platform to check its settings.
 *
 * @module-tag long
 */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { expect, onTestFinished, test } from 'vitest';
import { closeServer, listenOnLoopback } from '../../../../infra/local/aws/loopback.ts';
import { updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { hang } from '../../support/destination-server.ts';
import { machine, newAccount, operatorIn, refusal, remote } from '../../support/operator.ts';

interface Call {
  target: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A status, a status with a body, or a function that writes the response. */
type Answer = number | [status: number, body: string] | ((response: ServerResponse) => void);

/** A platform on this machine that returns the same response to every call, and records the calls. */
const newPlatform = async (answer: Answer) => {
  const calls: Call[] = [];
  const seen = { connections: 0 };
  const server = createServer(async (request, response) => {
    calls.push({ target: `${request.method} ${request.url}`, headers: request.headers, body: await text(request) });
    if (typeof answer === 'function') return answer(response);
    const [status, body] = typeof answer === 'number' ? [answer, ''] : answer;
    return response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end(body);
  });
  server.on('connection', () => {
    seen.connections += 1;
  });
  const url = await listenOnLoopback(server, 0);
  onTestFinished(() => closeServer(server));
  return { calls, seen, port: new URL(url).port };
};

const RECEIVE = '/c/ex/1d3f/receive';
const CHANNEL = '8c1a9f0e-4e0b-4c43-9c3f-1f1f0d6f3f5e';
const TOKEN = 'turn-token-0123456789';
const HMAC = 'hmac-secret-0123456789';
const SECRET = `whsec_${'A'.repeat(43)}=`;

/** Settings of each platform at a URL, as in the table. */
const settingsAt = {
  rapidpro: (base: string) => ({ settings: { url: `${base}${RECEIVE}` } }),
  turn: (base: string) => ({
    settings: { url: `${base}/`, channel: CHANNEL, token: TOKEN },
    hook: { hmac_secret: HMAC },
  }),
  webhook: (base: string) => ({ settings: { url: `${base}/hook`, secret: SECRET } }),
};

type Name = keyof typeof settingsAt;

/** A new account with a platform at a URL. */
const newAccountAt = async (name: Name, base: string): Promise<string> => {
  const account = await newAccount();
  await updateAccount(account, { platform: { name, ...settingsAt[name](base) } });
  return account;
};

/** The path of each platform's call. */
const paths: Record<Name, string> = {
  rapidpro: RECEIVE,
  turn: `/v1/numbers/${CHANNEL}/messages`,
  webhook: '/hook',
};

/** Checks an account's platform as text and as JSON. Both outputs must agree and contain no secret. */
const check = async (account: string, env: Record<string, string | undefined>) => {
  const command = ['platform', 'check', account];
  const [words, document] = await Promise.all([operatorIn(env, ...command), operatorIn(env, ...command, '--json')]);
  for (const { stdout, stderr } of [words, document]) {
    expect(stderr).toBe('');
    expect(stdout).not.toMatch(new RegExp(`${TOKEN}|${HMAC}|whsec_|hmac_secret`));
  }
  const found = JSON.parse(document.stdout);
  expect(words.code).toBe(document.code);
  expect('fix' in found).toBe('fault' in found);
  expect(words.stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
    ['Account', account],
    ['Platform', found.platform],
    ...(found.url === undefined ? [] : [['URL', found.url]]),
    ['Response', found.status === undefined ? 'none' : `status ${found.status}`],
    ['Result', found.fault ?? 'good'],
    ...(found.fix === undefined ? [] : [['Fix', found.fix]]),
    [''],
  ]);
  return { code: document.code, found };
};

const rapidproError = (error: string): string => JSON.stringify({ message: 'Error', data: [{ type: 'error', error }] });

/** Sends headers and 100 KB of the body, but never ends the response. */
const flood = (response: ServerResponse): void => void response.writeHead(200).write('x'.repeat(100_000));

/** The tests of each platform have all responses. */
const answers: [name: Name, what: string, answer: Answer, fault?: RegExp][] = [
  ['rapidpro', '400 for an empty message', [400, rapidproError("must have one of 'sender' or 'from' set")]],
  ['rapidpro', '400 for an unknown channel', [400, rapidproError('channel not found')], /^It knows no such channel:/],
  ['turn', '422 for an empty message', 422],
  ['turn', '401 for the token', 401, /^It refuses the token \(401\)\.$/],
  ['webhook', '204', 204],
  ['webhook', '200 with a body that does not end', flood],
  ['webhook', '302', 302, /redirects to another URL/],
];

test.each(answers)('platform check evaluates the response of %s: %s', async (name, _what, answer, fault) => {
  const { calls, port } = await newPlatform(answer);
  const base = `http://127.0.0.1:${port}`;
  const account = await newAccountAt(name, base);
  expect(await check(account, await machine({ pid: process.pid }))).toEqual({
    code: fault ? 1 : 0,
    found: {
      account,
      platform: name,
      url: `${base}${paths[name]}`,
      status: typeof answer === 'function' ? 200 : [answer].flat()[0],
      ...(fault && { fault: expect.stringMatching(fault), fix: expect.any(String) }),
    },
  });
  // One call for each check: redirects are not followed, and no call is retried.
  expect(calls.map(({ target }) => target)).toEqual(Array(2).fill(`POST ${paths[name]}`));
});

test('platform check posts a signed check to a webhook', async () => {
  const { calls, port } = await newPlatform(204);
  const account = await newAccountAt('webhook', `http://127.0.0.1:${port}`);
  await check(account, await machine({ pid: process.pid }));
  const verified = calls.map(({ headers, body }) =>
    new Webhook(SECRET).verify(body, headers as Record<string, string>),
  );
  expect(verified).toEqual([{ check: {} }, { check: {} }]);
});

test('platform check uses the settings of "account update"', async () => {
  const local = await machine({ pid: process.pid });
  const { calls, port } = await newPlatform(400);
  const account = await newAccount();
  const settings = [`--platform-url=http://127.0.0.1:${port}`, '--platform-channel=a_b', `--platform-token=${TOKEN}`];
  expect(await operatorIn(local, 'account', 'update', '--yes', account, '--platform=turn', ...settings)).toMatchObject({
    code: 0,
  });
  expect((await check(account, local)).code).toBe(0);
  expect(calls[0]?.target).toBe('POST /v1/numbers/a_b/messages');
});

test.each(['demo', 'demo-turn'])(
  'platform check succeeds for the simulated platform of the account "%s"',
  async (account) => {
    const { code, found } = await check(account, await machine({ pid: process.pid }));
    expect({ code, found }).toEqual({ code: 0, found: expect.not.objectContaining({ fault: expect.anything() }) });
  },
);

/** An environment in which a sixth of a minute is 200 ms. */
const withShortMinute = async () => ({ ...(await machine({ pid: process.pid })), MINUTE: '1200' });

test('platform check times out after 10 seconds, like the service', async () => {
  const { port } = await newPlatform(hang);
  const account = await newAccountAt('rapidpro', `http://127.0.0.1:${port}`);
  const { code, found } = await check(account, await withShortMinute());
  expect({ code, found }).toEqual({
    code: 1,
    found: expect.objectContaining({ fault: `There was no response from 127.0.0.1:${port} within 10 seconds.` }),
  });
  expect(found).not.toHaveProperty('status');
});

test('platform check evaluates a response with an incomplete body', async () => {
  const { port } = await newPlatform((response) => void response.writeHead(400).write('{"message":'));
  const account = await newAccountAt('rapidpro', `http://127.0.0.1:${port}`);
  const { code, found } = await check(account, await withShortMinute());
  expect({ code, found }).toEqual({
    code: 1,
    found: expect.objectContaining({ status: 400, fault: expect.stringMatching(/should refuse an empty message/) }),
  });
});

test.each([
  ['at a closed port', 'http://127.0.0.1:1', /^127\.0\.0\.1:1 refuses connections\.$/],
  ['with an unknown host', 'https://destination.invalid', /^DNS has no address for destination\.invalid \(E\w+\)\.$/],
])('platform check reports that a URL %s cannot be reached', async (_, base, cause) => {
  const account = await newAccountAt('webhook', base);
  expect(await check(account, await machine({ pid: process.pid }))).toEqual({
    code: 1,
    found: {
      account,
      platform: 'webhook',
      url: `${base}/hook`,
      fault: expect.stringMatching(cause),
      fix: expect.any(String),
    },
  });
});

const names: Name[] = ['rapidpro', 'turn', 'webhook'];

test.each(names)('platform check with a named table does not call a URL without https: %s', async (name) => {
  const { seen, port } = await newPlatform(400);
  const account = await newAccountAt(name, `http://127.0.0.1:${port}`);
  // ALLOW_LOOPBACK has no effect with a named table.
  expect(await check(account, { ...remote, ALLOW_LOOPBACK: 'true' })).toEqual({
    code: 1,
    found: {
      account,
      platform: name,
      fault: '--platform-url must be an https address, without user name or password.',
      fix: 'Correct the settings.',
    },
  });
  expect(seen.connections).toBe(0);
});

test.each(['127.0.0.1', 'localhost', '169.254.169.254'])(
  'platform check with a named table does not call a private IP address: %s',
  async (host) => {
    const { seen, port } = await newPlatform(400);
    const account = await newAccountAt('turn', `https://${host}:${port}`);
    expect(await check(account, { ...remote, ALLOW_LOOPBACK: 'true' })).toEqual({
      code: 1,
      found: {
        account,
        platform: 'turn',
        url: `https://${host}:${port}${paths.turn}`,
        fault: `The IP address of ${host}:${port} is not public, so the service does not call it.`,
        fix: 'Use a URL that the internet can reach.',
      },
    });
    expect(seen.connections).toBe(0);
  },
);

test('platform check rejects an account without a platform', async () => {
  const account = await newAccount();
  expect(await refusal('platform', 'check', account)).toContain(
    `Account "${account}" has no platform yet: set it with "account update ${account} --platform …"`,
  );
});
