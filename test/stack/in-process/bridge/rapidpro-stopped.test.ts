/**
 * RapidPro is notified once of each removed user, after all earlier posts, and never of the number's next owner.
 *
 * @module-tag long
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { AccountPlatform } from '../../../../infra/operator/queries/accounts-admin.ts';
import { newId } from '../../../../shared/core/ids.ts';
import { deliver } from '../../../../shared/delivery/deliver.ts';
import { receiveMessage } from '../../../../shared/messaging/receive.ts';
import { oldestEntries } from '../../../../shared/outbox/entries.ts';
import type { Conversation } from '../../../../shared/outbox/event.ts';
import { readHead } from '../../../../shared/outbox/head.ts';
import { eraseUser, removeUser, resumeErasure } from '../../../../shared/user-data/erasure.ts';
import { updateUser } from '../../../../shared/users/users.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { DestinationServer } from '../../support/destination-server.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { newBusiness } from '../../support/world.ts';

const MINUTE = 60_000;

let platform: DestinationServer;
const written = captureLog();

useOwnTable('rapidpro-stopped');

beforeAll(async () => {
  platform = await DestinationServer.start();
});

afterAll(() => platform.close());

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
  platform.calls.length = 0;
  platform.answers = [200];
});

afterEach(() => void vi.useRealTimers());

const later = (minutes: number) => vi.setSystemTime(Date.now() + minutes * MINUTE);

const run = (conversation: Conversation) => deliver(conversation, () => 60_000);

/** The calls to the platform: the last segment of the path, and the text or the phone number. */
const calls = () =>
  platform.calls.map(({ path, body }) => {
    const form = new URLSearchParams(body);
    return `${path.replace(/.*\//, '')} ${form.get('text') ?? form.get('from')}`;
  });

/** A new user who has written to the bot of an account on this platform. */
const userOf = async (chosen: AccountPlatform) => {
  const { account, bot, phone } = await newBusiness(chosen);
  const write = (text: string) => receiveMessage(newId(), { from: phone, to: bot, type: 'text', text: { body: text } });
  const conversation: Conversation = { direction: 'platform', account, phone };
  await updateUser(newId(), { phone_number: phone });
  await write('Hi');
  await run(conversation);
  later(1);
  return { phone, conversation, write };
};

const onRapidpro = () => userOf({ name: 'rapidpro', settings: { url: platform.url } });

/** Whether a conversation has neither entries nor a head. */
const isEmpty = async (conversation: Conversation) =>
  (await oldestEntries(conversation)).entries.length === 0 && (await readHead(conversation)) === undefined;

test.each<[string, (phone: string) => Promise<unknown>]>([
  [
    'the app reports their removal',
    async (phone) => {
      await removeUser(newId(), phone);
      await resumeErasure(phone);
    },
  ],
  ['an operator erases them', eraseUser],
])('a user is stopped once if %s; then no entry is left, and no log line contains the number', async (_, remove) => {
  const { phone, conversation } = await onRapidpro();
  await remove(phone);
  expect(await run(conversation)).toEqual({ settled: 1 });
  for (const minutes of [1, 2]) {
    later(minutes);
    await resumeErasure(phone);
    await run(conversation);
  }
  expect(calls()).toEqual(['hook Hi', `stopped +${phone}`]);
  expect(await isEmpty(conversation)).toBe(true);
  expect(written.join('')).not.toContain(phone);
});

test('a user is stopped after the erasure has ended if the platform returned 500 before', async () => {
  const { phone, conversation, write } = await onRapidpro();
  platform.answers = [500];
  await write('dropped by the erasure');
  await run(conversation);
  await eraseUser(phone);
  later(3);
  await resumeErasure(phone);
  later(10);
  platform.calls.length = 0;
  platform.answers = [200];
  expect(await run(conversation)).toEqual({ settled: 1 });
  expect(calls()).toEqual([`stopped +${phone}`]);
});

test('a user who returns and is removed again is stopped again', async () => {
  const { phone, conversation, write } = await onRapidpro();
  await eraseUser(phone);
  await run(conversation);
  later(3);
  await resumeErasure(phone);
  await updateUser(newId(), { phone_number: phone });
  await write('Hi again');
  await run(conversation);
  later(1);
  await eraseUser(phone);
  await run(conversation);
  expect(calls()).toEqual(['hook Hi', `stopped +${phone}`, 'hook Hi again', `stopped +${phone}`]);
});

test("the number's next owner is not stopped", async () => {
  const { phone, conversation } = await onRapidpro();
  await eraseUser(phone);
  await updateUser(newId(), { phone_number: phone });
  expect(await run(conversation)).toEqual({ settled: 0 });
  expect(calls()).toEqual(['hook Hi']);
  expect(await isEmpty(conversation)).toBe(true);
});

test('the account setting stopped_url replaces the default URL', async () => {
  const stopped_url = platform.url.replace('/hook', '/left?key=1');
  const { phone, conversation } = await userOf({
    name: 'rapidpro',
    settings: { url: platform.url, stopped_url },
  });
  await eraseUser(phone);
  await run(conversation);
  expect(platform.calls.at(-1)).toMatchObject({ path: '/left?key=1', body: `from=%2B${phone}` });
});

test.each<AccountPlatform['name']>(['turn', 'webhook'])('%s receives no call when a user is removed', async (name) => {
  const settings = { url: platform.url, channel: 'c', token: 't', secret: `whsec_${'A'.repeat(32)}` };
  const { phone, conversation } = await userOf({ name, settings });
  platform.calls.length = 0;
  await eraseUser(phone);
  expect(await isEmpty(conversation)).toBe(true);
  expect(platform.calls).toEqual([]);
});
