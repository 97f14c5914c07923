/**
 * What a list of deliveries and a call of a recovery read and write at most, on a separate table.
 *
 * @module-tag long
 */
import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, expect, test, vi } from 'vitest';
import { createAccount, updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { newId } from '../../../../shared/core/ids.ts';
import { attemptOf } from '../../../../shared/delivery/entities.ts';
import { listDeliveries } from '../../../../shared/delivery/history/deliveries.ts';
import { recoverDeliveries } from '../../../../shared/delivery/history/recover.ts';
import { pendingEntries } from '../../../../shared/outbox/entries.ts';
import type { Conversation } from '../../../../shared/outbox/event.ts';
import { documents, putAll } from '../../../../shared/table/client.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { consumedBy } from '../../support/consumed.ts';
import { failedAttempt } from '../../support/failed-attempt.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { newAccountId, newPhone } from '../../support/world.ts';

captureLog();
useOwnTable('bounded-history');

afterEach(() => void vi.restoreAllMocks());

/** The id of a new account with a webhook. */
const newBusiness = async (): Promise<string> => {
  const { id } = await createAccount({ name: 'Test', id: newAccountId() });
  const settings = { url: 'https://example.com/', secret: `whsec_${Buffer.alloc(32).toString('base64')}` };
  await updateAccount(id, { platform: { name: 'webhook', settings } });
  return id;
};

test('a call of a recovery handles at most 5 MB of events, which are compressed in the history, and the next one goes on in order', async () => {
  const account = await newBusiness();
  const conversation: Conversation = { direction: 'platform', account, phone: newPhone() };
  const events = Array.from({ length: 22 }, () => newId());
  await putAll(events.map((id) => failedAttempt(conversation, id, '\u{1F33B}'.repeat(65_536))));
  const calls: number[] = [];
  for (let after: string | undefined; ; ) {
    let next: string | undefined;
    const { written } = await consumedBy(async () => {
      const found = await recoverDeliveries(account, { since: 0 }, after);
      calls.push(found.recovered.queued);
      next = found.next;
    });
    // 2 write units for each KB of an event.
    expect(written).toBeLessThan(2 * (5_000 + 300));
    if (next === undefined) break;
    after = next;
  }
  expect(calls).toEqual([20, 2]);
  const found: (string | undefined)[] = [];
  for await (const entries of pendingEntries(conversation)) found.push(...entries.map(({ replay }) => replay?.event));
  expect(found).toEqual(events);
});

test('a call of a recovery reads at most 40 pages of attempts, also if none of them has failed permanently', async () => {
  const account = await newBusiness();
  const send = documents.send.bind(documents) as (command: object) => Promise<object>;
  const LastEvaluatedKey = { pk: 'any', sk: 'ATTEMPT#any' };
  const calls = vi
    .spyOn(documents, 'send')
    .mockImplementation(async (command: object) =>
      command instanceof QueryCommand ? { Items: [], LastEvaluatedKey } : send(command),
    );
  expect(await recoverDeliveries(account, { since: 0 })).toEqual({
    recovered: { queued: 0, pending: 0 },
    next: '0 ATTEMPT#any',
  });
  expect(calls).toHaveBeenCalledTimes(1 + 40);
  calls.mockRestore();
});

test('a list of long events reads on 40 times, and its next pages have the rest', async () => {
  const account = newAccountId();
  const [phone, other] = [newPhone(), newPhone()];
  const items = [phone, phone, other].flatMap((one) =>
    Array.from({ length: 30 }, () => failedAttempt({ direction: 'platform', account, phone: one }, newId())),
  );
  // As if each of them filled a page of the table.
  const calls = vi.spyOn(documents, 'send').mockImplementation(async (command: object) => {
    if (!(command instanceof QueryCommand)) throw new Error('A list only queries.');
    const { ExpressionAttributeValues: values = {}, ExclusiveStartKey: start } = command.input;
    const inRange = items
      .filter(({ pk, sk }) => pk === values[':pk'] && sk >= values[':from'] && sk <= values[':to'])
      .filter(({ sk }) => start === undefined || sk < start.sk)
      .sort((a, b) => (a.sk < b.sk ? 1 : -1));
    const [first, second] = inRange;
    return { Items: first ? [first] : [], ...(second && { LastEvaluatedKey: { pk: first?.pk, sk: first?.sk } }) };
  });
  const listed: string[] = [];
  for (let after: string | undefined; ; ) {
    calls.mockClear();
    const { deliveries, next } = await listDeliveries(account, {}, 500, after);
    expect(calls.mock.calls.length).toBeLessThanOrEqual(32 + 40);
    listed.push(...deliveries.map(({ event_id }) => event_id));
    if (next === undefined) break;
    expect(deliveries.length).toBeGreaterThanOrEqual(39);
    after = next;
  }
  calls.mockRestore();
  expect(listed).toEqual(
    items
      .map((item) => attemptOf(item).event)
      .toSorted()
      .toReversed(),
  );
});
