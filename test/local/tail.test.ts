/**
 * `operator tail`: the log lines of the local stack and of CloudWatch, with filters, and with faults.
 *
 * @module-tag long
 */
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { closeServer, listenOnLoopback } from '../../infra/local/aws/loopback.ts';
import { LogFeed } from '../../infra/local/log-feed.ts';
import { AppNetwork } from '../../infra/local/simulators/app-network/app-network.ts';
import { listenerOf } from '../../infra/local/simulators/server.ts';
import { cloudWatchEntries, type Pace } from '../../infra/operator/tail/cloudwatch.ts';
import type { Entry } from '../../infra/operator/tail/entry.ts';
import { localEntries } from '../../infra/operator/tail/local.ts';
import { replaceEnvironment } from '../support/first-environment.ts';
import { runHere, spawnOperator } from '../support/operator-command.ts';
import { type CloudWatch, openCloudWatch } from './support/cloudwatch.ts';

const MESSAGE = '0199a3f2-7c4e-7d10-8000-000000000001';
const TRACE = '0199a3f2-7c4e-7d10-8000-000000000002';

/** A line of each kind, with the logical id of its source. */
const accepted = { level: 'info', message: 'accepted', account: 'acme', message_id: MESSAGE, accepted: 1 };
const rejected = {
  ...{ level: 'info', message: 'request', route: 'POST /v1/message', account: 'acme', status: 422 },
  ...{ code: 'invalid_request', outcome: 'rejected', requests: 1, request_ms: 12, trace_id: TRACE },
};
const failed = { level: 'info', message: 'request', route: 'POST /v1/message', account: 'other', status: 503 };
const accessLog = { trace_id: TRACE, time: '1801396800000', route: '-', status: '404', account: '-', ms: '3' };
const error = { level: 'error', message: 'internal error', error: 'TypeError', at: 'at deliver (a.ts:1)', cause: 'x' };
const report = (status: string) => ({ time: 'x', type: 'platform.report', record: { requestId: TRACE, status } });
const crash = 'Error: Runtime exited\u001b[31m without a reason';

const lines: [source: string, line: object | string][] = [
  ['SendMessageFunctionB1BE0BFA', accepted],
  ['SendMessageFunctionB1BE0BFA', rejected],
  ['SendMessageFunctionB1BE0BFA', failed],
  ['BaseApi18F81D61', accessLog],
  ['DeliverFunction3CEE947F', error],
  ['DeliverFunction3CEE947F', report('success')],
  ['DeliverFunction3CEE947F', report('timeout')],
  ['SweepFunctionA7728703', crash],
];

let environment: NodeJS.ProcessEnv;
let folder: string;

beforeEach(async () => {
  environment = { ...process.env };
  // Other tests of this process may have named a deployment. Colours may be set where the tests are run.
  for (const name of ['TABLE_NAME', 'STACK_NAME', 'FORCE_COLOR', 'NO_COLOR']) delete process.env[name];
  folder = await mkdtemp(join(tmpdir(), 'tail-'));
  process.env.LOCAL_FOLDER = folder;
  process.env.TZ = 'UTC';
});

afterEach(async () => {
  replaceEnvironment(environment);
  await rm(folder, { recursive: true });
});

/** A stack file and a feed, as of a running local stack. */
const startFeed = async (): Promise<{
  feed: LogFeed;
  add: (source: string, line: object | string) => void;
  end: () => Promise<void>;
}> => {
  const network = await AppNetwork.start({ port: 0 });
  const feed = new LogFeed();
  network.serve(feed.routes);
  const url = network.phoneUrl;
  const stack = {
    base_url: url,
    bridge_url: url,
    phone_url: url,
    dynamodb_endpoint: url,
    s3_endpoint: url,
    table: 'table',
  };
  await writeFile(join(folder, 'stack.json'), JSON.stringify({ ...stack, pid: process.pid }));
  onTestFinished(() => network.close());
  return {
    feed,
    add: (source, line) => feed.add(source, typeof line === 'string' ? line : JSON.stringify(line)),
    end: async () => {
      await rm(join(folder, 'stack.json'));
      await network.close();
    },
  };
};

/** The lines so far with these filters, without times. */
const tail = async (...args: string[]) => {
  const { code, stdout, stderr } = await runHere(['tail', '--no-follow', ...args]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/^target: .+\n(Reading .+\n)?$/) });
  return stdout.split('\n').slice(0, -1);
};

/** What the command prints of each line, without the time. */
const shown = {
  accepted: `info   sendMessage     accepted  acme  message_id=${MESSAGE}`,
  rejected: `info   sendMessage     POST /v1/message  422  12 ms  acme  invalid_request  trace_id=${TRACE}`,
  failed: 'info   sendMessage     POST /v1/message  503  other',
  accessLog: `       base            (no route)  404  3 ms  trace_id=${TRACE}`,
  error: 'error  deliver         internal error  error=TypeError  cause=x  at=at deliver (a.ts:1)',
  report: `error  deliver         call ended with timeout  requestId=${TRACE}`,
  crash: '       sweep           Error: Runtime exited [31m without a reason',
};

const filters: [args: string[], expected: (keyof typeof shown)[]][] = [
  [[], ['accepted', 'rejected', 'failed', 'accessLog', 'error', 'report', 'crash']],
  [
    ['--account', 'acme'],
    ['accepted', 'rejected'],
  ],
  [['--message', MESSAGE.toUpperCase()], ['accepted']],
  [
    ['--trace', TRACE],
    ['rejected', 'accessLog'],
  ],
  [['--status', '422'], ['rejected']],
  [
    ['--status', '4XX'],
    ['rejected', 'accessLog'],
  ],
  [['--status', '5xx'], ['failed']],
  [['--status', '2xx'], []],
  [
    ['--function', 'deliver'],
    ['error', 'report'],
  ],
  [['--function', 'base', '--status', '4xx'], ['accessLog']],
  [['--account', 'acme', '--status', '5xx'], []],
  [['--account', 'acme', '--message', MESSAGE, '--function', 'sendMessage'], ['accepted']],
];

const TIME = /^\d\d:\d\d:\d\d\.\d{3} {2}/;

test.each(filters)('with %j, only matching lines of the local stack are shown, in columns', async (args, expected) => {
  const { add } = await startFeed();
  for (const line of lines) add(...line);
  const printed = await tail(...args);
  expect(printed.every((line) => TIME.test(line))).toBe(true);
  expect(printed.map((line) => line.replace(TIME, ''))).toEqual(expected.map((name) => shown[name]));
});

test('with --json, each line is the original one, and a line that is not JSON is an object with its text', async () => {
  const { add } = await startFeed();
  const odd = ' { "level":"info",  "message":"é" } ';
  for (const line of ['text', '12', '[1]', odd, '{"a":\n1}', rejected, report('error')])
    add('SweepFunctionA7728703', line);
  expect(await tail('--json')).toEqual([
    '{"text":"text"}',
    '{"text":"12"}',
    '{"text":"[1]"}',
    odd.trim(),
    '{"a":1}',
    JSON.stringify(rejected),
    JSON.stringify(report('error')),
  ]);
});

test('colours are only for terminals, and a status has one by its class', async () => {
  const { add } = await startFeed();
  add('SendMessageFunctionB1BE0BFA', rejected);
  add('SendMessageFunctionB1BE0BFA', failed);
  expect((await tail()).join('')).not.toContain('\u001b');
  process.env.FORCE_COLOR = '1';
  const [first, second] = await tail();
  expect(first).toContain('\u001b[33m422\u001b[39m');
  expect(second).toContain('\u001b[31m503\u001b[39m');
});

test.each([
  [['--status', '600'], "argument '600' is invalid. It must be a status such as 422, or a class such as 5xx."],
  [['--status', 'failed'], "argument 'failed' is invalid"],
  [['--account', 'Acme Research'], "It must be an account's id, such as acme-research."],
  [['--message', '12'], 'It must be a UUID.'],
  [['--trace', 'x'], 'It must be the trace_id of a problem, such as JKJaXmPLvHcESHA=.'],
  [['--since', 'yesterday'], 'It must be like 30s, 10m, 2h, 1d, 2027-01-31 or 2027-01-31T12:00:00Z.'],
  [['--since', '2027-02-30'], 'It must be like 30s'],
  [['--function', 'sendmessage'], 'Allowed choices are'],
  [['surplus'], 'too many arguments'],
])('%j is rejected before anything is called', async (args, words) => {
  const { code, stdout, stderr } = await runHere(['tail', ...args]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(words);
  expect(stderr).not.toContain('target:');
});

test('--since leaves out older lines', async () => {
  const { add } = await startFeed();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 90_000 });
  onTestFinished(() => void vi.useRealTimers());
  add('SweepFunctionA7728703', 'older');
  vi.setSystemTime(Date.now() + 60_000);
  add('SweepFunctionA7728703', 'newer');
  vi.useRealTimers();
  expect(await tail('--since', '1m')).toEqual([expect.stringMatching(/newer$/)]);
  expect(await tail('--since', new Date(Date.now() - 120_000).toISOString())).toHaveLength(2);
});

test('the command shows new lines, goes on with the next start of the stack, and ends with 0 on Ctrl-C', async () => {
  const first = await startFeed();
  first.add('SweepFunctionA7728703', 'before');
  const { child, written } = spawnOperator(['tail', '--json']);
  await expect.poll(() => written.stderr).toMatch(/^target: .+\n/);
  await expect
    .poll(() => {
      first.add('SweepFunctionA7728703', 'first');
      return written.stdout;
    })
    .toContain('{"text":"first"}\n');
  await first.end();
  await expect.poll(() => written.stderr).toContain('The local stack has ended.');

  const second = await startFeed();
  for (let number = 0; number < 1_200; number += 1) second.add('SweepFunctionA7728703', `second ${number}`);
  await expect.poll(() => written.stdout).toContain('"second 1199"');
  expect(written.stderr).toContain('The local stack runs again: ');
  const texts = written.stdout.split('\n').filter((line) => line.includes('second'));
  expect(texts).toEqual(Array.from({ length: 1_200 }, (_, number) => `{"text":"second ${number}"}`));
  expect(written.stdout).not.toContain('before');
  child.kill('SIGINT');
  expect(await once(child, 'close')).toEqual([0, null]);
});

test('after a lost connection to a stack that still runs, no line is shown twice or missing', async () => {
  const feed = new LogFeed();
  const { routes } = feed;
  const server = createServer(listenerOf((request, env) => routes.fetch(request, env)));
  const url = await listenOnLoopback(server, 0);
  onTestFinished(() => closeServer(server));
  await writeFile(join(folder, 'stack.json'), JSON.stringify({ base_url: url, phone_url: url, pid: process.pid }));
  const ctrlC = new AbortController();
  const notes = vi.spyOn(process.stderr, 'write').mockImplementation(() => true);
  onTestFinished(() => notes.mockRestore());
  const texts: string[] = [];
  const following = (async () => {
    const entries = localEntries({ since: 0, follow: true, signal: ctrlC.signal });
    for await (const [entry] of entries) texts.push(entry?.text ?? '');
  })();
  for (const text of ['one', 'two', 'three']) {
    feed.add('SweepFunctionA7728703', text);
    await expect.poll(() => texts.at(-1)).toBe(text);
    server.closeAllConnections();
  }
  feed.add('SweepFunctionA7728703', 'four');
  await expect.poll(() => texts).toEqual(['one', 'two', 'three', 'four']);
  ctrlC.abort();
  await following;
});

test('after the clock of the stack has returned to real time, new lines are shown, and older ones are not', async () => {
  const { feed } = await startFeed();
  const ahead = Date.now() + 3 * 86_400_000;
  feed.add('SweepFunctionA7728703', 'before');
  const ctrlC = new AbortController();
  const texts: string[] = [];
  const following = (async () => {
    const entries = localEntries({ since: ahead, follow: true, signal: ctrlC.signal });
    for await (const [entry] of entries) texts.push(entry?.text ?? '');
  })();
  await expect
    .poll(() => {
      feed.add('SweepFunctionA7728703', 'after');
      return texts;
    })
    .toContain('after');
  expect(texts).not.toContain('before');
  ctrlC.abort();
  await following;
});

test('a reader that closes the pipe ends the command quietly', async () => {
  const { add } = await startFeed();
  const { child, written } = spawnOperator(['tail', '--since', '1m']);
  child.stdout.once('data', () => child.stdout.destroy());
  const writing = setInterval(() => add('SweepFunctionA7728703', 'a line'), 20);
  onTestFinished(() => clearInterval(writing));
  expect(await once(child, 'exit')).toEqual([0, null]);
  expect(written.stderr).toMatch(/^target: .+\n$/);
});

test('a local stack without the feed is named, and without a stack nothing is shown', async () => {
  const network = await AppNetwork.start({ port: 0 });
  onTestFinished(() => network.close());
  const stack = {
    base_url: network.phoneUrl,
    phone_url: network.phoneUrl,
    pid: process.pid,
    dynamodb_endpoint: 'http://127.0.0.1:1',
  };
  await writeFile(join(folder, 'stack.json'), JSON.stringify(stack));
  expect(await runHere(['tail'])).toMatchObject({ code: 1, stderr: expect.stringContaining('start it again.') });
  await rm(join(folder, 'stack.json'));
  expect(await runHere(['tail'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('No local stack is running'),
  });
});

describe('CloudWatch', () => {
  const GROUP = '/business-api/trial/functions';
  const OTHER = '/business-api/trial/other';

  /** Fast, with overlaps that a test can wait for. */
  const FAST: Pace = {
    attempts: 1,
    call: 1,
    poll: { min: 5, max: 20 },
    retry: { min: 5, max: 20 },
    overlap: { quick: 50, deep: 60_000, deepEvery: 100 },
  };

  let cloudWatch: CloudWatch;

  beforeEach(async () => {
    cloudWatch = await openCloudWatch();
    Object.assign(process.env, cloudWatch.environment);
    cloudWatch.addGroup(GROUP);
    cloudWatch.addGroup(OTHER);
    // As in other tests of this process, commands would otherwise use a profile of this machine.
    Object.assign(process.env, { AWS_CONFIG_FILE: '/dev/null', AWS_SHARED_CREDENTIALS_FILE: '/dev/null' });
  });

  afterEach(() => cloudWatch.close());

  const STACK = ['--stack', 'business-api-trial'];

  /** Follows two log groups until the test ends. Returns the lines so far. */
  const follow = (pace = FAST) => {
    const ctrlC = new AbortController();
    const texts: string[] = [];
    const notes = vi.spyOn(process.stderr, 'write').mockImplementation(() => true);
    const options = {
      groups: [GROUP, OTHER, 'not-there'],
      since: Date.now() - 60_000,
      follow: true,
      pattern: undefined,
      pace,
      signal: ctrlC.signal,
    };
    const ended = (async () => {
      for await (const entries of cloudWatchEntries(options)) texts.push(...entries.map(({ text }: Entry) => text));
    })();
    onTestFinished(async () => {
      ctrlC.abort();
      await ended.catch(() => undefined);
      notes.mockRestore();
    });
    return { texts, notes, ended, stop: () => ctrlC.abort() };
  };

  test('lines of all log groups of a stack are shown, sorted by time, over all pages; removed groups have none', async () => {
    const start = Date.now() - 1_000;
    for (const number of [0, 2, 4, 6, 8]) cloudWatch.write(GROUP, `line ${number}`, start + number);
    for (const number of [1, 3, 5, 7]) cloudWatch.write(OTHER, `line ${number}\n`, start + number);
    const printed = await tail(...STACK);
    expect(printed.map((line) => line.replace(TIME, '').trim())).toEqual(
      Array.from({ length: 9 }, (_, number) => `${number % 2 ? 'listLogs   ' : 'sendMessage'}     line ${number}`),
    );
  });

  test('filters by account and message are applied by CloudWatch, too, and a function selects its lines', async () => {
    for (const line of [accepted, rejected, failed]) cloudWatch.write(GROUP, line);
    const args = ['--account', 'acme', '--message', MESSAGE, '--function', 'sendMessage'];
    expect(await tail(...STACK, ...args, '--json')).toEqual([JSON.stringify(accepted)]);
    expect(await tail(...STACK, '--function', 'sendMessage', '--status', '5xx', '--json')).toEqual([
      JSON.stringify(failed),
    ]);
    const patterns = cloudWatch.queries.filter(({ logGroupName }) => logGroupName === GROUP);
    expect(patterns.map(({ filterPattern }) => filterPattern)).toEqual([
      `{ ($.account = "acme") && ($.message_id = "${MESSAGE}") }`,
      undefined,
      undefined,
    ]);
    expect(await tail(...STACK, '--function', 'sweep')).toEqual([]);
    expect(await tail(...STACK, '--trace', TRACE, '--json')).toEqual([JSON.stringify(rejected)]);
    expect(cloudWatch.queries.at(-1)?.filterPattern).toBe(`{ ($.trace_id = "${TRACE}") }`);
  });

  test('no line is lost or shown twice if lines arrive late, pages repeat events, are empty, or fail', async () => {
    const faults = ['ThrottlingException', 'ServiceUnavailableException', 'LimitExceededException'];
    let number = 0;
    cloudWatch.hooks.onQuery = () => {
      if (number < 60) cloudWatch.write(number % 3 ? GROUP : OTHER, `line ${number}`);
      // Written half a minute ago, which only the polls that go back far can find.
      if (number < 60 && number % 5 === 0) cloudWatch.write(GROUP, `late ${number}`, Date.now() - 30_000);
      if (number % 7 === 0) cloudWatch.errors.push(faults[number % 3] ?? '');
      number += 1;
    };
    cloudWatch.hooks.onPage = ({ events, nextToken }, query) =>
      // An empty page with a token, and a page that repeats the last event of the one before it.
      number % 4 === 0
        ? { events: [], nextToken: query.nextToken ?? '0' }
        : { events: [...events, ...events], nextToken };
    const expected = Array.from({ length: 60 }, (_, index) => [
      `line ${index}`,
      ...(index % 5 === 0 ? [`late ${index}`] : []),
    ]).flat();
    const { texts } = follow();
    await expect.poll(() => texts.toSorted()).toEqual(expected.toSorted());
    const asked = cloudWatch.queries.length;
    await expect.poll(() => cloudWatch.queries.length).toBeGreaterThan(asked + 30);
    expect(texts.toSorted()).toEqual(expected.toSorted());
  });

  test('lines without an event id are shown once each, also equal ones', async () => {
    const time = Date.now() - 5;
    for (const line of ['one', 'same', 'same', 'two']) cloudWatch.write(GROUP, line, time);
    cloudWatch.hooks.onPage = ({ events, nextToken }) => ({
      events: events.map(({ logStreamName, timestamp, message }) => ({ logStreamName, timestamp, message })),
      nextToken,
    });
    const { texts } = follow();
    await expect.poll(() => texts.toSorted()).toEqual(['one', 'same', 'same', 'two']);
    const asked = cloudWatch.queries.length;
    await expect.poll(() => cloudWatch.queries.length).toBeGreaterThan(asked + 10);
    expect(texts).toHaveLength(4);
  });

  test('each poll finds lines that are a little late', async () => {
    const overlap = { quick: 30_000, deep: 60_000, deepEvery: Number.POSITIVE_INFINITY };
    const { texts } = follow({ ...FAST, overlap });
    await expect.poll(() => cloudWatch.queries.length).toBeGreaterThan(3);
    cloudWatch.write(GROUP, 'late', Date.now() - 10_000);
    await expect.poll(() => texts).toEqual(['late']);
  });

  test('while CloudWatch throttles, the command says so once, waits longer each time, and then goes on', async () => {
    cloudWatch.errors.push(...Array.from({ length: 12 }, () => 'ThrottlingException'));
    cloudWatch.write(GROUP, 'after all');
    const { texts, notes } = follow();
    await expect.poll(() => texts).toEqual(['after all']);
    expect(notes.mock.calls.map(([words]) => words)).toEqual([
      'CloudWatch does not answer (ThrottlingException). The command repeats the call until it does.\n',
      'CloudWatch answers again.\n',
    ]);
  });

  test('without following, throttling that does not end fails the command as temporary', async () => {
    cloudWatch.hooks.onQuery = () => void cloudWatch.errors.push('ThrottlingException');
    const { signal } = new AbortController();
    const options = { groups: [GROUP], since: 0, follow: false, pattern: undefined, pace: FAST, signal };
    const reading = cloudWatchEntries(options).next();
    await expect(reading).rejects.toMatchObject({ name: 'ThrottlingException' });
  });

  test.each([
    ['ExpiredTokenException', 'The AWS credentials have expired. Sign in to AWS again'],
    ['UnrecognizedClientException', 'AWS rejects the credentials.'],
    ['AccessDeniedException', `may not read the log group ${GROUP} (logs:FilterLogEvents).`],
  ])('%s ends the command with its remedy, without the text of AWS', async (type, words) => {
    cloudWatch.errors.push(type, type);
    const { code, stdout, stderr } = await runHere(['tail', ...STACK]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(words);
    expect(stderr).not.toContain('Secret');
  });

  test('credentials that expire while the command follows end it with the error', async () => {
    const { ended, texts } = follow();
    cloudWatch.write(GROUP, 'before');
    await expect.poll(() => texts).toEqual(['before']);
    cloudWatch.errors.push('ExpiredTokenException', 'ExpiredTokenException');
    await expect(ended).rejects.toMatchObject({ name: 'ExpiredTokenException' });
  });

  test('Ctrl-C ends it during a pause, a call, and a retry', async () => {
    for (const fault of [undefined, 'ThrottlingException']) {
      const { ended, stop } = follow();
      const asked = cloudWatch.queries.length;
      if (fault) cloudWatch.hooks.onQuery = () => void cloudWatch.errors.push(fault);
      await expect.poll(() => cloudWatch.queries.length).toBeGreaterThan(asked + 3);
      stop();
      await ended;
    }
  });
});
