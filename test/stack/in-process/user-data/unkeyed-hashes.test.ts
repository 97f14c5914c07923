/**
 * After an erasure, no hash in the table can be compared with hashes of numbers.
 *
 * @module-tag long
 */
import { expect, test } from 'vitest';
import { createAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { sendEach } from '../../../../shared/campaigns/accept.ts';
import { newId } from '../../../../shared/core/ids.ts';
import { sendFromPlatform } from '../../../../shared/messaging/platform-messages.ts';
import { sendMessage } from '../../../../shared/messaging/send.ts';
import { eraseUser } from '../../../../shared/user-data/erasure.ts';
import { startRequest } from '../../../../shared/user-data/requests.ts';
import { updateUser } from '../../../../shared/users/users.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { unkeyedHashesOf } from '../../support/unkeyed-hashes.ts';
import { wholeTable } from '../../support/whole-table.ts';
import { newPhone } from '../../support/world.ts';

useOwnTable('unkeyed-hashes');

const TEXT = 'The text is known.';

test('no unkeyed hash of the number, alone or with the text, is in the table before or after the erasure', async () => {
  const [account, phone, reference] = [newId(), newPhone(), newId()];
  await createAccount({ id: account, name: 'Acme' });
  await updateUser(newId(), {
    phone_number: phone,
    panelist: true,
    properties: { device_make: { value: 'A', source: 'device' } },
  });
  const draft = { to: phone, type: 'text', text: { body: TEXT } } as const;
  await sendMessage(account, draft, { idempotencyKey: phone });
  await sendFromPlatform(account, 'rapidpro', { ...draft, reference }, { leastPart: async () => 1 });
  await sendFromPlatform(account, 'rapidpro', { ...draft, reference }, { leastPart: async () => 1 });
  await sendEach(account, [draft, { ...draft, to: newPhone() }], { idempotencyKey: `${phone} many` });
  const asked = { reason: TEXT, data: [{ property: 'device_make', required: true }] };
  await startRequest(account, phone, asked, `${phone} asked`);

  const tried = unkeyedHashesOf([
    phone,
    `+${phone}`,
    ...[
      draft,
      [draft],
      [draft, undefined],
      [account, phone, TEXT],
      [phone, TEXT],
      [phone, asked.reason, asked.data],
    ].map((one) => JSON.stringify(one)),
    `${account} sendMessage ${phone}`,
    `${account} sendMessages ${phone} many`,
    `${account} startUserDataRequest ${phone} asked`,
  ]);
  const found = async () => (await wholeTable()).filter((text) => tried.some((hash) => text.includes(hash)));
  expect(await found()).toEqual([]);
  expect((await wholeTable()).length).toBeGreaterThan(10);
  await eraseUser(phone);
  expect(await found()).toEqual([]);
});
