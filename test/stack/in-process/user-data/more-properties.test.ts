/**
 * Properties of a deployment: events, requests and the API description have them.
 *
 * @module-tag long
 */
import './with-more-properties.ts';
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { handler as receiveAppEvents } from '../../../../functions/app/receive-app-events.ts';
import { handler as readApiDescription } from '../../../../functions/description/read-api-description.ts';
import { handler as retrieveUserData } from '../../../../functions/user-data/retrieve-user-data.ts';
import { handler as startUserDataRequest } from '../../../../functions/user-data/start-user-data-request.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { newPhone } from '../../support/world.ts';
import { calling } from '../failing-calls/scenario.ts';
import { newBusiness } from '../failing-calls/world.ts';

useOwnTable('more-properties');

const NAMES = ['device_tac', 'loyalty_tier', 'shoe_size'];

/** A user with a value of each of the properties. */
const newUser = async (): Promise<string> => {
  const phone = newPhone();
  const properties = Object.fromEntries(NAMES.map((name) => [name, { value: `of ${name}`, source: 'user' }]));
  const body = { id: randomUUID(), type: 'user.updated', data: { phone_number: phone, properties } };
  expect(await calling(receiveAppEvents, { account: 'app-network', body })()).toMatchObject({ status: 204 });
  return phone;
};

const ask = (...names: string[]) => names.map((property) => ({ property }));

test('are reported by the app network, granted at once or by the user, and unknown names are rejected', async () => {
  const [{ account }, phone] = [await newBusiness(), await newUser()];
  const retrieve = (...names: string[]) =>
    calling(retrieveUserData, { account, path: { id: phone }, body: { data: ask(...names) } })();
  expect(await retrieve('device_tac', 'loyalty_tier')).toMatchObject({
    status: 200,
    body: { results: { device_tac: { value: 'of device_tac' }, loyalty_tier: { value: 'of loyalty_tier' } } },
  });
  expect(await retrieve('shoe_size')).toMatchObject({ status: 403, body: { code: 'approval_required' } });
  const body = { reason: 'To deliver shoes', data: ask('shoe_size') };
  expect(await calling(startUserDataRequest, { account, path: { phone_number: phone }, body })()).toMatchObject({
    status: 200,
    body: { status: 'pending' },
  });
  expect(await retrieve('hat_size')).toMatchObject({
    status: 422,
    body: {
      errors: [
        { pointer: '#/data/0/property', detail: expect.stringMatching(/"device_tac", "loyalty_tier" or "shoe_size"$/) },
      ],
    },
  });
});

test('are in each list of names of the API description, and in its table, after those of the service', async () => {
  const { body } = await calling(readApiDescription, { account: 'any' })();
  const text = JSON.stringify(body);
  const lists = text.match(/"enum":\["first_name"[^\]]*\]/g) ?? [];
  // The named list that operations share, and the names in an event of the app network.
  expect(lists).toHaveLength(2);
  for (const list of lists) expect(list).toContain('"device_model","device_tac","loyalty_tier","shoe_size"]');
  const { info } = Object(body);
  expect(info.description).toMatch(
    /\| `device_tac` \|[^\n]*\| at once \|\n\| `loyalty_tier` \|[^\n]*\| at once \|\n\| `shoe_size` \|[^\n]*\| by the user \|/,
  );
});
