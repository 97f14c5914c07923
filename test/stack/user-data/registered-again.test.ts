import { randomUUID } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { createAccount } from '../../../infra/operator/queries/accounts-admin.ts';
import { documents } from '../../../shared/table/client.ts';
import { removeUser, resumeErasure } from '../../../shared/user-data/erasure.ts';
import { answerRequest } from '../../../shared/user-data/request-answers.ts';
import { fetchRequest, startRequest } from '../../../shared/user-data/requests.ts';
import { updateUser } from '../../../shared/users/users.ts';
import { useOwnTable } from '../support/own-table.ts';
import { newAccountId, newPhone } from '../support/world.ts';

useOwnTable('again');

const register = (phone_number: string, value: string) =>
  updateUser(randomUUID(), { phone_number, properties: { first_name: { value, source: 'user' } } });

const asked = async () => {
  const { id: account } = await createAccount({ name: 'Test', id: newAccountId() });
  const phone = newPhone();
  await register(phone, 'before');
  const data = [{ property: 'first_name' as const, required: false }];
  const { id } = await startRequest(account, phone, { reason: 'To know you', data }, undefined);
  return { account, phone, id };
};

test('an answer releases nothing if the user is removed and the number registered again before its write', async () => {
  const { account, phone, id } = await asked();
  const send: typeof documents.send = documents.send.bind(documents);
  let isAgain = false;
  vi.spyOn(documents, 'send').mockImplementation(async (command) => {
    if (!isAgain && command.constructor.name === 'TransactWriteCommand') {
      isAgain = true;
      await removeUser(randomUUID(), phone);
      await register(phone, 'after');
    }
    return send(command);
  });
  await answerRequest(id, { first_name: 'approved' });
  vi.restoreAllMocks();
  expect(await fetchRequest(account, id)).toEqual({ status: 'pending', results: {} });
});

test("an answer to a previous user's request releases nothing of the new user of the number", async () => {
  const { account, phone, id } = await asked();
  await removeUser(randomUUID(), phone);
  await register(phone, 'after');
  expect(await answerRequest(id, { first_name: 'approved' })).toEqual({ unknown: true });
  expect(await fetchRequest(account, id)).toEqual({ status: 'pending', results: {} });
  await resumeErasure(phone);
});
