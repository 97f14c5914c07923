/** `npm start`: its output, its stack file, its end and its errors. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, afterEach, expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../infra/local/aws/database/database.ts';
import { BINARY } from '../../infra/local/aws/database/embedded.ts';
import { closeServer, freePort, listenOnLoopback } from '../../infra/local/aws/loopback.ts';
import type { StackFile } from '../../infra/operator/local-stack/stack-file.ts';
import { shareAssemblies } from '../support/shared-assemblies.ts';

const folder = mkdtempSync(join(tmpdir(), 'start-'));
await shareAssemblies(folder);

const started: ChildProcess[] = [];

afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const start = (settings: Record<string, string>, ...args: string[]) => {
  const child = spawn(process.execPath, ['infra/local/start.ts', ...args], {
    env: { ...process.env, DYNAMODB_ENDPOINT: '', LOCAL_FOLDER: folder, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.push(child);
  const output = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.err += text;
  });
  return { child, output, exit: once(child, 'exit') };
};

/**
 * The first of five consecutive free ports, outside of the range from which the system assigns ports to other tests.
 */
const freePorts = async (): Promise<number> => {
  for (;;) {
    const first = randomInt(10_000, 30_000);
    const servers = Array.from({ length: 5 }, () => createServer());
    const taken = await Promise.allSettled(servers.map((server, index) => listenOnLoopback(server, first + index)));
    await Promise.all(servers.map(closeServer));
    if (taken.every(({ status }) => status === 'fulfilled')) return first;
  }
};

/** The first of five consecutive ports, of which one is taken. */
const portsWithOneTaken = async (index: number): Promise<string> => {
  const first = await freePorts();
  const server = createServer().unref();
  await listenOnLoopback(server, first + index);
  return `${first}`;
};

/** The process of `npm start` takes this machine for one that no package fits. The synthesis needs its real packages. */
const OTHER_SYSTEM = `--import=data:text/javascript,${encodeURIComponent(
  "if (process.argv[1].endsWith('start.ts')) Object.defineProperty(process, 'platform', { value: 'sunos' })",
)}`;

/** Another port takes the place of 8000, where DynamoDB Local usually listens, for `npm start` and its children. */
const usualPort = (port: number): string =>
  `--import=data:text/javascript,${encodeURIComponent(
    `import { Socket } from 'node:net';
     const { connect } = Socket.prototype;
     Socket.prototype.connect = function (...args) {
       const [options] = args.flat();
       if (Number(options.port) === 8000) options.port = ${port};
       return connect.apply(this, args);
     };`,
  )}`;

/** The version of Node.js on machines that have an old one. */
const OLD_NODE = `--import=data:text/javascript,${encodeURIComponent(
  `if (process.argv[1].endsWith('start.ts')) {
     Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.19.0' } });
     Object.defineProperty(process, 'version', { value: 'v20.19.0' });
   }`,
)}`;

/** The disk has only 5 MB left. */
const FULL_DISK = `--import=data:text/javascript,${encodeURIComponent(
  `import fs from 'node:fs/promises';
   import { syncBuiltinESMExports } from 'node:module';
   fs.statfs = async () => ({ bavail: 5_000, bsize: 1_000 });
   syncBuiltinESMExports();`,
)}`;

const profilersOf = async ({ file: { base_url, token } }: { file: StackFile }) => {
  const response = await fetch(`${base_url}/v1/research_profilers`, { headers: { authorization: `Bearer ${token}` } });
  return (await response.json()) as object[];
};

/** `npm run -s stack -- …`, for the stacks of these tests. */
const stackCommand = (...args: string[]) =>
  spawnSync(process.execPath, ['infra/local/clock/command.ts', ...args], {
    encoding: 'utf8',
    env: { ...process.env, LOCAL_FOLDER: folder, PORT: '', FORCE_COLOR: undefined },
  });

const stackFile = join(folder, 'stack.json');

/** Starts a stack, and waits until it is ready. */
const begin = async (settings: Record<string, string> = {}, ...args: string[]) => {
  const begun = start({ PORT: '0', ...settings }, ...args);
  await expect.poll(() => begun.output.out).toMatch(/^ready$/m);
  const file: StackFile = JSON.parse(await readFile(stackFile, 'utf8'));
  return { ...begun, file };
};

const end = async ({ child, exit }: Pick<ReturnType<typeof start>, 'child' | 'exit'>): Promise<void> => {
  child.kill('SIGTERM');
  expect(await exit).toEqual([0, null]);
};

test('npm start prints "ready", writes the stack file, and leaves nothing behind on SIGTERM', {
  tags: 'long',
}, async () => {
  const port = await freePorts();
  const { child, output, exit, file } = await begin({ PORT: `${port}` });
  expect(file).toEqual({
    base_url: `http://127.0.0.1:${port}`,
    bridge_url: `http://127.0.0.1:${port + 1}`,
    docs_url: `http://127.0.0.1:${port}/docs`,
    phone_url: `http://127.0.0.1:${port + 2}`,
    app_url: `http://127.0.0.1:${port + 2}/app`,
    rapidpro_url: `http://127.0.0.1:${port + 3}`,
    turn_url: `http://127.0.0.1:${port + 4}`,
    dynamodb_endpoint: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    s3_endpoint: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    aws_endpoint: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    queues: expect.any(Object),
    table: 'business-api-local',
    token: expect.stringMatching(/^bapi_/),
    app_token: expect.stringMatching(/^bapi_/),
    turn_token: expect.stringMatching(/^bapi_/),
    bot_phone_number: expect.stringMatching(/^\d+$/),
    turn_bot_phone_number: expect.stringMatching(/^\d+$/),
    panelist: expect.stringMatching(/^\d+$/),
    pid: child.pid,
  });
  expect(output.out).toContain(file.token);
  expect(output.out).not.toContain(file.app_token);
  expect(output.out).not.toContain(file.turn_token);
  expect(output.out).toMatch(
    new RegExp(
      `^export .* PHONE_URL=${file.phone_url} RAPIDPRO_URL=${file.rapidpro_url} TURN_URL=${file.turn_url} .* TURN_BOT=${file.turn_bot_phone_number} BOT=${file.bot_phone_number}$`,
      'm',
    ),
  );
  const list = await fetch(`${file.base_url}/v1/research_profilers`, {
    headers: { authorization: `Bearer ${file.token}` },
  });
  expect({ status: list.status, body: await list.json() }).toEqual({ status: 200, body: [] });
  expect(await (await fetch(file.docs_url)).text()).toContain('<nav class="tabs" aria-label="Documentation">');
  expect(await (await fetch(`${file.docs_url}/reference-send-message.html`)).text()).toContain(file.token);

  // The terminal shows counts, and the file has the lines.
  await expect.poll(() => output.out).toMatch(/^\d\d:\d\d:\d\d {2}requests: (.+, )?\d+ × 200$/m);
  const log = join(folder, `stack-${port}.log`);
  expect(output.out).toContain(`The log is in ${log}.`);
  expect((await stat(log)).mode & 0o777).toBe(0o600);
  const line = /^\{"host":"base",.*"route":"GET \/v1\/research_profilers","status":"200",/m;
  expect(await readFile(log, 'utf8')).toMatch(line);
  expect(output.out).not.toMatch(line);

  const env = stackCommand('env');
  expect(env).toMatchObject({ status: 0, stderr: '' });
  expect(env.stdout).toMatch(/^export .+\nexport TOKEN=.+\n$/);
  expect(output.out).toContain(`\n${env.stdout}\n`);

  await end({ child, exit });
  expect(existsSync(stackFile)).toBe(false);
  const { base_url, bridge_url, phone_url, rapidpro_url, turn_url, dynamodb_endpoint, s3_endpoint } = file;
  for (const url of [base_url, bridge_url, phone_url, rapidpro_url, turn_url, dynamodb_endpoint, s3_endpoint])
    await expect(fetch(url)).rejects.toThrow();
  expect(output.err).toBe('');
});

test('npm start delivers messages to simulated phones, logs messages from their users, and has a clock', {
  tags: 'long',
}, async () => {
  const begun = await begin();
  const { base_url, phone_url, token, panelist, bot_phone_number } = begun.file;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };

  const body = JSON.stringify({ to: panelist, type: 'text', text: { body: 'Hello' } });
  expect((await fetch(`${base_url}/v1/message`, { method: 'POST', headers, body })).status).toBe(200);
  await expect
    .poll(async () => (await fetch(`${phone_url}/phones/${panelist}/messages`)).json())
    .toMatchObject([{ data: { from: bot_phone_number, text: { body: 'Hello' } } }]);

  const written = await fetch(`${phone_url}/phones/${panelist}/messages`, {
    method: 'POST',
    body: JSON.stringify({ to: bot_phone_number, text: 'Hi' }),
  });
  expect(written.status).toBe(200);
  const logs = await fetch(`${base_url}/v1/stats/logs?state=received`, { headers });
  expect(await logs.json()).toMatchObject([{ state: 'received' }]);
  // For `operator tail`.
  const lines = (await (await fetch(`${phone_url}/log?follow=false`)).text()).split('\n').slice(0, -1);
  expect(lines.map((line) => JSON.parse(line))).toContainEqual({
    id: expect.any(String),
    time: expect.any(Number),
    source: expect.stringMatching(/^SendMessageFunction/),
    text: expect.stringContaining('"message":"accepted"'),
  });

  // Functions have the time of the clock.
  const moved = await fetch(`${phone_url}/clock`, { method: 'POST', body: '{"advance":"2d"}' });
  expect({ status: moved.status, body: await moved.json() }).toMatchObject({ status: 200, body: { moving: false } });
  const sent = await fetch(`${base_url}/v1/message`, { method: 'POST', headers, body });
  const { id } = (await sent.json()) as { id: string };
  const message = await fetch(`${base_url}/v1/message/${id}`, { headers });
  const { states } = (await message.json()) as { states: { created: string }[] };
  const ahead = Date.now() + 47 * 3_600_000;
  expect(Date.parse(`${states[0]?.created.slice(0, 23)}Z`)).toBeGreaterThan(ahead);
  // So `operator tail`, which follows the clock too, shows new lines.
  const [newest = '{}'] = (await (await fetch(`${phone_url}/log?follow=false`)).text()).split('\n').slice(-2);
  expect(JSON.parse(newest)).toEqual(expect.objectContaining({ time: expect.toSatisfy((time) => time > ahead) }));
  await end(begun);
});

test('npm start with MORE_PROPERTIES grants the property, and the page shows it', { tags: 'long' }, async () => {
  const begun = await begin({ MORE_PROPERTIES: '{"loyalty_tier":"automatic"}' });
  const { base_url, bridge_url, phone_url, token, app_token, panelist } = begun.file;
  const post = (url: string, bearer: string, body: object): Promise<Response> =>
    fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const data = { phone_number: panelist, properties: { loyalty_tier: { value: 'gold', source: 'user' } } };
  const reported = await post(`${bridge_url}/v1/app/events`, app_token, { id: 'tier', type: 'user.updated', data });
  expect(reported.status).toBe(204);
  const granted = await post(`${base_url}/v1/user_data/fetch/${panelist}`, token, {
    data: [{ property: 'loyalty_tier' }],
  });
  expect(await granted.json()).toMatchObject({ results: { loyalty_tier: { status: 'approved', value: 'gold' } } });
  const setup = await fetch(`${phone_url}/view/setup`);
  expect(await setup.json()).toMatchObject({
    properties: expect.arrayContaining([expect.objectContaining({ name: 'loyalty_tier', automatic: true })]),
  });
  await end(begun);
});

test('npm start ends when npm ends, even if the shell between them passes on no signal', { tags: 'long' }, async () => {
  const shell = spawn('sh', ['-c', `'${process.execPath}' infra/local/start.ts; true`], {
    env: { ...process.env, DYNAMODB_ENDPOINT: '', LOCAL_FOLDER: folder, PORT: '0', npm_lifecycle_event: 'start' },
    stdio: 'ignore',
  });
  started.push(shell);
  await expect.poll(() => existsSync(stackFile)).toBe(true);
  const { base_url, dynamodb_endpoint }: StackFile = JSON.parse(await readFile(stackFile, 'utf8'));
  shell.kill('SIGTERM');
  await expect.poll(() => existsSync(stackFile)).toBe(false);
  for (const url of [base_url, dynamodb_endpoint]) {
    await expect
      .poll(() =>
        fetch(url).then(
          () => 'up',
          () => 'down',
        ),
      )
      .toBe('down');
  }
});

test('a second npm start on the same port names the first one, and leaves it intact', { tags: 'long' }, async () => {
  const PORT = `${await freePorts()}`;
  const first = await begin({ PORT });
  const written = await readFile(stackFile, 'utf8');
  const { base_url, phone_url, token } = first.file;

  const second = start({ PORT });
  expect(await second.exit).toEqual([1, null]);
  expect(second.output).toEqual({
    out: '',
    err: expect.stringMatching(
      new RegExp(
        `^A local stack is already running on port ${PORT}: process ${first.child.pid}, ${base_url}, with its phone at ${phone_url}\\. .+"kill ${first.child.pid}"\\. Another stack can run beside it: PORT=\\d+ npm start\\.\n$`,
      ),
    ),
  });
  expect(await readFile(stackFile, 'utf8')).toBe(written);
  // This function runs for the first time, so that its bundle is read now.
  const jobs = await fetch(`${base_url}/v1/stats/jobs?start_date=2026-01-01&end_date=2026-01-02`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(jobs.status).toBe(204);
  await end(first);
  // Other processes have folders there, too.
  const own = [first, second].map(({ child }) => `process-${child.pid}-`);
  const left = await readdir(join(folder, 'assemblies'));
  expect(left.filter((name) => own.some((prefix) => name.startsWith(prefix)))).toEqual([]);
});

test('demo tokens stay the same from start to start, in a file that only its owner can read; --keep keeps the data', {
  tags: 'long',
  timeout: 400_000,
}, async () => {
  const tokensFile = join(folder, 'demo-tokens.json');
  const kept = await begin({}, '--keep');
  expect((await stat(tokensFile)).mode & 0o777).toBe(0o600);
  const { base_url, token } = kept.file;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ question: 'Kept?', options: ['Yes', 'No'] });
  expect((await fetch(`${base_url}/v1/research_profilers`, { method: 'POST', headers, body })).status).toBe(200);
  const image = new FormData();
  image.append('file', new Blob([await readFile('infra/local/phone/picture.png')]), 'picture.png');
  const uploaded = await fetch(`${base_url}/v1/upload_image`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: image,
  });
  const { url } = (await uploaded.json()) as { url: string };
  const other = start({ PORT: '0' }, '--keep');
  expect(await other.exit).toEqual([1, null]);
  expect(other.output.err).toMatch(new RegExp(`in use by the local stack of the process ${kept.child.pid}`));
  await end(kept);

  const fresh = await begin();
  expect(fresh.file).toMatchObject({ token, app_token: kept.file.app_token, turn_token: kept.file.turn_token });
  expect(await profilersOf(fresh)).toEqual([]);
  await end(fresh);

  const again = await begin({}, '--keep');
  expect(again.file.token).toBe(token);
  expect(await profilersOf(again)).toMatchObject([{ question: 'Kept?' }]);
  const media = await fetch(`${again.file.bridge_url}${new URL(url).pathname}`);
  expect({ status: media.status, type: media.headers.get('content-type') }).toEqual({ status: 200, type: 'image/png' });
  await end(again);
});

test('npm start uses a database on the PATH if no package has one for this system', { tags: 'long' }, async () => {
  const programs = join(folder, 'programs');
  await mkdir(programs);
  await symlink(BINARY, join(programs, 'dynoxide'));
  await end(await begin({ NODE_OPTIONS: OTHER_SYSTEM, PATH: [programs, process.env.PATH].join(delimiter) }));
});

test('npm start uses a DynamoDB Local that runs, if no package and no program fit', { tags: 'long' }, async () => {
  const database = await openDatabase(undefined);
  onTestFinished(() => database.close());
  const port = Number(new URL(database.endpoint).port);
  const NODE_OPTIONS = `${OTHER_SYSTEM} ${usualPort(port)}`;
  const begun = await begin({ NODE_OPTIONS, PATH: dirname(process.execPath) });
  expect(begun.file.dynamodb_endpoint).toBe('http://localhost:8000');
  expect(await profilersOf(begun)).toEqual([]);
  await end(begun);
});

test('npm start with an old Node.js says how to get the one that it needs', { tags: 'long' }, () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
  const [program, ...args] = String(scripts.start).split(' ');
  expect(program).toBe('node');
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    env: { ...process.env, LOCAL_FOLDER: folder, NODE_OPTIONS: OLD_NODE },
  });
  expect({ status, stdout, stderr }).toEqual({
    status: 1,
    stdout: '',
    stderr: expect.stringMatching(
      /^This needs Node\.js 24 or newer, not v20\.19\.0: (run "npm ci"|install it) .+\.\n$/,
    ),
  });
});

test('npm start -- --help prints the options, and starts nothing', { tags: 'long' }, async () => {
  const { output, exit } = start({}, '--help');
  expect(await exit).toEqual([0, null]);
  expect(output).toEqual({ out: expect.stringMatching(/^Usage: npm start -- [\s\S]+--keep [\s\S]+PORT /), err: '' });
});

test('npm run stack -- clock says in plain words which values it takes', { tags: 'long' }, () => {
  expect(stackCommand('clock', 'advance', 'x')).toMatchObject({
    status: 1,
    stdout: '',
    stderr: "error: 'x' is no valid duration. It must be a duration, such as 3d, 90m or 1d12h.\n",
  });
});

test('npm run stack -- env without a stack, or with several, says what to do', { tags: 'long' }, async () => {
  expect(stackCommand('env')).toMatchObject({
    status: 1,
    stdout: '',
    stderr: 'No local stack is running. Start it with "npm start".\n',
  });
  for (const port of [1, 2]) {
    const path = join(folder, `stack-${port}.json`);
    await writeFile(path, JSON.stringify({ base_url: `http://127.0.0.1:${port}`, pid: process.pid }));
    onTestFinished(() => rm(path));
  }
  expect(stackCommand('env')).toMatchObject({
    status: 1,
    stdout: '',
    stderr: 'Several local stacks are running, on the ports 1, 2. Choose one with PORT=1.\n',
  });
});

/** Only Linux names the process. */
const TAKER =
  process.platform === 'linux'
    ? `the process ${process.pid} \\(.+ in ${process.cwd()}\\)`
    : 'another program: ".+" shows which';

const wrong: [string, () => Promise<Record<string, string>>, RegExp, ...args: string[]][] = [
  [
    'a port that is taken',
    async () => ({ PORT: await portsWithOneTaken(0) }),
    new RegExp(`^Port \\d+ is taken by ${TAKER}\\. Another stack can run beside it: PORT=\\d+ npm start\\.\n$`),
  ],
  [
    'a taken port of Turn, the last one',
    async () => ({ PORT: await portsWithOneTaken(4) }),
    /^Port \d+ is taken by the process \d+ .+ PORT=\d+ npm start\.\n$/,
  ],
  [
    'a system without an embedded database',
    async () => ({
      PORT: '0',
      NODE_OPTIONS: `${OTHER_SYSTEM} ${usualPort(await freePort())}`,
    }),
    /^The embedded database is not installed for sunos-\w+\. One of these helps:\n- .+"dynoxide".+\n- .+DynamoDB Local.+\n$/,
  ],
  [
    'an unknown option',
    async () => ({}),
    /^error: unknown option '--kept'\n\(Did you mean --keep\?\)\n\n?"npm start -- --help" lists the options\.\n$/,
    '--kept',
  ],
  [
    'an argument without a meaning',
    async () => ({}),
    /^error: too many arguments.+\n\n?"npm start -- --help" lists the options\.\n$/,
    'production',
  ],
  [
    'a folder that cannot be written',
    // Nobody can, not even root.
    async () => ({ PORT: '0', LOCAL_FOLDER: '/sys/business-api' }),
    /^The local stack cannot write its files into \/sys\/business-api \(\w+\)\. Make the folder writable, or set LOCAL_FOLDER to another one\.\n$/,
  ],
  [
    'a full disk',
    async () => ({ PORT: '0', NODE_OPTIONS: FULL_DISK }),
    /^The local stack needs 100 MB for its files in \S+, where 5 MB are free\. Free some, or set LOCAL_FOLDER to a folder on another disk\.\n$/,
  ],
  [
    'a port too high for the four that follow',
    async () => ({ PORT: '65532' }),
    /^PORT must be a number from 0 to 65531, not "65532"\.\n$/,
  ],
  [
    'a port that is not a number',
    async () => ({ PORT: 'http' }),
    /^PORT must be a number from 0 to 65531, not "http"\.\n$/,
  ],
  [
    'a database that cannot be reached',
    async () => ({ PORT: '0', DYNAMODB_ENDPOINT: `http://127.0.0.1:${await freePort()}` }),
    /^No database responds at http:\/\/127\.0\.0\.1:\d+: start DynamoDB Local .* and set DYNAMODB_ENDPOINT=\S+\n$/,
  ],
];

const endsWithError = async (...[, settings, message, ...args]: (typeof wrong)[number]) => {
  const { output, exit } = start(await settings(), ...args);
  expect(await exit).toEqual([1, null]);
  expect(output).toEqual({ out: '', err: expect.stringMatching(message) });
};

const reports = '%s causes an error with an instruction';
test.each(wrong.slice(0, 1))(reports, endsWithError);
test.each(wrong.slice(1))(reports, { tags: 'long' }, endsWithError);
