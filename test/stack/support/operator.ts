/**
 * Runs operator commands in a separate process or in the test. Returns stdout, stderr without the line of the target,
 * and the exit code.
 */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, onTestFinished } from 'vitest';
import { listenOnLoopback } from '../../../infra/local/aws/loopback.ts';
import type { StackFile } from '../../../infra/operator/local-stack/stack-file.ts';
import { namesDeployment } from '../../../infra/operator/names-deployment.ts';
import { createAccount } from '../../../infra/operator/queries/accounts-admin.ts';
import { sortableTime, timestamp } from '../../../shared/core/clock.ts';
import { newId as newUuid } from '../../../shared/core/ids.ts';
import { recordFailure } from '../../../shared/delivery/circuit-breaker.ts';
import { conversationName, headKey } from '../../../shared/outbox/entities.ts';
import { enqueueWrites, transactInOrder } from '../../../shared/outbox/entries.ts';
import type { Conversation, OutboxEvent } from '../../../shared/outbox/event.ts';
import { readHead, scheduleRetry } from '../../../shared/outbox/head.ts';
import type { Message } from '../../../shared/outbox/message.ts';
import { update } from '../../../shared/table/client.ts';
import { dueAt } from '../../../shared/table/keys.ts';
import { lifetime } from '../../support/lifetime.ts';
import { runHere } from '../../support/operator-command.ts';
import { newPhone } from './world.ts';

interface Ended {
  code: number | string | null | undefined;
  stdout: string;
  stderr: string;
}

export type Environment = Record<string, string | undefined>;

const stack = inject('stack');

/** The environment without settings of AWS, the table and colours, in UTC. */
export const bare: Environment = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(AWS_|HASH_SECRET$|TABLE_NAME$|STACK_NAME$|FORCE_COLOR$|NO_COLOR$)/.test(name),
    ),
  ),
  TZ: 'UTC',
};

/** An environment with the name of the served stack's table, as for a table in AWS. */
export const remote: Environment = {
  ...bare,
  TABLE_NAME: stack.table,
  AWS_ENDPOINT_URL_DYNAMODB: stack.dynamodb_endpoint,
  AWS_ENDPOINT_URL_SECRETS_MANAGER: stack.aws_endpoint,
  // It answers with an error: then the access key names the caller.
  AWS_ENDPOINT_URL_STS: stack.aws_endpoint,
  // The output HashSecretName of the served stack.
  HASH_SECRET: 'arn:aws:secretsmanager:us-east-1:000000000000:secret:HashSecret3D9FFBC2',
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'operator',
  AWS_SECRET_ACCESS_KEY: 'local',
};

/** What removes the credentials from an environment. */
export const withoutCredentials: Environment = {
  AWS_ACCESS_KEY_ID: undefined,
  AWS_SECRET_ACCESS_KEY: undefined,
  AWS_CONFIG_FILE: '/dev/null',
  AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  AWS_EC2_METADATA_DISABLED: 'true',
};

/** Runs a command in a separate process, for at most `timeout` milliseconds. */
export const run = (args: string[], env = remote, timeout = 100_000): Promise<Ended> =>
  new Promise((resolve) => {
    execFile(process.execPath, ['infra/operator/main.ts', ...args], { env, timeout }, (error, stdout, stderr) =>
      resolve({ code: error ? error.code : 0, stdout, stderr: withoutTarget(stderr) }),
    );
  });

/** Each command that uses a deployment begins with this line. */
const TARGET = /^target: .+\n/;

const withoutTarget = (stderr: string): string => stderr.replace(TARGET, '');

/** Runs a command. Returns the line of its target, and the rest of the output. */
export const targetOf = async (
  env: Environment,
  ...args: string[]
): Promise<Ended & { target: string | undefined }> => {
  const running = last.then(() => runRaw(args, {}, env));
  last = running;
  const ended = await running;
  return { ...ended, stderr: withoutTarget(ended.stderr), target: TARGET.exec(ended.stderr)?.[0].trimEnd() };
};

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a command on the table of the test, inside the test's process, because this takes a tenth of the time.
 * Commands run one after the other.
 */
export const operator = (...args: string[]): Promise<Ended> => inTurn(args);

/** Runs a command with colours, as on a terminal. */
export const withColours = (...args: string[]): Promise<Ended> => inTurn(args, { FORCE_COLOR: '1' });

/** Runs a command on a table that does not exist. */
export const withoutTable = (...args: string[]): Promise<Ended> => inTurn(args, { TABLE_NAME: 'not-there' });

/** Runs a command in another environment, which contains the name of the served table or its local stack. */
export const operatorIn = (env: Environment, ...args: string[]): Promise<Ended> => inTurn(args, {}, env);

const inTurn = (args: string[], settings: Environment = {}, env?: Environment): Promise<Ended> => {
  const ended = last.then(() => runWithoutTarget(args, settings, env));
  last = ended;
  return ended;
};

const runWithoutTarget = async (args: string[], settings: Environment, env?: Environment): Promise<Ended> => {
  const ended = await runRaw(args, settings, env);
  return { ...ended, stderr: withoutTarget(ended.stderr) };
};

const runRaw = (args: string[], settings: Environment, env?: Environment): Promise<Ended> => {
  const environment = { ...(env ?? { ...remote, TABLE_NAME: process.env.TABLE_NAME }), ...settings };
  // The start of the command sets the same value.
  return runHere(args, { ...environment, ALLOW_LOOPBACK: String(!namesDeployment(args, environment)) });
};

// On other systems than Linux, it has other options.
const script = '/usr/bin/script';

export const hasTerminal = process.platform === 'linux' && existsSync(script);

/** Runs a command on the table of the test, in a terminal, in which somebody may enter an answer. Returns its code and output. */
export const onTerminal = (args: string[], answer?: string) =>
  new Promise<{ code: unknown; printed: string }>((resolve) => {
    const command = [`'${process.execPath}'`, 'infra/operator/main.ts', ...args].join(' ');
    const env = { ...remote, TABLE_NAME: process.env.TABLE_NAME };
    const child = execFile(script, ['-qec', command, '/dev/null'], { env }, (error, printed) =>
      resolve({ code: error?.code ?? 0, printed }),
    );
    child.stdout?.on('data', (text: string) => {
      if (answer !== undefined && text.includes('[y/N]')) child.stdin?.write(answer);
    });
  });

/** The environment of a machine. If `running` is given, the served stack is its local stack, with these differences. */
export const machine = async (running?: { pid: number } & Partial<StackFile>): Promise<Environment> => {
  const LOCAL_FOLDER = await folder();
  if (running) await writeFile(join(LOCAL_FOLDER, 'stack.json'), JSON.stringify({ ...stack, ...running }));
  return { ...bare, LOCAL_FOLDER };
};

/** Runs a command that must succeed without a word on stderr. Returns its output. */
export const shown = async (...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await operator(...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
};

/** Runs a command that must succeed. Returns its JSON output. */
export const inJson = async (...args: string[]) => {
  const { code, stdout, stderr } = await operator(...args, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining('error') });
  return JSON.parse(stdout);
};

/** Runs a command that must fail with one line on stderr. Returns the line. */
export const refusal = async (...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await operator(...args);
  expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(/^error: .+\n$/) });
  return stderr;
};

/** Runs a command that must not do anything without a confirmation. Returns its question, on one line of stderr. */
export const unconfirmed = async (...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await operator(...args);
  expect({ code, stdout, stderr }).toEqual({
    code: 3,
    stdout: '',
    stderr: expect.stringMatching(/^error: .+--yes.+\n$/),
  });
  return stderr;
};

/** A new id of an account. */
export const newId = (): string => `operator-${randomUUID().slice(0, 18)}`;

/** The id of a new account. */
export const newAccount = async (): Promise<string> =>
  (await createAccount({ name: 'Of the operator', id: newId() })).id;

/** Adds pending entries to a conversation with a scheduled retry. Default: in a day, after three failed attempts. */
export const addPendingEntries = async (
  conversation: Conversation,
  outgoing: OutboxEvent[],
  why: Partial<Parameters<typeof scheduleRetry>[1]> = {},
): Promise<void> => {
  // The head is written first, in two steps. Otherwise a stack that serves the table would deliver the entry at once.
  const { account } = conversation;
  const id = conversationName(conversation);
  const { gsi1pk, gsi1sk } = dueAt('conversations', { account, id, time: sortableTime(Date.now() + 86_400_000) });
  await update({
    Key: headKey(id),
    UpdateExpression: 'SET gsi1pk = :shard, gsi1sk = :due',
    ExpressionAttributeValues: { ':shard': gsi1pk, ':due': gsi1sk },
  });
  const head = await readHead(conversation);
  if (head === undefined) throw new Error('The head is missing.');
  const defaults = { until: Date.now() + 86_400_000, since: timestamp(), failed: '', cause: 'status_500', attempts: 3 };
  await scheduleRetry(head, { ...defaults, ...why });
  // The entry that failed has no id yet.
  await update({ Key: headKey(conversationName(conversation)), UpdateExpression: 'REMOVE failed' });
  for (const one of outgoing) await transactInOrder((after) => enqueueWrites(conversation, one, after));
};

/** A message that is in no table. */
export const newMessage = (account: string, phone = newPhone()): Message => ({
  ...{ id: newUuid(), account, phone, job_id: newUuid(), payload_type: 'text' },
  ...lifetime,
});

/** A pending text to the user of a conversation. */
export const newOutgoing = ({ account, phone }: Conversation, body = 'Hello'): OutboxEvent => ({
  type: 'message.send',
  message: newMessage(account, phone),
  content: { type: 'text', text: { body } },
});

/** Opens a destination's circuit. */
export const openCircuit = async (destination: string): Promise<void> => {
  for (let failure = 0; failure < 3; failure += 1) await recordFailure(destination, 'closed');
};

/** A masked number, as commands print it. */
export const masked = (phone: string): string => `${phone.slice(0, 4)}…${phone.slice(-4)}`;

/** A temporary folder, removed after the test. */
export const folder = async (): Promise<string> => {
  const path = await mkdtemp(join(tmpdir(), 'operator-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
};

/** A CSV file with these rows. */
export const csv = async (...rows: string[]): Promise<string> => {
  const path = join(await folder(), 'panelists.csv');
  await writeFile(path, `${rows.join('\n')}\n`);
  return path;
};

/** A table that returns an error, for all calls or for some. Counts the calls. */
export const failingTable = async (type: string, status = 400, fails = (_time: number) => true) => {
  const asked = { times: 0 };
  const server = createServer((_request, response) => {
    asked.times += 1;
    if (!fails(asked.times)) return response.end('{}');
    return response.writeHead(status).end(JSON.stringify({ __type: type, message: 'Secret' }));
  });
  const url = await listenOnLoopback(server, 0);
  onTestFinished(() => void server.close());
  return { asked, env: { ...remote, AWS_ENDPOINT_URL_DYNAMODB: url } };
};

/** A time in the format of the table. */
export const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/);
