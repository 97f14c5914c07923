/**
 * Suspended accounts: their tokens, their messages, and their campaigns. Step by step, on a table of its own.
 *
 * @module-tag long
 */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { handler as authorize } from '../../../../functions/authorizer.ts';
import { createAccount, findPlatform, updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { issueAppNetworkToken, issueToken } from '../../../../infra/operator/queries/tokens-admin.ts';
import { sendToMany } from '../../../../shared/campaigns/accept.ts';
import { expand } from '../../../../shared/campaigns/expand.ts';
import { timestamp } from '../../../../shared/core/clock.ts';
import { deliver } from '../../../../shared/delivery/deliver.ts';
import { circuitKey } from '../../../../shared/delivery/entities.ts';
import { receiveMessage } from '../../../../shared/messaging/receive.ts';
import { sendMessage } from '../../../../shared/messaging/send.ts';
import { oldestEntries } from '../../../../shared/outbox/entries.ts';
import { readHead } from '../../../../shared/outbox/head.ts';
import { listLogs } from '../../../../shared/stats/delivery-log.ts';
import { getConsistent } from '../../../../shared/table/client.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { useFakeQueue } from '../../../unit/support/fake-queue.ts';
import { useAppNetworkServer } from '../../support/app-network-server.ts';
import { inJson, operator, refusal, unconfirmed } from '../../support/operator.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { newAccount, newAccountId, newPhone, newPhones } from '../../support/world.ts';

useOwnTable('operator-suspension');
useFakeQueue();
captureLog();
const app = useAppNetworkServer();

const DAY = 86_400_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

const text = { type: 'text' as const, text: { body: 'Hello' } };

const plenty = () => 60_000;

const isAuthorized = async (token: string): Promise<boolean> => {
  const event = { routeKey: 'GET /', identitySource: [`Bearer ${token}`], requestContext: { requestId: 'r' } };
  return (await authorize(event)).isAuthorized;
};

const suspend = (account: string) => inJson('account', 'suspend', account, '--yes');

test('account suspend asks, rejects all tokens of the account, and account resume accepts them again', async () => {
  const [account, other] = [await newAccount(), await newAccount()];
  const issue = async (of: string) => (await issueToken(of, { label: '', permissions: ['messages'] })).token;
  const [token, others, network] = [
    await issue(account),
    await issue(other),
    (await issueAppNetworkToken(account, { label: '' })).token,
  ];
  expect(await unconfirmed('account', 'suspend', account)).toContain('its tokens stop working within 60 s');
  expect(await isAuthorized(token)).toBe(true);

  const suspended = await suspend(account);
  expect(suspended).toMatchObject({ id: account, suspended: expect.any(String) });
  expect(await isAuthorized(token)).toBe(false);
  expect(await isAuthorized(others)).toBe(true);
  // The app network is another account, which only keeps its record here.
  expect(await isAuthorized(network)).toBe(true);
  expect((await operator('account', 'show', account)).stdout).toMatch(/^Suspended {3}[-0-9]{10} [:0-9]{8} UTC$/m);
  // A repeat changes nothing, and asks nothing.
  expect(await inJson('account', 'suspend', account)).toMatchObject({ suspended: suspended.suspended });

  const resumed = { ...suspended, suspended: undefined, resumed_conversations: 0 };
  expect(await inJson('account', 'resume', account)).toEqual(resumed);
  expect(await isAuthorized(token)).toBe(true);
  expect((await operator('account', 'resume', account)).stdout).toContain('is not suspended, unchanged');
});

test('the app network cannot be suspended, and an unknown account neither', async () => {
  expect(await refusal('account', 'suspend', 'app-network', '--yes')).toContain('The app network cannot be suspended');
  expect(await refusal('account', 'suspend', newAccountId(), '--yes')).toContain('There is no account');
  expect(await refusal('account', 'resume', newAccountId())).toContain('There is no account');
});

describe('pending messages of a suspended account', () => {
  const pending = async () => {
    const conversation = { direction: 'app' as const, account: await newAccount(), phone: newPhone() };
    for (const body of ['one', 'two']) {
      await sendMessage(conversation.account, { to: conversation.phone, type: 'text', text: { body } }, {});
    }
    return conversation;
  };

  test('are held without an attempt and without a failure of the app network, and arrive in order later', async () => {
    const conversation = await pending();
    await suspend(conversation.account);
    app().calls.length = 0;
    expect(await deliver(conversation, plenty)).toEqual({ settled: 0, retry_scheduled: 'account_suspended' });
    // Not before ten minutes, and then again.
    expect(await deliver(conversation, plenty)).toEqual({ settled: 0 });
    vi.setSystemTime(Date.now() + 601_000);
    expect(await deliver(conversation, plenty)).toEqual({ settled: 0, retry_scheduled: 'account_suspended' });
    expect(app().calls).toEqual([]);
    expect(await getConsistent(circuitKey('app'))).toBeUndefined();
    expect((await readHead(conversation))?.attempts ?? 0).toBe(0);
    expect((await oldestEntries(conversation)).entries).toHaveLength(2);

    expect(await inJson('account', 'resume', conversation.account)).toMatchObject({ resumed_conversations: 1 });
    expect(await deliver(conversation, plenty)).toEqual({ settled: 2 });
    expect(app().calls.map(({ json }) => json.data.text.body)).toEqual(['one', 'two']);
  });

  test('get no second attempt if the account is suspended during the first', async () => {
    const conversation = await pending();
    app().calls.length = 0;
    app().answers = [
      (response) =>
        void updateAccount(conversation.account, { suspended: timestamp() }).then(() => response.writeHead(503).end()),
      204,
    ];
    expect(await deliver(conversation, plenty)).toMatchObject({ settled: 0, retry_scheduled: 'account_suspended' });
    expect(app().calls).toHaveLength(1);
    app().answers = [204];
  });

  test('fail as unreachable when they are three days old', async () => {
    const conversation = await pending();
    await suspend(conversation.account);
    vi.setSystemTime(Date.now() + 3 * DAY + 1_000);
    expect(await deliver(conversation, plenty)).toEqual({ settled: 2 });
    const { entries } = await listLogs(conversation.account, { phone: conversation.phone }, 100);
    const reasons = entries.flatMap(({ state, reason }) => (state === 'sending_failed' ? [reason] : []));
    expect(reasons).toEqual(['unreachable', 'unreachable']);
  });
});

test('campaigns of a suspended account wait, and continue after account resume', async () => {
  const account = await newAccount();
  const to = newPhones(3);
  await sendToMany(account, { to, ...text }, { priority: 'low' });
  await suspend(account);
  const run = () => expand(account, undefined, Date.now() + 60_000);
  expect(await run()).toMatchObject({ expanded: 0, unfinished: false });
  await inJson('account', 'resume', account);
  expect(await run()).toMatchObject({ expanded: 3, unfinished: false });
});

test('the platform of a suspended account still receives messages of users', async () => {
  const number = newPhone();
  const { id: account } = await createAccount({ name: 'Test', id: newAccountId(), bot_number: number });
  const url = app().url;
  await updateAccount(account, {
    platform: { name: 'webhook', settings: { url, secret: `whsec_${'A'.repeat(43)}=` } },
  });
  expect(await findPlatform(account)).toBeDefined();
  const ended = await operator('account', 'suspend', account, '--yes');
  expect(ended.stderr).toContain('Its platform "webhook" still receives');
  const phone = newPhone();
  await receiveMessage('event', { from: phone, to: number, ...text });
  app().calls.length = 0;
  app().answers = [204];
  expect(await deliver({ direction: 'platform', account, phone }, plenty)).toEqual({ settled: 1 });
  expect(app().calls).toHaveLength(1);
});
