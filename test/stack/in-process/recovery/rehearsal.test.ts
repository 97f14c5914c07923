/**
 * @module-tag long
 *
 * Rehearsals on served stacks: one customer's items come back while the stack runs, and a stack adopts a restored table.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib/core';
import * as v from 'valibot';
import { afterAll, afterEach, expect, inject, onTestFinished, test, vi } from 'vitest';
import { bundleFunctions } from '../../../../infra/bundle/bundle.ts';
import { featureFlags } from '../../../../infra/feature-flags.ts';
import { existingTableOf } from '../../../../infra/local/aws/database/database.ts';
import { LocalStack } from '../../../../infra/local/local-stack.ts';
import { LOCAL_STACK } from '../../../../infra/local/runtime/condition.ts';
import type { AppNetwork } from '../../../../infra/local/simulators/app-network/app-network.ts';
import { runCommand } from '../../../../infra/operator/program.ts';
import { createAccount, updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { issueToken, revokeToken } from '../../../../infra/operator/queries/tokens-admin.ts';
import { readSettings } from '../../../../infra/settings.ts';
import { BusinessApiStack } from '../../../../infra/stack.ts';
import { accountKey } from '../../../../shared/accounts/entities.ts';
import { tableName } from '../../../../shared/core/settings.ts';
import { repeatsKey } from '../../../../shared/messaging/entities.ts';
import { conversationName, headKey } from '../../../../shared/outbox/entities.ts';
import { answersOf, profilerKey } from '../../../../shared/profilers/entities.ts';
import { jobCountersOf } from '../../../../shared/stats/entities.ts';
import { documents, getConsistent } from '../../../../shared/table/client.ts';
import type { AnyItem } from '../../../../shared/table/entity.ts';
import { userKey } from '../../../../shared/users/entities.ts';
import { updateUser } from '../../../../shared/users/users.ts';
import { folder, operatorIn, remote } from '../../support/operator.ts';
import { serveOwnStack } from '../../support/own-stack.ts';
import { statesOf } from '../../support/states.ts';
import { itemsIn } from '../../support/whole-table.ts';
import { newAccountId, newPhone } from '../../support/world.ts';
import { interrupted, useInterruptions } from '../failing-calls/interrupted.ts';
import { lose, putInto, restoreToNewTable } from './copied-table.ts';

const { dynamodb_endpoint: dynamodbEndpoint } = inject('stack');
const MINUTE = 2_000;
/** Milliseconds for a test on a busy machine. Nothing here depends on time. */
const timeout = 600_000;

useInterruptions();
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const openServed = (name: string) =>
  serveOwnStack({ name: `${name}-${randomUUID()}`, minute: MINUTE, dynamodbEndpoint });

/** Calls an endpoint. Returns its status and its body. A busy machine may let a call fail, which is repeated. */
const ask = async (url: string, token: string, body?: object): Promise<{ status: number; body: unknown }> => {
  const headers = { authorization: token, 'content-type': 'application/json', 'idempotency-key': randomUUID() };
  for (;;) {
    const response = await fetch(url, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) });
    const text = await response.text();
    if (response.status < 500) return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
  }
};

const post = async <Schema extends v.GenericSchema>(url: string, token: string, body: object, schema: Schema) => {
  const answer = await ask(url, token, body);
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return v.parse(schema, answer.body);
};

/** How often the app network received messages to a user. */
const attemptsTo = ({ inbox }: AppNetwork, phone: string): number =>
  inbox.sentTo(phone).reduce((sum, { attempts }) => sum + attempts, 0);

const withId = v.object({ id: v.string() });
const nameOf = ({ pk, sk }: { pk: string; sk: string }): string => `${pk} ${sk}`;
const ofCustomer = (items: AnyItem[], account: string, profilers: string[]): AnyItem[] =>
  items.filter(
    ({ pk, account: owner, id }) =>
      pk.split('#')[1] === account ||
      owner === account ||
      (pk === 'ACCOUNTS' && id === account) ||
      profilers.some((one) => pk === answersOf(one)),
  );

/** A customer with a token, a user, an answered profiler, and a message that was delivered and counted. */
const newCustomer = async (baseUrl: string) => {
  const { id: account } = await createAccount({ name: 'Before', id: newAccountId(), bot_number: newPhone() });
  const { token, record } = await issueToken(account, {
    label: 'test',
    permissions: ['profilers', 'messages', 'stats'],
  });
  const phone = newPhone();
  await updateUser(randomUUID(), { phone_number: phone, panelist: true });
  const profiler = await post(
    `${baseUrl}/v1/research_profilers`,
    token,
    { question: 'Well?', options: ['yes', 'no'] },
    v.object({ profiler_id: v.string(), options: v.object({ yes: v.string() }) }),
  );
  const answer = { profiler_id: profiler.profiler_id, option_id: profiler.options.yes, phone_number: phone };
  await post(`${baseUrl}/v1/profiler_answer`, token, answer, v.undefined());
  const job = randomUUID();
  const send = async (to: string): Promise<string> => {
    const body = { to, type: 'text', text: { body: 'Hello' } };
    return (await post(`${baseUrl}/v1/message?job_id=${job}`, token, body, withId)).id;
  };
  return { account, token, tokenId: record.id, phone, profiler: profiler.profiler_id, job, send };
};

const countOf = async (account: string): Promise<number> =>
  (await itemsIn())
    .filter(({ pk }) => pk === jobCountersOf(account))
    .reduce((sum, { count }) => sum + Number(count), 0);

test("a restore brings back one customer's items while the stack runs, and overwrites nothing newer", {
  timeout,
}, async () => {
  const { stack, app } = await openServed('restored');
  const { baseUrl } = stack;
  const customer = await newCustomer(baseUrl);
  const other = await newCustomer(baseUrl);
  const { account, token, phone, profiler } = customer;
  const erased = newPhone();
  await updateUser(randomUUID(), { phone_number: erased, panelist: true });
  const { record: revoked, token: revokedToken } = await issueToken(account, { label: 'old', permissions: ['stats'] });
  const sent = [await customer.send(phone), await customer.send(erased), await other.send(other.phone)];
  for (const id of sent) await expect.poll(() => statesOf(id)).toContain('delivered_to_server');
  await expect.poll(() => countOf(account)).toBe(4);
  // Many items, so that the restore reads several pages of each segment.
  const many = Array.from({ length: 1_200 }, (_, index) => ({ ...repeatsKey(account, `many-${index}`), version: 1 }));
  await putInto(tableName(), many);
  const restored = await restoreToNewTable(dynamodbEndpoint);
  const before = ofCustomer(await itemsIn(), account, [profiler]);

  // Newer than the restored table: a name, a message, a revoked token, an erased user.
  const newer = await customer.send(phone);
  await expect.poll(() => statesOf(newer)).toContain('delivered_to_server');
  await expect.poll(() => countOf(account)).toBe(6);
  await revokeToken(account, revoked.id);
  const operate = async (...args: string[]) =>
    operatorIn({ ...remote, TABLE_NAME: tableName(), LOCAL_FOLDER }, ...args);
  const LOCAL_FOLDER = await folder();
  expect(await operate('user', 'erase', erased, '--yes')).toMatchObject({ code: 0 });
  await updateAccount(account, { name: 'Newer' });
  // The app network knows the name, so no worker removes an entry later.
  const { pk: ofAccount } = headKey(conversationName({ direction: 'app', account, phone: '' }));
  const entries = async () => (await itemsIn()).filter(({ pk }) => pk === ofAccount);
  await expect.poll(entries).toEqual([]);
  // The loss: all of the customer's items but the account and what is newer, and some of another customer's.
  const lost = before.filter(
    ({ pk, sk }) => pk !== accountKey(account).pk && pk !== jobCountersOf(account) && sk !== 'TOKEN',
  );
  await lose(lost);
  await lose(ofCustomer(await itemsIn(), other.account, []).filter(({ pk }) => pk.startsWith('PROFILERS#')));
  const delivered = attemptsTo(app, phone);
  const present = new Map((await itemsIn()).map((item) => [nameOf(item), item]));

  // Killed in the middle, after the first pages.
  const restore = ['restore', '--from', restored, '--account', account, '--json'];
  vi.stubEnv('LOCAL_FOLDER', LOCAL_FOLDER);
  const silent = (['stdout', 'stderr'] as const).map((name) => vi.spyOn(process[name], 'write').mockReturnValue(true));
  expect(await interrupted(() => runCommand(restore), 62, { takesEffect: true, injected: 'end' })).toBe('ended');
  for (const each of silent) each.mockRestore();
  const half = (await itemsIn()).length;
  expect(half).toBeGreaterThan(present.size);
  expect(half).toBeLessThan(present.size + lost.length);

  const send = documents.send.bind(documents);
  let scans = 0;
  const counting = vi.spyOn(documents, 'send').mockImplementation((command: { input: object }) => {
    if ('Segment' in command.input) scans += 1;
    return send(command as Parameters<typeof send>[0]);
  });
  const resumed = await operate(...restore);
  const scansOfResumed = scans;
  expect(resumed).toMatchObject({ code: 0, stderr: expect.stringContaining('Continues an interrupted restore') });
  const again = await operate(...restore);
  counting.mockRestore();
  expect(JSON.parse(again.stdout).totals.restored).toBeUndefined();
  // The pages that were complete were not read again.
  expect(scansOfResumed).toBeLessThan(scans - scansOfResumed);

  const after = new Map((await itemsIn()).map((item) => [nameOf(item), item]));
  const missing = before.filter((item) => !after.has(nameOf(item)));
  // Only what was deleted or revoked, and what a restore never copies.
  expect(
    missing.filter(({ pk, phone: number }) => number !== erased && !/^(TOKEN|CIRCUIT|OUTBOX|RATE)#/.test(pk)),
  ).toEqual([]);
  // Nothing that was there has changed, but the counters may not have become higher either.
  for (const [name, item] of present) {
    // An erasure that continues meanwhile is none of the customer's items.
    if (!name.startsWith('ERASURE#')) expect(after.get(name), name).toEqual(item);
  }
  expect(await getConsistent(accountKey(account))).toMatchObject({ name: 'Newer' });
  expect(JSON.stringify([...after.values()].filter(({ pk }) => !/^(ERASURE|OUTBOX)#/.test(pk)))).not.toContain(erased);
  expect(await getConsistent(userKey(erased))).toBeUndefined();
  expect((await ask(`${baseUrl}/v1/stats/jobs`, revokedToken)).status).toBe(403);
  // Another customer's items stay lost.
  expect(await getConsistent(profilerKey(other.account, other.profiler))).toBeUndefined();

  // The endpoints work on what came back, and the workers do nothing twice.
  expect((await ask(`${baseUrl}/v1/research_profilers/${profiler}`, token)).status).toBe(200);
  const last = await customer.send(phone);
  await expect.poll(() => statesOf(last)).toContain('delivered_to_server');
  await expect.poll(() => countOf(account)).toBe(8);
  expect(attemptsTo(app, phone)).toBe(delivered + 1);
});

const bundles = await mkdtemp(join(tmpdir(), 'adopting-'));
afterAll(() => rm(bundles, { recursive: true }));

/** Synthesises a stack that adopts a table. Returns its folder. */
const synthesiseAdopting = async (existingTable: string): Promise<string> => {
  const outdir = join(bundles, 'out');
  const app = new App({ analyticsReporting: false, treeMetadata: false, outdir, context: featureFlags });
  const existingTableStream = `arn:aws:dynamodb:us-east-1:000000000000:table/${existingTable}/stream/2030-01-01T00:00:00.000`;
  const settings = readSettings({ existingTable, existingTableStream, conditions: [LOCAL_STACK] });
  const functions = await bundleFunctions(bundles, 'minified', [LOCAL_STACK]);
  new BusinessApiStack(app, 'BusinessApi', { settings, bundles: functions });
  app.synth();
  return outdir;
};

test('a stack adopts a restored table, without what was deleted or delivered since', { timeout }, async () => {
  const { stack, app } = await openServed('adopted');
  const customer = await newCustomer(stack.baseUrl);
  const { account, token, phone, profiler } = customer;
  const erased = newPhone();
  await updateUser(randomUUID(), { phone_number: erased, panelist: true });
  const { record: revoked, token: revokedToken } = await issueToken(account, { label: 'old', permissions: ['stats'] });
  await fetch(`${app.phoneUrl}/behaviour`, { method: 'PUT', body: JSON.stringify([{ phone, status: 503 }]) });
  const pending = await customer.send(phone);
  await expect.poll(() => countOf(account)).toBe(1);
  const restored = await restoreToNewTable(dynamodbEndpoint, { stream: true });

  // Since then.
  await fetch(`${app.phoneUrl}/behaviour`, { method: 'DELETE' });
  const LOCAL_FOLDER = await folder();
  const operate = (...args: string[]) => operatorIn({ ...remote, TABLE_NAME: tableName(), LOCAL_FOLDER }, ...args);
  await operate('outbox', 'retry', '--account', account);
  await expect.poll(() => statesOf(pending)).toContain('delivered_to_server');
  await operate('user', 'erase', erased, '--yes');
  await revokeToken(account, revoked.id);

  const clean = ['restore', '--from', restored, '--clean', '--yes'];
  expect(await operate(...clean)).toMatchObject({ code: 1, stderr: expect.stringContaining('add --taken') });
  const cleaned = await operate(...clean, '--taken', new Date().toISOString());
  expect(cleaned).toMatchObject({ code: 0, stderr: expect.stringContaining('The stack can adopt it') });
  // What the old table has besides, which includes its deletion markers.
  const back = await operatorIn({ ...remote, TABLE_NAME: restored, LOCAL_FOLDER }, 'restore', '--from', tableName());
  expect(back).toMatchObject({ code: 0 });

  const delivered = attemptsTo(app, phone);
  const definition = await existingTableOf(dynamodbEndpoint, restored);
  const adopting = await LocalStack.start({
    assembly: synthesiseAdopting(restored),
    ports: { base: 0, bridge: 0 },
    dynamodbEndpoint,
    tableName: restored,
    secret: app.stackSecret,
    minute: MINUTE,
    onLine: () => undefined,
  });
  onTestFinished(() => adopting.close());
  vi.stubEnv('TABLE_NAME', restored);
  // The stack neither creates nor changes the table.
  expect(await existingTableOf(dynamodbEndpoint, restored)).toEqual(definition);

  expect((await ask(`${adopting.baseUrl}/v1/research_profilers/${profiler}`, token)).status).toBe(200);
  expect((await ask(`${adopting.baseUrl}/v1/stats/jobs`, revokedToken)).status).toBe(403);
  expect(await getConsistent(userKey(erased))).toBeUndefined();
  expect(JSON.stringify(await itemsIn(restored))).not.toContain(`USER#${erased}`);
  const body = { to: phone, type: 'text', text: { body: 'Again' } };
  const { id } = await post(`${adopting.baseUrl}/v1/message`, token, body, withId);
  await expect.poll(() => statesOf(id)).toContain('delivered_to_server');
  expect(attemptsTo(app, phone)).toBe(delivered + 1);
});
