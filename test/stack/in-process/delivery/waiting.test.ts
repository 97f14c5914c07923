/**
 * Pending entries as operators see them: their number and age, also if a conversation ends during the query.
 *
 * @module-tag long
 */
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { pendingAbout, pendingConversations } from '../../../../infra/operator/queries/outbox-inspection.ts';
import { receiveMessage } from '../../../../shared/messaging/receive.ts';
import { sendMessage } from '../../../../shared/messaging/send.ts';
import { conversationName, entryKey, headKey } from '../../../../shared/outbox/entities.ts';
import { oldestEntries } from '../../../../shared/outbox/entries.ts';
import type { Conversation } from '../../../../shared/outbox/event.ts';
import { documents, remove } from '../../../../shared/table/client.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { putAll } from '../../support/many-items.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { newAccountId, newBusiness, newPhone } from '../../support/world.ts';

useOwnTable('waiting');
captureLog();

afterEach(() => void vi.restoreAllMocks());

/** A new account with messages of a user that are pending for its webhook. Returns the messages' ids. */
const written = async (...bodies: string[]) => {
  const settings = { url: 'https://customer.example.com/', secret: `whsec_${Buffer.alloc(24).toString('base64')}` };
  const { account, bot, phone } = await newBusiness({ name: 'webhook', settings });
  for (const [index, body] of bodies.entries())
    await receiveMessage(`${phone} ${index}`, { from: phone, to: bot, type: 'text', text: { body } });
  const conversation: Conversation = { direction: 'platform', account, phone };
  const { entries } = await oldestEntries(conversation);
  const ids = entries.map(({ outgoing }) => ('message' in outgoing ? outgoing.message.id : ''));
  return { account, conversation, ids };
};

describe('the pending entries about a message', () => {
  test('have the number of failed attempts, and no state if no status is pending', async () => {
    const { conversation, ids } = await written('one');
    expect(await pendingAbout(conversation, ids[0] ?? '')).toEqual({ attempts: { failed: 0 }, states: [] });
  });

  test('are undefined if only other messages are pending', async () => {
    const { conversation } = await written('one');
    expect(await pendingAbout(conversation, 'another')).toBeUndefined();
  });

  test('are undefined if the conversation ends during the query', async () => {
    const { conversation, ids } = await written('one');
    await remove(headKey(conversationName(conversation)));
    expect(await pendingAbout(conversation, ids[0] ?? '')).toBeUndefined();
  });
});

describe('the list of pending conversations', () => {
  const copies = async (count: number) => {
    const { account, conversation } = await written('one');
    const [first] = (await oldestEntries(conversation)).entries;
    await putAll(
      Array.from({ length: count - 1 }, (_, index) => ({
        ...first,
        ...entryKey(conversationName(conversation), `copy-${index}`),
      })),
    );
    return account;
  };

  test.each([
    [1, 1, false],
    [100, 100, false],
    [101, 100, true],
  ])('counts %i pending entries as %i, with more = %s', async (count, entries, more) => {
    const account = await copies(count);
    expect(await pendingConversations({ account })).toMatchObject([{ account, entries, more, failed: 0 }]);
  });

  test('has more = true if the pending entries fill more than one page of the table', async () => {
    const { account } = await written(...Array(5).fill('😀'.repeat(65_536)));
    const [waiting] = await pendingConversations({ account });
    expect(waiting?.entries).toBeLessThan(5);
    expect(waiting?.more).toBe(true);
  });

  test('omits a conversation that ends during the query', async () => {
    const { account } = await written('one');
    const send = documents.send.bind(documents);
    vi.spyOn(documents, 'send').mockImplementation(async (command) =>
      command instanceof GetCommand ? {} : send(command),
    );
    expect(await pendingConversations({ account })).toEqual([]);
  });

  test('has the conversation with the oldest entry first, filtered by phone number and direction', async () => {
    const { id: account } = await createAccount({ name: 'Test', id: newAccountId() });
    const phones = [newPhone(), newPhone(), newPhone()];
    for (const to of phones) await sendMessage(account, { to, type: 'text', text: { body: 'Hello' } }, {});
    expect((await pendingConversations({ account })).map(({ phone }) => phone)).toEqual(phones);
    const [, one = ''] = phones;
    expect((await pendingConversations({ account, phone: one })).map(({ phone }) => phone)).toEqual([one]);
    expect(await pendingConversations({ account, direction: 'platform' })).toEqual([]);
  });
});
