/**
 * A user with every kind of row is erased, under each way in which IAM may evaluate transactions: a role that is too narrow
 * for one of them would stop it. Then neither the number nor any text or value of the user, nor an unkeyed hash of them, is in
 * the table, a queue or the bucket. All rows are made over the API. The declarations of rows say which have personal data: a new
 * one that nothing makes here, or that an export does not show, fails.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import * as v from 'valibot';
import { expect, onTestFinished, test } from 'vitest';
import { type TransactionEvaluation, transactionEvaluations } from '../../../../infra/local/aws/iam/policies.ts';
import {
  type AccountPlatform,
  createAccount,
  updateAccount,
} from '../../../../infra/operator/queries/accounts-admin.ts';
import { type PersonalData, personalDataOf } from '../../../../infra/operator/queries/personal-data-export.ts';
import { issueToken } from '../../../../infra/operator/queries/tokens-admin.ts';
import { kindsOf } from '../../../../infra/operator/recovery/item-kinds.ts';
import { entities } from '../../../../shared/api/access-patterns.ts';
import type { Permission } from '../../../../shared/core/permissions.ts';
import { erasureKey } from '../../../../shared/messaging/entities.ts';
import { getConsistent } from '../../../../shared/table/client.ts';
import type { Key } from '../../../../shared/table/keys.ts';
import { contactHash, contactKey } from '../../../../shared/users/entities.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { DestinationServer } from '../../support/destination-server.ts';
import { serveOwnStack } from '../../support/own-stack.ts';
import { unkeyedHashesOf } from '../../support/unkeyed-hashes.ts';
import { allItems } from '../../support/whole-table.ts';
import { newAccountId, newPhone } from '../../support/world.ts';

const MINUTE = 2_000;
const SECRET = `whsec_${randomBytes(32).toString('base64')}`;
const PERMISSIONS: Permission[] = ['profilers', 'messages', 'stats', 'user_data', 'bridge', 'contacts'];

captureLog();

/** A row as text, with its sets. */
const textOf = (row: object): string =>
  JSON.stringify(row, (_, value: unknown) => (value instanceof Set ? [...value] : value));

/** Rows with a time to live that is not declared, or without one that is. */
const rowsThatExpireOtherwise = (rows: Key[]): string[] =>
  rows.flatMap((row) => {
    const [kind] = kindsOf(row);
    const isAsDeclared = kind?.expires === 'some' || kind?.expires === 'expires_at' in row;
    return isAsDeclared ? [] : [`${kind?.name}: ${row.pk} ${row.sk}`];
  });

/** The messages that are left in queues, with dead letters. */
const leftInQueues = async (awsEndpoint: string, urls: string[]): Promise<string[]> => {
  const client = new SQSClient({ endpoint: awsEndpoint });
  const found = await Promise.all(
    urls.map(async (QueueUrl) => {
      const { Messages = [] } = await client.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }));
      return Messages.map((message) => JSON.stringify(message));
    }),
  );
  return found.flat();
};

const eraseUnder = async (evaluation: TransactionEvaluation): Promise<void> => {
  const lines: string[] = [];
  const { stack, app, demo } = await serveOwnStack({
    name: `nothing-left-${randomUUID()}`,
    minute: MINUTE,
    transactionEvaluation: evaluation,
    onLine: (_, line) => void lines.push(line),
  });
  const refused = () => lines.filter((line) => line.includes('refused by policy'));
  const [webhook, rapidpro] = [await DestinationServer.start(), await DestinationServer.start()];
  onTestFinished(async () => void (await Promise.all([webhook.close(), rapidpro.close()])));

  const newBusiness = async (platform: AccountPlatform) => {
    const bot = newPhone();
    const { id } = await createAccount({ name: 'Test', id: newAccountId(), bot_number: bot });
    await updateAccount(id, { platform });
    return { bot, token: (await issueToken(id, { label: 'test', permissions: PERMISSIONS })).token };
  };
  const { bot, token } = await newBusiness({ name: 'webhook', settings: { url: webhook.url, secret: SECRET } });
  const flows = await newBusiness({ name: 'rapidpro', settings: { url: rapidpro.url } });

  const [phone, other] = [newPhone(), newPhone()];
  const traces = [phone];
  const secret = (): string => {
    const made = randomUUID();
    traces.push(made);
    return made;
  };
  const text = () => ({ type: 'text', text: { body: secret() } });
  const tomorrow = Math.floor(Date.now() / 1_000) + 86_400;

  const request = async (method: string, url: string, authorization: string, body?: unknown, type = 'json') => {
    const init: RequestInit = {
      method,
      headers: {
        authorization,
        'idempotency-key': randomUUID(),
        ...(body !== undefined && {
          'content-type': type === 'form' ? 'application/x-www-form-urlencoded' : 'application/json',
        }),
      },
      ...(body !== undefined && { body: type === 'form' ? String(body) : JSON.stringify(body) }),
    };
    let response = await fetch(url, init);
    expect(refused()).toEqual([]);
    // A busy machine: every request here can be repeated.
    while (response.status >= 500) response = await fetch(url, init);
    const received = await response.text();
    expect(response.status, `${method} ${url} ${received}`).toBeLessThan(300);
    return received === '' ? undefined : JSON.parse(received);
  };
  const post = (path: string, body: unknown) => request('POST', `${stack.baseUrl}${path}`, token, body);
  const event = (type: string, data: object) =>
    request('POST', `${stack.bridgeUrl}/v1/app/events`, demo.app_token, { id: randomUUID(), type, data });
  const namesPerson = (row: string): boolean => traces.some((trace) => row.includes(trace));
  const about = async () => (await allItems()).filter((row) => namesPerson(textOf(row)));
  const kinds = async () => new Set((await about()).flatMap(kindsOf).map(({ name }) => name));
  const withHash = async () => {
    const hashes = unkeyedHashesOf([...traces, `+${phone}`]);
    return (await allItems()).filter((row) => hashes.some((hash) => textOf(row).includes(hash)));
  };
  const behave = (...rules: object[]) =>
    fetch(`${app.phoneUrl}/behaviour`, { method: 'PUT', body: JSON.stringify(rules) });

  const property = () => ({ value: secret(), source: 'user' });
  await event('user.updated', {
    phone_number: phone,
    id: secret(),
    panelist: true,
    properties: { first_name: property(), last_name: property(), device_make: property() },
  });

  const form = new FormData();
  form.append('file', new File(['%PDF-1.7 For all users.'], 'for-all.pdf', { type: 'application/pdf' }));
  const uploaded = await fetch(`${stack.baseUrl}/v1/upload_file`, {
    method: 'POST',
    headers: { authorization: token },
    body: form,
  });
  const file = v.parse(v.object({ url: v.string() }), await uploaded.json());
  await post('/v1/message', { to: phone, type: 'file', file: { url: file.url } });

  // Messages both ways: delivered, reported, failed at the webhook, and pending.
  const sent = await post('/v1/message', { to: phone, ...text() });
  await post('/v1/message', { to: phone, ...text(), valid_for: 86_400 });
  for (const state of ['delivered_to_user', 'read']) await event('message.state', { id: sent.id, state });
  await event('message.received', { from: phone, to: bot, ...text() });
  await request('POST', `${stack.bridgeUrl}/webhook/${bot}`, token, { message: { from: phone, ...text() } });
  const fields = new URLSearchParams({ id: '21', text: secret(), to: phone });
  for (const _ of ['first', 'repeat']) {
    await request('POST', `${stack.bridgeUrl}/v1/webhook/rapidpro`, flows.token, fields, 'form');
  }
  await event('message.received', { from: phone, to: flows.bot, ...text() });
  await expect.poll(() => rapidpro.calls.length).toBeGreaterThan(0);
  await expect.poll(() => webhook.calls.length).toBeGreaterThan(4);

  // Batches: to the user alone and to others, one content for all and one for each, now and for later.
  const forAll = { type: 'text', text: { body: 'Hello' } };
  await post('/v1/message', { to: [phone, other], ...forAll });
  await post('/v1/message', { to: [phone, other], ...forAll, send_at: tomorrow });
  await post('/v1/message', { to: phone, ...text(), send_at: tomorrow });
  await post('/v1/message', { to: [phone], ...text(), send_at: tomorrow, valid_for: 3_600 });
  await post('/v1/messages', [
    { to: phone, ...text(), send_at: tomorrow },
    { to: other, ...forAll, send_at: tomorrow },
    { to: phone, ...text(), send_at: tomorrow },
  ]);

  // User data: released, withdrawn in part, pending, and at once.
  const ask = async (...properties: string[]): Promise<string> =>
    (
      await post(`/v1/user_data/start/${phone}`, {
        reason: 'To know you',
        data: properties.map((name) => ({ property: name })),
      })
    ).requestId;
  // The guide names the one request that IAM would deny if it evaluated whole calls.
  const released = await ask('first_name', 'last_name', ...(evaluation === 'whole call' ? [] : ['device_make']));
  await event('user_data.answered', { id: released, answers: { first_name: 'approved', last_name: 'approved' } });
  await event('user_data.withdrawn', { id: released, properties: ['last_name'] });
  await ask('first_name');
  await post(`/v1/user_data/fetch/${phone}`, { data: [{ property: 'device_make' }] });

  const profiler = await post('/v1/research_profilers', { question: 'Well?', options: ['yes', 'no'] });
  await post('/v1/profiler_answer', {
    profiler_id: profiler.profiler_id,
    option_id: profiler.options.yes,
    phone_number: phone,
  });
  await event('user.stopped', { from: phone, to: bot });
  await event('user.started', { from: phone, to: bot });

  // The last messages are pending when the user leaves.
  await behave({ phone, status: 503 });
  webhook.answers = [503];
  await post('/v1/message', { to: phone, ...text() });
  await event('message.received', { from: phone, to: bot, ...text() });
  await expect.poll(() => webhook.calls.length).toBeGreaterThan(8);
  // Every row that is declared to have personal data exists, and no other row has any.
  const personal = entities.filter(({ person }) => person !== 'none').map(({ name }) => name);
  const madeLater = ['erasure', 'removal of a user'];
  const hasOnlyKeyedHash = 'contact of a user';
  const madeHere = personal.filter((name) => ![...madeLater, hasOnlyKeyedHash].includes(name));
  // Each look reads the whole table.
  const missing = async () => [...new Set(madeHere).difference(await kinds())];
  await expect.poll(missing, { message: 'Make rows of these kinds here.', interval: 500 }).toEqual([]);
  expect(await getConsistent(contactKey(contactHash(phone)))).toBeDefined();
  const undeclared = [...(await kinds())].filter((name) => !personal.includes(name));
  expect(undeclared, 'Say in entities.ts what an erasure does with them.').toEqual([]);
  expect(await withHash()).toEqual([]);
  expect(rowsThatExpireOtherwise(await allItems()), 'Correct `expires` in entities.ts.').toEqual([]);

  // An export shows every kind that has a part in it.
  const data: PersonalData = await personalDataOf(phone);
  const parts = entities.flatMap(({ person }) =>
    person !== 'none' && typeof person.exported === 'string' ? [person.exported] : [],
  );
  expect(parts.filter((part) => [data[part]].flat().filter((one) => one !== null).length === 0)).toEqual([]);

  await event('user.removed', { phone_number: phone });
  expect(await getConsistent(erasureKey(phone))).toBeDefined();
  await expect.poll(() => getConsistent(erasureKey(phone)), { timeout: 100_000 }).toBeUndefined();
  expect(await about()).toEqual([]);
  expect(await withHash()).toEqual([]);
  expect(await getConsistent(contactKey(contactHash(phone)))).toBeUndefined();
  const queued = await leftInQueues(stack.awsEndpoint, Object.values(stack.queueUrls()));
  expect(queued.filter(namesPerson)).toEqual([]);
  const object = await fetch(file.url);
  expect(object.status).toBe(200);
  expect(namesPerson(await object.text())).toBe(false);
  expect(refused()).toEqual([]);
};

const [first, ...others] = transactionEvaluations;

test('after a complete erasure, no row and no message of a queue has the number, a text or a value of the user', () =>
  eraseUnder(first));

test.each(others)('an erasure is complete if IAM evaluates transactions %s', { tags: 'long' }, eraseUnder);
