/**
 * Delivery to destinations that violate HTTP: time limits apply, and an accepted message is not sent again.
 *
 * @module-tag long
 */
import { randomBytes } from 'node:crypto';
import { afterEach, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { createAccount, updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { pendingConversations } from '../../../../infra/operator/queries/outbox-inspection.ts';
import { deliver } from '../../../../shared/delivery/deliver.ts';
import { receiveMessage } from '../../../../shared/messaging/receive.ts';
import { oldestEntries } from '../../../../shared/outbox/entries.ts';
import type { Conversation } from '../../../../shared/outbox/event.ts';
import { listLogs } from '../../../../shared/stats/delivery-log.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { RawServer, type Respond, write } from '../../../unit/support/raw-server.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { newAccountId, newPhone } from '../../support/world.ts';

/** Milliseconds of a minute of the schedule. An attempt may take a sixth of it. */
const MINUTE = 1_200;
const DAY_MS = 24 * 60 * MINUTE;

useOwnTable('hostile-destinations');
captureLog();

beforeAll(() => void vi.stubEnv('MINUTE', String(MINUTE)));

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** A new conversation with these messages pending, and its destination, which responds in the given way. */
const pending = async (respond: Respond, ...bodies: string[]) => {
  const destination = await RawServer.start();
  onTestFinished(() => destination.close());
  destination.respond = respond;
  const bot = newPhone();
  const { id: account } = await createAccount({ name: 'Test', id: newAccountId(), bot_number: bot });
  const settings = { url: destination.url, secret: `whsec_${randomBytes(32).toString('base64')}` };
  await updateAccount(account, { platform: { name: 'webhook', settings } });
  const conversation: Conversation = { direction: 'platform', account, phone: newPhone() };
  for (const body of bodies) {
    const message = { from: conversation.phone, to: bot, type: 'text' as const, text: { body } };
    await receiveMessage(`${conversation.phone} ${body}`, message);
  }
  return { destination, conversation };
};

const run = (conversation: Conversation) => deliver(conversation, () => 60_000);

const received = ({ bodies }: RawServer): string[] => bodies.map((body) => JSON.parse(body).message.text.body);

const switchProtocols = write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n');

test('an attempt whose destination switches protocols fails, and "outbox list" shows status_101', async () => {
  const { destination, conversation } = await pending(switchProtocols, 'one', 'two');
  expect(await run(conversation)).toEqual({ settled: 0, retry_scheduled: 'status_101' });
  expect(received(destination)).toEqual(['one', 'one']);
  const { account } = conversation;
  expect(await pendingConversations({ account })).toMatchObject([{ entries: 2, failed: 1, cause: 'status_101' }]);
});

test.each([
  ['switches protocols', switchProtocols, 'status_101'],
  ['never responds', () => undefined, 'timeout'],
  ['sends headers without end', write('HTTP/1.1 200 OK\r\nX-A: a\r\n'), 'timeout'],
  ['sends an invalid status line', write('HTTP/1.1 okay\r\n\r\n'), 'invalid_response'],
])('a message to a destination that %s is retried for three days, then fails', async (_, respond, cause) => {
  const { conversation } = await pending(respond, 'one');
  expect(await run(conversation)).toEqual({ settled: 0, retry_scheduled: cause });
  vi.setSystemTime(Date.now() + 3 * DAY_MS);
  expect(await run(conversation)).toEqual({ settled: 1 });
  const { account, phone } = conversation;
  const { entries } = await listLogs(account, { phone }, 100);
  expect(entries.map(({ state }) => state)).toEqual(['reception_failed_http', 'received']);
  expect((await oldestEntries(conversation)).entries).toEqual([]);
});

test.each([
  ['a 204 with a body', 'HTTP/1.1 204 No Content\r\n\r\n{"ok":true}'],
  ['a 200 with too short a content length', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{"ok":true}'],
  ['a 200 whose body never ends', 'HTTP/1.1 200 OK\r\nContent-Length: 200\r\n\r\n{"ok":true}'],
])('a destination that responds with %s receives each message once, in order', async (_, bytes) => {
  const { destination, conversation } = await pending(write(bytes), 'one', 'two', 'three');
  expect(await run(conversation)).toEqual({ settled: 3 });
  expect(received(destination)).toEqual(['one', 'two', 'three']);
});
