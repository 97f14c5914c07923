/**
 * `operator connect`: stores the settings of a chat platform, prints the values for it, and checks both directions.
 *
 * @module-tag long
 */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, inject, onTestFinished, test } from 'vitest';
import { closeServer, listenOnLoopback } from '../../../../infra/local/aws/loopback.ts';
import { type ConnectRequest, connect, type Shown } from '../../../../infra/operator/connect/flow.ts';
import type { Questions } from '../../../../infra/operator/connect/questions.ts';
import { findPlatform, showAccount, updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { issueToken, listTokens, revokeToken } from '../../../../infra/operator/queries/tokens-admin.ts';
import { listLogs } from '../../../../shared/stats/delivery-log.ts';
import { machine, newAccount, operator, operatorIn, remote } from '../../support/operator.ts';
import { selfSignedServer } from '../../support/self-signed.ts';
import { newPhone } from '../../support/world.ts';

const stack = inject('stack');
const TURN_TOKEN = 'turn-token-0123456789';
const HMAC = 'hmac-secret-0123456789';

interface Answer {
  status: number;
  body?: string;
}

/** A platform on this machine that returns the same response to every call, and records the bodies. */
const newPlatform = async (answer: Answer) => {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    bodies.push(await text(request));
    response.writeHead(answer.status).end(answer.body);
  });
  const base = await listenOnLoopback(server, 0);
  onTestFinished(() => closeServer(server));
  return { bodies, base };
};

const EMPTY = JSON.stringify({ message: 'Error', data: [{ error: "must have one of 'sender' or 'from' set" }] });
const UNKNOWN = JSON.stringify({ message: 'Error', data: [{ error: 'channel not found' }] });

const rapidproAt = (base: string): string => `${base}/c/ex/1d3f/receive`;

/** Runs the command on the served stack. */
const connectHere = async (...args: string[]) => operatorIn(await machine({ pid: process.pid }), 'connect', ...args);

/** Runs the command on the served stack. Returns its document. */
const connectInJson = async (...args: string[]) => {
  const { code, stdout, stderr } = await connectHere(...args, '--json');
  expect(stderr).not.toContain('error');
  return { code, stderr, document: JSON.parse(stdout) };
};

const accountWithNumber = async (): Promise<string> => {
  const account = await newAccount();
  await updateAccount(account, { bot_number: newPhone() });
  return account;
};

const shownIn = (document: { enter: { field: string; value: string }[] }, name: string): string =>
  document.enter.find(({ field }) => field === name)?.value ?? '';

test('connect issues a token for RapidPro once, stores the receive URL, and checks both directions without a message', async () => {
  const account = await newAccount();
  const { base, bodies } = await newPlatform({ status: 400, body: EMPTY });
  const first = await connectInJson(account, '--platform=rapidpro', `--bot-number=${newPhone()}`);
  expect(first).toMatchObject({ code: 0, document: { missing: ['url'], checks: [] } });
  expect(first.stderr).toContain('--platform-url VALUE');
  expect(await findPlatform(account)).toBeUndefined();
  const token = shownIn(first.document, 'Authorization header value');

  const again = await connectInJson(account, '--platform=rapidpro');
  expect(JSON.stringify(again)).not.toContain(token);
  expect(again.document.unchecked_token).toBe(`…${token.slice(-4)}`);

  const args = [account, '--platform=rapidpro', `--platform-url=${rapidproAt(base)}`, `--token=${token}`];
  const second = await connectInJson(...args);
  expect(second).toMatchObject({
    code: 0,
    document: {
      missing: [],
      checks: [
        { title: 'RapidPro reaches the service', result: 'good', status: 200 },
        { title: 'The service reaches RapidPro', result: 'good', status: 400 },
      ],
    },
  });
  expect(bodies).toEqual(['']);
  expect(await findPlatform(account)).toEqual({
    name: 'rapidpro',
    settings: { url: rapidproAt(base) },
    hook: { max_length: '4096' },
  });
  expect(await listTokens(account)).toMatchObject([{ label: 'RapidPro', permissions: ['bridge'] }]);
  expect((await listLogs(account, {}, 10)).entries).toEqual([]);
});

test("connect prints Turn's endpoint with the encoded token, marks it as secret, and never prints Turn's own secrets", async () => {
  const account = await accountWithNumber();
  const { base } = await newPlatform({ status: 400 });
  const settings = ['--platform-channel=a_b', `--platform-token=${TURN_TOKEN}`, `--platform-hmac-secret=${HMAC}`];
  const { code, stdout, stderr } = await connectHere(account, '--platform=turn', `--platform-url=${base}`, ...settings);
  expect(code).toBe(0);
  const [, encoded = ''] = /endpoint \(secret\) +\S+\/v1\/webhook\/turn\/(\S+)/.exec(stdout) ?? [];
  expect(Buffer.from(encoded, 'base64url').toString()).toMatch(/^bapi_[0-9a-f]{72}$/);
  expect(stdout).toMatch(/✓ Turn reaches the service \(status 200[\s\S]+✓ The service reaches Turn \(status 400/);
  expect(stderr).toBe('Copy the secret now: it will not be shown again.\n');
  expect(stdout + stderr).not.toMatch(new RegExp(`${TURN_TOKEN}|${HMAC}`));
  expect(await findPlatform(account)).toMatchObject({ name: 'turn', hook: { hmac_secret: HMAC } });
});

test('connect creates the secret of a webhook, prints it once, and issues no token', async () => {
  const account = await accountWithNumber();
  const { base } = await newPlatform({ status: 204 });
  const { code, document } = await connectInJson(account, '--platform=webhook', `--platform-url=${base}/hook`);
  expect({ code, checks: document.checks }).toMatchObject({ code: 0, checks: [{ result: 'good', status: 204 }] });
  const secret = shownIn(document, 'Signing secret');
  expect(secret).toMatch(/^whsec_/);
  expect(await findPlatform(account)).toMatchObject({ settings: { secret } });
  expect(await listTokens(account)).toEqual([]);
  const again = await connectInJson(account);
  expect({ code: again.code, enter: again.document.enter }).toEqual({ code: 0, enter: [] });
});

test.each<[what: string, path: string, answer: Answer, cause: RegExp]>([
  ['a mistyped receive URL', '/c/ex/1d3f/recieve', { status: 404 }, /yours ends with \/recieve/],
  ['an inactive channel', '/c/ex/1d3f/receive', { status: 400, body: UNKNOWN }, /inactive/],
])('connect exits with 1 and names cause and fix: %s', async (_what, path, answer, cause) => {
  const account = await accountWithNumber();
  const { base } = await newPlatform(answer);
  const { code, stdout } = await connectHere(account, '--platform=rapidpro', `--platform-url=${base}${path}`);
  expect(code).toBe(1);
  expect(stdout).toMatch(new RegExp(`✗ The service cannot reach RapidPro.+\n  Cause: .*${cause.source}.*\n  Fix: `));
});

test('connect reports a certificate that is not trusted', async () => {
  const account = await accountWithNumber();
  const url = await selfSignedServer();
  const { code, document } = await connectInJson(account, '--platform=webhook', `--platform-url=${url}/hook`);
  expect({ code, checks: document.checks }).toMatchObject({
    code: 1,
    checks: [{ result: 'failed', detail: expect.stringMatching(/certificate .*is not trusted \(DEPTH_ZERO_SELF/) }],
  });
});

test.each<[what: string, token: (account: string) => Promise<string>, cause: RegExp]>([
  ['a mistyped one', async () => 'bapi_1', /mistyped, revoked or expired/],
  [
    'a revoked one',
    async (account) => {
      const { token, record } = await issueToken(account, { label: '', permissions: ['bridge'] });
      await revokeToken(account, record.id);
      return token;
    },
    /mistyped, revoked or expired/,
  ],
  [
    'one without the permission',
    async (account) => (await issueToken(account, { label: '', permissions: ['stats'] })).token,
    /permission "bridge"/,
  ],
  [
    "another account's",
    async () => (await issueToken(await newAccount(), { label: '', permissions: ['bridge'] })).token,
    /belongs to another account/,
  ],
])('connect finds a wrong token: %s', async (_what, tokenOf, cause) => {
  const account = await accountWithNumber();
  const { base } = await newPlatform({ status: 400, body: EMPTY });
  const { code, document } = await connectInJson(
    account,
    '--platform=rapidpro',
    `--platform-url=${rapidproAt(base)}`,
    `--token=${await tokenOf(account)}`,
  );
  expect({ code, from: document.checks[0] }).toEqual({
    code: 1,
    from: expect.objectContaining({
      title: 'RapidPro cannot reach the service',
      result: 'failed',
      detail: expect.stringMatching(cause),
      fix: expect.stringMatching(/\w/),
    }),
  });
});

test("connect finds a wrong number: it belongs to another account's bot", async () => {
  const [account, other] = [await accountWithNumber(), await accountWithNumber()];
  const { bot_number: taken } = await showAccount(other);
  expect(await connectHere(await newAccount(), '--platform=rapidpro', `--bot-number=${taken}`)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`belongs to the bot of the account "${other}"`),
  });
  const differs = await connectHere(account, '--platform=rapidpro', `--bot-number=${newPhone()}`);
  expect(differs).toMatchObject({ code: 1, stderr: expect.stringContaining('account update') });
});

test.each([
  ['no platform', [], /Choose a platform with --platform \w+(\|\w+)+\.\n$/],
  ['an invalid setting', ['--platform=rapidpro', '--platform-url=ftp://x'], /--platform-url must be/],
  ['an invalid optional setting', ['--platform=rapidpro', '--platform-max-length=7'], /--platform-max-length must be/],
  ["another platform's setting", ['--platform=webhook', '--platform-channel=1'], /has no --platform-channel/],
])('connect without a terminal rejects %s, and issues no token', async (_what, args, message) => {
  const account = await accountWithNumber();
  const { code, stderr } = await connectHere(account, ...args);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(message) });
  expect(await listTokens(account)).toEqual([]);
});

test('connect replaces another platform only with --yes', async () => {
  const account = await accountWithNumber();
  const { base } = await newPlatform({ status: 400, body: EMPTY });
  await connectInJson(account, '--platform=webhook', `--platform-url=${base}/hook`);
  const args = [account, '--platform=rapidpro', `--platform-url=${rapidproAt(base)}`];
  const refused = await connectHere(...args);
  expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining('Add --yes') });
  expect(await findPlatform(account)).toMatchObject({ name: 'webhook' });
  expect(await connectHere(...args, '--yes')).toMatchObject({ code: 0 });
  expect(await findPlatform(account)).toMatchObject({ name: 'rapidpro' });
});

test('connect needs the URL of the bridge host, which a table does not have', async () => {
  expect(await operatorIn(remote, 'connect', await newAccount(), '--platform=rapidpro')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('name the stack with --stack'),
  });
  expect((await operator('connect', 'one', '--wait=0')).code).toBe(2);
});

test('connect waits for a message that RapidPro sends, and reports that it arrived', async () => {
  const account = await accountWithNumber();
  const { base } = await newPlatform({ status: 400, body: EMPTY });
  const { token } = await issueToken(account, { label: '', permissions: ['bridge'] });
  const sent = async () => {
    const form = new URLSearchParams({ id: '21', text: 'Hello', to_no_plus: newPhone() });
    const init = { method: 'POST', headers: { authorization: token }, body: form };
    expect((await fetch(`${stack.bridge_url}/v1/webhook/rapidpro/`, init)).status).toBe(200);
  };
  const waiting = connectInJson(
    account,
    '--platform=rapidpro',
    `--platform-url=${rapidproAt(base)}`,
    `--token=${token}`,
    '--wait=60',
  );
  // The wait begins after the settings are stored and checked: messages are sent until one is seen.
  let isOver = false;
  const sending = (async () => {
    while (!isOver) {
      await sent();
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  })();
  const { code, document } = await waiting.finally(() => {
    isOver = true;
  });
  await sending;
  expect({ code, last: document.checks.at(-1) }).toMatchObject({
    code: 0,
    last: { title: 'A message of RapidPro arrived', result: 'good' },
  });
});

/** Questions with these answers, by the beginning of the last line of the question. */
const answering = (answers: [question: string, answer: string][]) => {
  const asked: string[] = [];
  const left = [...answers];
  const next = async (question: string): Promise<string> => {
    const line = question.split('\n').at(-1) ?? '';
    asked.push(line);
    const [expected, answer] = left.shift() ?? ['nothing more', ''];
    expect(line).toContain(expected);
    return answer;
  };
  const questions: Questions = {
    ask: async (question, preset) => (await next(question)) || (preset ?? ''),
    askSecret: next,
    confirm: async (question) => (await next(question)) === 'y',
    close: () => undefined,
  };
  return { questions, asked, left };
};

const requestFor = (account: string): ConnectRequest => ({
  account,
  bridgeUrl: stack.bridge_url,
  platform: undefined,
  settings: {},
  botNumber: undefined,
  token: undefined,
  newToken: false,
  wait: 0,
  yes: false,
});

test('on a terminal, connect asks for what is missing, and again for what is invalid or fails its check', async () => {
  process.env.ALLOW_LOOPBACK = 'true';
  const account = await newAccount();
  const good = await newPlatform({ status: 400 });
  const bad = await newPlatform({ status: 401 });
  const { questions, left } = answering([
    ['Platform', 'whatsapp'],
    ['Platform', 'turn'],
    ['Phone number', 'no number'],
    ['Phone number', newPhone()],
    ['Channel UUID', 'not a/uuid'],
    ["Turn's authentication token", TURN_TOKEN],
    ['HMAC secret', ''],
    ['Channel UUID', 'a_b'],
    ["Turn's authentication token", ''],
    ['HMAC secret', HMAC],
    ['Check again', 'c'],
    ['Channel UUID', ''],
    ["Turn's authentication token", 'another-token'],
    ['Check again', 's'],
  ]);
  const shown: Shown[] = [];
  const request = { ...requestFor(account), settings: { url: bad.base } };
  const outcome = await connect(request, { questions, show: (what) => shown.push(what) });
  expect(left).toEqual([]);
  expect(outcome.checks).toMatchObject([
    { result: 'good' },
    { result: 'failed', detail: expect.stringContaining('refuses the token') },
  ]);
  expect(shown.filter((what) => 'error' in what)).toEqual([
    { error: expect.stringContaining('--platform-channel must be') },
  ]);
  expect(await findPlatform(account)).toEqual({
    name: 'turn',
    settings: { url: bad.base, channel: 'a_b', token: 'another-token' },
    hook: { hmac_secret: HMAC },
  });

  const [earlier] = await listTokens(account);
  const later = answering([
    ['Platform', ''],
    ['A token that ends in', 'n'],
    ['That token', ''],
    ['Send a message', 'n'],
  ]);
  const second = await connect(
    { ...requestFor(account), settings: { url: good.base } },
    { ...later, show: () => undefined },
  );
  expect(second).toMatchObject({ unchecked_token: `…${earlier?.last_four}`, checks: [{ result: 'good' }] });
  expect(later.left).toEqual([]);
});
