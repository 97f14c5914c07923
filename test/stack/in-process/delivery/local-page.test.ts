/**
 * What the page of the local stack shows of pending messages, from a table without workers.
 *
 * @module-tag long
 */
import { expect, test } from 'vitest';
import { pendingOf, retryPending } from '../../../../infra/local/phone/destinations/pending.ts';
import { updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { newId } from '../../../../shared/core/ids.ts';
import type { Message } from '../../../../shared/outbox/message.ts';
import { lifetime } from '../../../support/lifetime.ts';
import { addPendingEntries, newAccount } from '../../support/operator.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { newPhone } from '../../support/world.ts';

useOwnTable('local-page-pending');

const NONE = { pending: 0, others: 0, next: null };

const messageOf = (account: string, phone: string): Message => ({
  id: newId(),
  account,
  phone,
  job_id: newId(),
  payload_type: 'text',
  ...lifetime,
});

/** A user's messages to an account that wait until a time, and a state behind them. */
const waitFor = async (account: string, messages: number, until: number): Promise<void> => {
  const phone = newPhone();
  const message = () => messageOf(account, phone);
  await addPendingEntries(
    { direction: 'platform', account, phone },
    [
      ...Array.from({ length: messages }, () => ({
        type: 'message.received' as const,
        message: message(),
        to: newPhone(),
        content: { type: 'text' as const, text: { body: 'Hi' } },
      })),
      { type: 'message.state', message: message(), state: 'read', created: lifetime.accepted },
    ],
    { until },
  );
};

test('pending messages are counted by destination, with the time of the next attempt, until they are retried', async () => {
  const [rapidpro, turn, webhook] = [await newAccount(), await newAccount(), await newAccount()];
  await updateAccount(rapidpro, { platform: { name: 'rapidpro', settings: { url: 'https://example.com/receive' } } });
  await updateAccount(turn, { platform: { name: 'turn', settings: {} } });
  await updateAccount(webhook, { platform: { name: 'webhook', settings: {} } });
  expect(await pendingOf()).toEqual({ app: NONE, rapidpro: NONE, turn: NONE });

  const [soon, later] = [Date.now() + 60_000, Date.now() + 120_000];
  await waitFor(rapidpro, 2, later);
  await waitFor(rapidpro, 1, soon);
  await waitFor(turn, 0, later);
  // A destination without a switch.
  await waitFor(webhook, 5, soon);
  expect(await pendingOf()).toEqual({
    app: NONE,
    rapidpro: { pending: 3, others: 2, next: new Date(soon).toISOString() },
    turn: { pending: 0, others: 1, next: new Date(later).toISOString() },
  });

  await retryPending('rapidpro');
  const { rapidpro: retried, turn: waiting } = await pendingOf();
  // The workers deliver what is due now.
  expect(retried).toEqual(NONE);
  expect(waiting.others).toBe(1);
  await retryPending('app');
  expect((await pendingOf()).turn.others).toBe(1);
});
