/**
 * The operator's commands for the delivery history of webhooks.
 *
 * @module-tag long
 */
import { deflateRawSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { exampleDelivery } from '../../../../infra/local/documentation/example-delivery.ts';
import { updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { attemptIdOf } from '../../../../shared/delivery/entities.ts';
import { unpack } from '../../../../shared/delivery/history/attempt-item.ts';
import { oldestEntries } from '../../../../shared/outbox/entries.ts';
import { putAll } from '../../../../shared/table/client.ts';
import { inJson, masked, newAccount, operator, refusal, unconfirmed } from '../../support/operator.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { newPhone } from '../../support/world.ts';

// No workers process this table: replays stay pending.
useOwnTable('operator-deliveries');

/** An account with a webhook, which has rejected an event of each of so many users. */
const withFailed = async (users = 1) => {
  const account = await newAccount();
  const settings = { url: 'https://example.com/hook', secret: `whsec_${Buffer.alloc(32).toString('base64')}` };
  await updateAccount(account, { platform: { name: 'webhook', settings } });
  const phones = Array.from({ length: users }, newPhone);
  const items = phones.map((phone) => exampleDelivery(account, phone));
  await putAll(items);
  const ids = items.map(attemptIdOf);
  return { account, items, phones, ids, phone: phones[0] ?? '', id: ids[0] ?? '' };
};

const pendingOf = async (account: string, phone: string) =>
  (await oldestEntries({ direction: 'platform', account, phone })).entries;

describe('deliveries list', () => {
  test('deliveries list prints the attempts of an account, the newest event first, with masked numbers', async () => {
    const { account, ids, phones } = await withFailed(3);
    const { stdout, code } = await operator('deliveries', 'list', account);
    expect(code).toBe(0);
    const lines = stdout.trim().split('\n');
    expect(lines[0]).toMatch(/^ID +STARTED +EVENT +USER +ATTEMPT +RESULT +MS +NEXT ATTEMPT$/);
    expect(lines.slice(1).map((line) => line.split(' ')[0])).toEqual(ids.toReversed());
    for (const phone of phones) {
      expect(stdout).toContain(masked(phone));
      expect(stdout).not.toContain(phone);
    }
  });

  test('deliveries list --json prints whole attempts, with the response', async () => {
    const { account, id, phone } = await withFailed();
    expect(await inJson('deliveries', 'list', account)).toEqual([
      expect.objectContaining({ id, phone, status: 'failed', status_code: 404, response: expect.any(String) }),
    ]);
  });

  test('deliveries list is limited, and filtered by status and time', async () => {
    const { account, ids } = await withFailed(3);
    const limited = await operator('deliveries', 'list', account, '--limit', '2');
    expect(limited.stdout).toContain('There are more. --limit shows them.');
    expect(await inJson('deliveries', 'list', account, '--limit', '2')).toHaveLength(2);
    expect(await inJson('deliveries', 'list', account, '--status', 'succeeded')).toEqual([]);
    const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
    expect(await inJson('deliveries', 'list', account, '--since', day)).toHaveLength(ids.length);
    expect(await inJson('deliveries', 'list', account, '--until', day)).toEqual([]);
    const { stdout } = await operator('deliveries', 'list', account, '--status', 'succeeded');
    expect(stdout).toBe('There are no attempts. They are kept for seven days, for accounts with a webhook.\n');
  });
});

describe('deliveries show', () => {
  test('deliveries show prints an attempt with the response', async () => {
    const { account, id, phone } = await withFailed();
    const { stdout } = await operator('deliveries', 'show', account, id);
    const texts = [id, id.slice(0, 36), masked(phone), 'https://example.com/hook', '404', 'There is no such path.'];
    for (const text of texts) expect(stdout).toContain(text);
    expect(stdout).not.toContain(phone);
    expect(await inJson('deliveries', 'show', account, id)).toMatchObject({ id, phone });
  });

  test('deliveries show prints no control characters of a response', async () => {
    const { account, items } = await withFailed();
    const [item] = items;
    if (item === undefined) throw new Error('There is no attempt.');
    // The response is the ninth of the details.
    const hostile = unpack(item).with(8, 'red \u001b[31m and\ttab\nline \u0007\u009b');
    await putAll([{ ...item, packed: deflateRawSync(JSON.stringify(hostile)) }]);
    const { stdout } = await operator('deliveries', 'show', account, attemptIdOf(item));
    expect(stdout).toContain('red \u{fffd}[31m and\ttab\nline \u{fffd}\u{fffd}');
  });

  test("deliveries show rejects an unknown id, and another account's", async () => {
    const [{ account }, other] = [await withFailed(), await withFailed()];
    for (const id of ['x', other.id]) {
      expect(await refusal('deliveries', 'show', account, id)).toContain('None of your deliveries has this id.');
    }
  });
});

describe('deliveries replay', () => {
  test('deliveries replay of an attempt sends its event again, once', async () => {
    const { account, id, phone } = await withFailed();
    const event_id = id.slice(0, 36);
    const { stdout } = await operator('deliveries', 'replay', account, id);
    expect(stdout).toBe(`Event ${event_id} is sent again.\n`);
    expect(await inJson('deliveries', 'replay', account, id)).toEqual({ event_id, status: 'pending' });
    expect(await pendingOf(account, phone)).toMatchObject([{ replay: { event: event_id } }]);
  });

  test('deliveries replay --since asks, and sends all failed events of the period again', async () => {
    const { account, phones, phone } = await withFailed(2);
    const since = new Date(Date.now() - 3_600_000).toISOString();
    expect(await unconfirmed('deliveries', 'replay', account, '--since', since)).toContain(
      'Sends all events to the webhook',
    );
    expect(await pendingOf(account, phone)).toEqual([]);
    const { stdout } = await operator('deliveries', 'replay', account, '--since', since, '--yes');
    expect(stdout).toBe('Sent again: 2. Pending already: 0.\n');
    for (const one of phones) expect(await pendingOf(account, one)).toHaveLength(1);
    const again = await operator('deliveries', 'replay', account, '--since', since, '--yes');
    expect(again.stdout).toBe('No event of this period has failed permanently.\n');
  });

  test('deliveries replay needs a platform', async () => {
    const { account, id } = await withFailed();
    await updateAccount(account, { platform: null });
    expect(await refusal('deliveries', 'replay', account, id)).toContain('neither a webhook nor another chat platform');
  });
});
