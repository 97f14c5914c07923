/**
 * A delivery that fails and its retry are the same request, although the table returns the fields of an entry in any order.
 *
 * @module-tag long
 */
import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import {
  type AccountPlatform,
  createAccount,
  updateAccount,
} from '../../../../infra/operator/queries/accounts-admin.ts';
import { newId } from '../../../../shared/core/ids.ts';
import { deliver } from '../../../../shared/delivery/deliver.ts';
import { listDeliveries } from '../../../../shared/delivery/history/deliveries.ts';
import { replayDelivery } from '../../../../shared/delivery/history/replay.ts';
import { receiveMessage } from '../../../../shared/messaging/receive.ts';
import { sendMessage } from '../../../../shared/messaging/send.ts';
import type { Direction } from '../../../../shared/outbox/event.ts';
import { documents } from '../../../../shared/table/client.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { useAppNetworkServer } from '../../support/app-network-server.ts';
import { DestinationServer } from '../../support/destination-server.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { newAccountId, newPhone } from '../../support/world.ts';

vi.mock('node:timers/promises', () => ({ setTimeout: async () => undefined }));

captureLog();
useOwnTable('same-bytes');
const appNetwork = useAppNetworkServer();

let platform: DestinationServer;

beforeAll(async () => {
  platform = await DestinationServer.start();
});

afterAll(() => platform.close());

beforeEach(() => {
  platform.calls.length = 0;
  returnFieldsInTurns();
});

afterEach(() => void vi.restoreAllMocks());

/** The table returns the fields of items in one order, and then in the opposite one, in turns. */
const returnFieldsInTurns = (): void => {
  const send = documents.send.bind(documents);
  let reads = 0;
  vi.spyOn(documents, 'send').mockImplementation(async (command) => {
    const result: object = await send(command);
    reads += 1;
    for (const field of ['Item', 'Items', 'Responses']) {
      if (field in result) Object.assign(result, { [field]: sorted(Object(result)[field], reads % 2 === 0 ? 1 : -1) });
    }
    return result;
  });
};

const sorted = (value: unknown, direction: 1 | -1): unknown => {
  if (Array.isArray(value)) return value.map((one: unknown) => sorted(one, direction));
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -direction : direction));
  return Object.fromEntries(fields.map(([name, one]) => [name, sorted(one, direction)]));
};

const newBusiness = async (set: AccountPlatform): Promise<{ account: string; bot: string }> => {
  const bot = newPhone();
  const { id: account } = await createAccount({ name: 'Test', id: newAccountId(), bot_number: bot });
  await updateAccount(account, { platform: set });
  return { account, bot };
};

const run = (account: string, phone: string, direction: Direction) =>
  deliver({ direction, account, phone }, () => 60_000);

const secret = `whsec_${randomBytes(32).toString('base64')}`;

const plainWebhook = (): AccountPlatform => ({ name: 'webhook', settings: { url: platform.url, secret } });

/** Without the time of the attempt, which the signature of a webhook contains. */
const sentTo = ({ calls }: DestinationServer) =>
  calls.map(({ body, headers }) => ({ body, id: headers['webhook-id'], length: headers['content-length'] }));

test.each<[string, () => AccountPlatform]>([
  ['a webhook', plainWebhook],
  ['Turn', () => ({ name: 'turn', settings: { url: platform.url, channel: 'channel', token: 'token' } })],
  ['RapidPro', () => ({ name: 'rapidpro', settings: { url: platform.url } })],
])('%s receives the same bytes twice', async (_, settings) => {
  const { account, bot } = await newBusiness(settings());
  const phone = newPhone();
  await receiveMessage(newId(), { from: phone, to: bot, type: 'image', image: { url: 'https://example.com/a.jpg' } });
  platform.answers = [503, 204];
  expect(await run(account, phone, 'platform')).toEqual({ settled: 1 });
  const [first, second] = sentTo(platform);
  expect(second).toEqual(first);
});

test('the app network receives the same bytes twice', async () => {
  const { account } = await newBusiness(plainWebhook());
  const to = newPhone();
  await sendMessage(account, { to, type: 'text', text: { body: 'Hi' }, quick_replies: ['Yes', 'No'] }, {});
  appNetwork().answers = [503, 204];
  expect(await run(account, to, 'app')).toEqual({ settled: 1 });
  const [first, second] = sentTo(appNetwork());
  expect(second).toEqual(first);
});

test('a replay sends the bytes of the first attempt', async () => {
  const { account, bot } = await newBusiness(plainWebhook());
  const phone = newPhone();
  await receiveMessage(newId(), { from: phone, to: bot, type: 'text', text: { body: 'Hi' } });
  platform.answers = [204];
  await run(account, phone, 'platform');
  const [{ id } = { id: '' }] = (await listDeliveries(account, {}, 1)).deliveries;
  await replayDelivery(account, id);
  await run(account, phone, 'platform');
  const [first, second] = sentTo(platform);
  expect(second).toEqual(first);
});
