/** What waits, as it is shown: how much, since when, and what has just come to its end. */
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createAccount, updateAccount } from '../../../infra/operator/queries/accounts-admin.ts';
import { pendingAbout, pendingConversations } from '../../../infra/operator/queries/outbox-inspection.ts';
import type { Conversation } from '../../../shared/messaging/events.ts';
import { oldestEntries } from '../../../shared/messaging/outbox.ts';
import { receiveMessage } from '../../../shared/messaging/receive.ts';
import { sendMessage } from '../../../shared/messaging/send.ts';
import { documents, remove } from '../../../shared/table/client.ts';
import { conversationName, entryKey, headKey } from '../../../shared/table/keys.ts';
import { captureLog } from '../../support/captured-log.ts';
import { putAll } from '../support/many-items.ts';
import { useOwnTable } from '../support/own-table.ts';
import { newAccountId, newPhone } from '../support/world.ts';

useOwnTable('waiting');
captureLog();

afterEach(() => void vi.restoreAllMocks());

/** A user who has written this to an account's webhook, which has not got it yet; answers the messages' ids. */
const written = async (...bodies: string[]) => {
  const bot = newPhone();
  const { id: account } = await createAccount({ name: 'Test', id: newAccountId(), bot_number: bot });
  const settings = { url: 'https://customer.example.com/', secret: `whsec_${Buffer.alloc(24).toString('base64')}` };
  await updateAccount(account, { platform: { name: 'webhook', settings } });
  const phone = newPhone();
  for (const [place, body] of bodies.entries())
    await receiveMessage(`${phone} ${place}`, { from: phone, to: bot, type: 'text', text: { body } });
  const conversation: Conversation = { direction: 'platform', account, phone };
  const { entries } = await oldestEntries(conversation);
  const ids = entries.map(({ outgoing }) => ('message' in outgoing ? outgoing.message.id : ''));
  return { account, conversation, ids };
};

describe('what waits about a message', () => {
  test('is how often it was tried, and no state where none is to be told', async () => {
    const { conversation, ids } = await written('one');
    expect(await pendingAbout(conversation, ids[0] ?? '')).toEqual({ attempts: { failed: 0 }, states: [] });
  });

  test('is nothing where others wait', async () => {
    const { conversation } = await written('one');
    expect(await pendingAbout(conversation, 'another')).toBeUndefined();
  });

  test('is nothing where the conversation has just come to its end', async () => {
    const { conversation, ids } = await written('one');
    await remove(headKey(conversationName(conversation)));
    expect(await pendingAbout(conversation, ids[0] ?? '')).toBeUndefined();
  });
});

describe('what waits in a conversation', () => {
  const copies = async (count: number) => {
    const { account, conversation } = await written('one');
    const [first] = (await oldestEntries(conversation)).entries;
    await putAll(
      Array.from({ length: count - 1 }, (_, place) => ({
        ...first,
        ...entryKey(conversationName(conversation), `copy-${place}`),
      })),
    );
    return account;
  };

  test.each([
    [1, 1, false],
    [100, 100, false],
    [101, 100, true],
  ])('is counted up to a hundred: %i', async (count, entries, more) => {
    const account = await copies(count);
    expect(await pendingConversations({ account })).toMatchObject([{ account, entries, more, failed: 0 }]);
  });

  test('is more than what one answer of the table holds', async () => {
    const { account } = await written(...Array(5).fill('😀'.repeat(65_536)));
    const [waiting] = await pendingConversations({ account });
    expect(waiting?.entries).toBeLessThan(5);
    expect(waiting?.more).toBe(true);
  });

  test('is not shown where it has just come to its end', async () => {
    const { account } = await written('one');
    const send = documents.send.bind(documents);
    vi.spyOn(documents, 'send').mockImplementation(async (command) =>
      command instanceof GetCommand ? {} : send(command),
    );
    expect(await pendingConversations({ account })).toEqual([]);
  });

  test('is shown of each user, the one first who waits longest', async () => {
    const { id: account } = await createAccount({ name: 'Test', id: newAccountId() });
    const phones = [newPhone(), newPhone(), newPhone()];
    for (const to of phones) await sendMessage(account, { to, type: 'text', text: { body: 'Hello' } }, {});
    expect((await pendingConversations({ account })).map(({ phone }) => phone)).toEqual(phones);
    const [, one = ''] = phones;
    expect((await pendingConversations({ account, phone: one })).map(({ phone }) => phone)).toEqual([one]);
    expect(await pendingConversations({ account, direction: 'platform' })).toEqual([]);
  });
});
