/**
 * The webhooks that a business manages itself come back with a restore, and so do the copies that each of them has not got yet.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import { expect, inject, onTestFinished, test } from 'vitest';
import { createAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { findAccount } from '../../../../shared/accounts/accounts.ts';
import { accountKey, platformKey } from '../../../../shared/accounts/entities.ts';
import { deliver } from '../../../../shared/delivery/deliver.ts';
import { addEndpoint, deleteEndpoint, listEndpoints } from '../../../../shared/delivery/endpoints.ts';
import { receiveMessage } from '../../../../shared/messaging/receive.ts';
import { conversationName, headKey } from '../../../../shared/outbox/entities.ts';
import { oldestEntries } from '../../../../shared/outbox/entries.ts';
import type { Conversation } from '../../../../shared/outbox/event.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { DestinationServer } from '../../support/destination-server.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { authorOf, newAccountId, newPhone } from '../../support/world.ts';
import { lose, restoreInJson, restoreToNewTable } from './copied-table.ts';

const { dynamodb_endpoint: endpoint } = inject('stack');

useOwnTable('restored-webhooks');
captureLog();

const newBusiness = async () => {
  const bot = newPhone();
  const { id: account } = await createAccount({ name: 'Test', id: newAccountId(), bot_number: bot });
  return { account, bot };
};

test('webhooks come back with their secrets, and those that were deleted since do not', async () => {
  const { account } = await newBusiness();
  const kept = await addEndpoint(authorOf(account), { url: 'https://example.com/kept' });
  const copy = await restoreToNewTable(endpoint);
  await lose([accountKey(account), platformKey(account)]);
  await restoreInJson('--from', copy, '--outbox');
  expect(await listEndpoints(account)).toMatchObject([{ id: kept.id, url: kept.url }]);
  expect((await findAccount(account))?.platform).toBe('webhooks');

  await deleteEndpoint(authorOf(account), kept.id);
  await lose([accountKey(account), platformKey(account)]);
  await restoreInJson('--from', copy, '--outbox');
  expect(await findAccount(account)).not.toHaveProperty('endpoints');
  expect(await listEndpoints(account)).toEqual([]);
});

test('a copy comes back although the event has failed at another webhook', async () => {
  const { account, bot } = await newBusiness();
  const [rejecting, failing] = [await DestinationServer.start(), await DestinationServer.start()];
  onTestFinished(async () => void (await Promise.all([rejecting.close(), failing.close()])));
  rejecting.answers = [{ status: 500, headers: { 'webhook-delivery': 'abort-message' } }];
  failing.answers = [503];
  for (const { url } of [rejecting, failing]) await addEndpoint(authorOf(account), { url });
  const phone = newPhone();
  await receiveMessage(randomUUID(), { from: phone, to: bot, type: 'text', text: { body: 'Hi' } });
  const received: Conversation = { direction: 'platform', account, phone };
  const copies: Conversation = { ...received, endpoint: 2 };
  for (const one of [received, { ...received, endpoint: 1 as const }, copies]) await deliver(one, () => 60_000);
  const pending = (await oldestEntries(copies)).entries;
  expect(pending).toHaveLength(1);

  const copy = await restoreToNewTable(endpoint);
  await lose([...pending, headKey(conversationName(copies))]);
  await restoreInJson('--from', copy, '--outbox');
  expect((await oldestEntries(copies)).entries).toMatchObject([{ id: pending[0]?.id }]);
});
