/**
 * Many events about one user, with DynamoDB's conflicts between transactions on the same item.
 *
 * @module-tag long
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createAccount, updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { receiveEvents } from '../../../../shared/app-network/event-batch.ts';
import { sendMessage } from '../../../../shared/messaging/send.ts';
import { conversationName, entryKey } from '../../../../shared/outbox/entities.ts';
import type { Entry } from '../../../../shared/outbox/event.ts';
import { documents, pages } from '../../../../shared/table/client.ts';
import { startRequest } from '../../../../shared/user-data/requests.ts';
import { latestProfile, updateUser } from '../../../../shared/users/users.ts';
import { answered, named, removed, state as reported } from '../../support/app-events.ts';
import { holdItems } from '../../support/held-items.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { rejection } from '../../support/rejection.ts';
import { newAccountId, newPhone } from '../../support/world.ts';

useOwnTable('app-events-contention');

afterEach(() => void vi.restoreAllMocks());

/** Approximate duration of a DynamoDB transaction, in milliseconds. */
const HELD = 10;

const businessWithWebhook = async (): Promise<string> => {
  const { id } = await createAccount({ name: 'Test', id: newAccountId(), bot_number: newPhone() });
  const settings = { url: 'https://example.com/', secret: `whsec_${randomBytes(32).toString('base64')}` };
  await updateAccount(id, { platform: { name: 'webhook', settings } });
  return id;
};

const send = async (account: string, to: string, count: number): Promise<string[]> => {
  const ids: string[] = [];
  for (let done = 0; done < count; done += 1) {
    ids.push(await sendMessage(account, { to, type: 'text', text: { body: `${done}` } }, {}));
  }
  return ids;
};

const state = (id: string) => reported(id, 'delivered_to_user');

const report = (events: unknown[]) => receiveEvents(events, (index) => [String(index)]);

const property = (value: string) => ({ value, source: 'user' });

const asked = [{ property: 'first_name' as const, required: false }];

const firstNameOf = async (phone: string): Promise<string | undefined> =>
  (await latestProfile(phone))?.profile.first_name?.value;

/** Throttles transactions on items whose key has this beginning, and optionally only those of one partition. */
const failWritesOf = (beginning: string, partition = '') => {
  const send = documents.send.bind(documents);
  return vi.spyOn(documents, 'send').mockImplementation(async (command: { input: object }) => {
    const isWrite = command.constructor.name.startsWith('Transact');
    const text = JSON.stringify(command.input);
    if (isWrite && text.includes(`"${beginning}`) && text.includes(partition)) {
      throw rejection('ProvisionedThroughputExceededException');
    }
    return send(command as Parameters<typeof send>[0]);
  });
};

/** The ids of the messages whose states are pending for the webhook, in the order of delivery. */
const pendingReports = async (account: string, phone: string): Promise<string[]> => {
  const { pk, sk } = entryKey(conversationName({ direction: 'platform', account, phone }), '');
  const found: string[] = [];
  for await (const entries of pages<Entry>({
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :sk)',
    ExpressionAttributeValues: { ':pk': pk, ':sk': sk },
    ConsistentRead: true,
  })) {
    found.push(...entries.map(({ outgoing }) => ('message' in outgoing ? outgoing.message.id : '')));
  }
  return found;
};

describe('after an event whose write is throttled', () => {
  test.each([
    ['a profile update', 'USER#'],
    ['a state', 'STATE#'],
    ['an answer', 'REQUEST#'],
  ])('no later event of the same user is applied, and the batch can be repeated: %s', async (_, failing) => {
    const account = await businessWithWebhook();
    const [phone, other] = [newPhone(), newPhone()];
    await updateUser(randomUUID(), { phone_number: phone, properties: { first_name: property('Known') } });
    const [message = ''] = await send(account, phone, 1);
    const { id: request } = await startRequest(account, phone, { reason: 'Why not?', data: asked }, undefined);
    const failingEvent = {
      'USER#': named(phone, 'First'),
      'STATE#': state(message),
      'REQUEST#': answered(request, { first_name: 'approved' }),
    }[failing];
    const batch = [failingEvent, named(phone, 'Last'), removed(phone), named(other, 'Other')];

    const busy = failWritesOf(failing, failing === 'USER#' ? phone : undefined);
    await expect(report(batch)).rejects.toMatchObject({ name: 'ProvisionedThroughputExceededException' });
    busy.mockRestore();
    expect(await firstNameOf(phone)).toBe('Known');

    expect(await report(batch)).toEqual([]);
    expect([await firstNameOf(phone), await firstNameOf(other)]).toEqual([undefined, 'Other']);
    expect(await report(batch)).toEqual([]);
  });
});

describe("states of one user's messages, for an account with a webhook,", () => {
  test('are recorded without a conflict, and reported in order, for 100 states in one batch', async () => {
    const account = await businessWithWebhook();
    const phone = newPhone();
    const ids = await send(account, phone, 100);
    const counted = holdItems(HELD);
    expect(await report(ids.map((id) => state(id)))).toEqual([]);
    expect(counted.conflicts).toBe(0);
    // Two reads for messages and states, then transactions of 49 states.
    expect(counted.calls).toBeLessThanOrEqual(2 + 3 + 1);
    vi.restoreAllMocks();
    expect(await pendingReports(account, phone)).toEqual(ids);
  });

  test('cost only reads if they are reported again', async () => {
    const account = await businessWithWebhook();
    const phone = newPhone();
    const events = (await send(account, phone, 20)).map((id) => state(id));
    await report(events);
    const calls = vi.spyOn(documents, 'send');
    expect(await report(events)).toEqual([]);
    expect([...new Set(calls.mock.calls.map(([command]) => command.constructor.name))]).toEqual(['BatchGetCommand']);
    expect(await pendingReports(account, phone)).toHaveLength(20);
  });

  test('are recorded once if they occur twice in a batch, and in other batches at the same time', async () => {
    const account = await businessWithWebhook();
    const phone = newPhone();
    const ids = await send(account, phone, 30);
    const events = ids.map((id) => state(id));
    holdItems(HELD);
    await Promise.all([report([...events, ...events]), report(events.toReversed()), report(events.slice(10))]);
    vi.restoreAllMocks();
    expect((await pendingReports(account, phone)).toSorted()).toEqual(ids.toSorted());
  });

  test('are all recorded if 20 requests report one each at the same time', async () => {
    const account = await businessWithWebhook();
    const phone = newPhone();
    const ids = await send(account, phone, 20);
    const counted = holdItems(HELD);
    const found = await Promise.all(ids.map((id) => report([state(id)])));
    expect(found.flat()).toEqual([]);
    expect(counted.conflicts).toBeGreaterThan(0);
    vi.restoreAllMocks();
    expect((await pendingReports(account, phone)).toSorted()).toEqual(ids.toSorted());
  });
});
