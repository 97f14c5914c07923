/**
 * States of messages that reach a platform: in whichever order they are accepted, they never go backwards.
 *
 * @module-tag long
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  type AccountPlatform,
  createAccount,
  updateAccount,
} from '../../../../infra/operator/queries/accounts-admin.ts';
import { deliver } from '../../../../shared/delivery/deliver.ts';
import { listDeliveries } from '../../../../shared/delivery/history/deliveries.ts';
import { replayDelivery } from '../../../../shared/delivery/history/replay.ts';
import { sendFromPlatform } from '../../../../shared/messaging/platform-messages.ts';
import { sendMessage } from '../../../../shared/messaging/send.ts';
import type { Conversation } from '../../../../shared/outbox/event.ts';
import type { State } from '../../../../shared/outbox/message.ts';
import { listLogs } from '../../../../shared/stats/delivery-log.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { useAppNetworkServer } from '../../support/app-network-server.ts';
import { DestinationServer } from '../../support/destination-server.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { logState } from '../../support/states.ts';
import { newAccountId, newPhone } from '../../support/world.ts';

captureLog();
useOwnTable('order-of-states');
const appNetwork = useAppNetworkServer();

let platform: DestinationServer;

beforeAll(async () => {
  vi.stubEnv('MINUTE', '6000');
  platform = await DestinationServer.start();
});

afterAll(async () => {
  vi.unstubAllEnvs();
  await platform.close();
});

beforeEach(() => {
  platform.calls.length = 0;
  platform.answers = [200];
});

const secret = `whsec_${randomBytes(32).toString('base64')}`;

const platformsByName = {
  webhook: (): AccountPlatform => ({ name: 'webhook', settings: { url: platform.url, secret } }),
  turn: (): AccountPlatform => ({ name: 'turn', settings: { url: platform.url, channel: 'c', token: 't' } }),
  rapidpro: (): AccountPlatform => ({ name: 'rapidpro', settings: { url: `${platform.url}/receive` } }),
};

/** A business on a platform, which sends a text to a user. */
const open = async (name: keyof typeof platformsByName) => {
  const { id: account } = await createAccount({ name: 'Test', id: newAccountId() });
  await updateAccount(account, { platform: platformsByName[name]() });
  const phone = newPhone();
  const conversation: Conversation = {
    ...{ direction: 'platform', account, phone },
    ...(name === 'rapidpro' && { reports: true }),
  };
  const send = (body = 'Hi') =>
    sendFromPlatform(account, name, { reference: '21', to: phone, type: 'text', text: { body } });
  return {
    account,
    phone,
    send,
    id:
      name === 'webhook'
        ? await sendMessage(account, { to: phone, type: 'text', text: { body: 'Hi' } }, {})
        : await send(),
    run: () => deliver(conversation, () => 60_000),
    toUser: () => deliver({ direction: 'app', account, phone }, () => 60_000),
    logged: async () => (await listLogs(account, { phone }, 100)).entries.map(({ state }) => state).reverse(),
  };
};

/** The states that the platform was notified of, by its own names. */
const told = (): string[] =>
  platform.calls.map((call) => {
    if (call.headers['content-type'] !== 'application/json') return `${call.path.split('/').at(-1)} ${call.body}`;
    return call.json.status.state ?? call.json.status.status;
  });

const SERVER: State = 'delivered_to_server';
const USER: State = 'delivered_to_user';
const FAILED: State = 'delivery_failed';

describe('each state is logged, and those of which a platform is notified never go backwards:', () => {
  test.each<[keyof typeof platformsByName, State[], string[]]>([
    ['webhook', [USER, SERVER], [USER]],
    ['webhook', ['read', USER, SERVER], ['read']],
    ['webhook', [USER, 'read', SERVER], [USER, 'read']],
    ['webhook', ['read', FAILED], ['read']],
    ['webhook', [FAILED, SERVER], [FAILED]],
    ['webhook', [SERVER, USER, 'read'], [SERVER, USER, 'read']],
    ['webhook', [SERVER, FAILED, USER], [SERVER, FAILED, USER]],
    ['turn', [USER, SERVER], ['delivered']],
    ['turn', ['read', USER], ['read']],
    ['turn', ['read', FAILED], ['read']],
    ['turn', [SERVER, USER, 'read'], ['sent', 'delivered', 'read']],
    ['rapidpro', ['read'], ['delivered id=21']],
    ['rapidpro', ['read', USER, SERVER], ['delivered id=21']],
    ['rapidpro', ['read', FAILED], ['delivered id=21']],
  ])('%s, %j', async (name, states, expected) => {
    const { id, run, logged } = await open(name);
    for (const state of states) {
      await logState(id, state);
      await run();
    }
    expect(told()).toEqual(expected);
    expect(await logged()).toEqual(['sent', ...states]);
  });

  test('also if all of them are pending, because the platform was down', async () => {
    const { id, run } = await open('webhook');
    for (const state of [SERVER, 'read', USER] as const) await logState(id, state);
    await run();
    expect(told()).toEqual([SERVER, 'read']);
  });

  test('also if the app network is quicker than our record of the delivery', async () => {
    const { id, run, toUser } = await open('turn');
    appNetwork().answers = [(response) => void logState(id, 'read').then(() => response.writeHead(204).end())];
    await toUser();
    await run();
    expect(told()).toEqual(['read']);
  });

  test('but a state that a customer sends again is sent', async () => {
    const { account, id, run } = await open('webhook');
    for (const state of [SERVER, 'read'] as const) await logState(id, state);
    await run();
    const first = (await listDeliveries(account, {}, 10)).deliveries.at(-1)?.id ?? '';
    await replayDelivery(account, first);
    await run();
    expect(told()).toEqual([SERVER, 'read', SERVER]);
  });
});

describe('what RapidPro sends again is sent, or reported again:', () => {
  test('a Resend at once after the report of a failure is sent', async () => {
    const { id, send, run, toUser } = await open('rapidpro');
    await toUser();
    await logState(id, FAILED);
    let again: Promise<string> | undefined;
    platform.answers = [
      (response) => {
        // RapidPro sends it again before the report is recorded.
        if (platform.calls.at(-1)?.path.endsWith('failed')) again ??= send();
        response.writeHead(200).end();
      },
    ];
    await run();
    const second = await again;
    expect(second).not.toBe(id);
    await toUser();
    await run();
    expect(appNetwork().calls.map(({ json }) => json.data.id)).toEqual([id, second]);
    expect(told()).toEqual(['failed id=21', 'sent id=21']);
  });

  test('a repeat of a delivered message is not sent, and its status is reported again', async () => {
    const { id, send, run, toUser } = await open('rapidpro');
    await toUser();
    await logState(id, USER);
    await run();
    expect(await send()).toBe(id);
    await toUser();
    await run();
    expect(appNetwork().calls).toHaveLength(1);
    expect(told()).toEqual(['delivered id=21', 'delivered id=21']);
  });

  test('a repeat of a pending message is not sent, and its status follows the repeat', async () => {
    const { id, send, run, toUser } = await open('rapidpro');
    expect(await send()).toBe(id);
    await toUser();
    await run();
    expect(appNetwork().calls).toHaveLength(1);
    expect(told()).toEqual(['sent id=21']);
  });

  test('a part that fails after a Resend of all parts is reported as failed again', async () => {
    const { id: one, send, run, toUser } = await open('rapidpro');
    const two = await send('two');
    await toUser();
    await logState(one, FAILED);
    await run();
    const resent = await send();
    expect(resent).not.toBe(one);
    expect(await send('two')).toBe(two);
    await toUser();
    await run();
    expect(told().at(-1)).toBe('sent id=21');
    await logState(two, FAILED);
    await run();
    expect(told().at(-1)).toBe('failed id=21');
    expect(await send('two')).not.toBe(two);
  });
});
