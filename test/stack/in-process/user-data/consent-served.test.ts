/**
 * Consent that ends, on the served stack: from the app network's event to the results, the webhook and the operator.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { update } from '../../../../shared/table/client.ts';
import { dueAt } from '../../../../shared/table/keys.ts';
import { readConsents } from '../../../../shared/user-data/consents.ts';
import { consentKey, requestKey } from '../../../../shared/user-data/entities.ts';
import { answered, applied, rejected, updated, withdrawn } from '../../support/app-events.ts';
import { call, fail, sendRaw } from '../../support/client.ts';
import { DestinationServer } from '../../support/destination-server.ts';
import { operator } from '../../support/operator.ts';
import { newCaller, newPhone } from '../../support/world.ts';

const properties = {
  first_name: { value: 'Thandi', source: 'user' },
  device_make: { value: 'Acme', source: 'device' },
};

/** An account with a webhook, and a user. */
const newWorld = async () => {
  const platform = await DestinationServer.start();
  onTestFinished(() => platform.close());
  const { account, token } = await newCaller('user_data');
  const phone = newPhone();
  const settings = { url: platform.url, secret: `whsec_${'A'.repeat(32)}` };
  await updateAccount(account, { bot_number: newPhone(), platform: { name: 'webhook', settings } });
  await applied(updated(phone, { properties }));
  return { account, token, phone, platform };
};

type World = Awaited<ReturnType<typeof newWorld>>;

/** Asks the user for both properties. Returns the id of the request, which the user has approved. */
const approved = async ({ token, phone }: World, valid_days?: number): Promise<string> => {
  const data = [{ property: 'first_name' as const }, { property: 'device_make' as const }];
  const body = { reason: 'To know you', data, ...(valid_days !== undefined && { valid_days }) };
  const { requestId: id } = (await call('startUserDataRequest', { token, path: { phone_number: phone }, body })).body;
  await applied(answered(id, { first_name: 'approved' }));
  return id;
};

const resultsOf = async ({ token }: World, id: string) =>
  (await call('fetchUserData', { token, path: { id } })).body.results;

const acknowledge = ({ token }: Pick<World, 'token'>, request_id: string) =>
  sendRaw('acknowledgeDeletion', { token, path: { request_id } });

/** What the webhook was notified of about ended consent. */
const ends = ({ platform }: World) =>
  platform.calls.flatMap(({ json: { user_data } }) => (user_data?.properties ? [user_data] : []));

const outstanding = async (account: string): Promise<{ request_id: string; days: number }[]> => {
  const { stdout } = await operator('user', 'acknowledgements', '--account', account, '--json');
  return JSON.parse(stdout);
};

test('a withdrawal reaches the results, the webhook and the operator, until the business acknowledges the deletion', async () => {
  const world = await newWorld();
  const id = await approved(world);
  expect(await resultsOf(world, id)).toMatchObject({ first_name: { value: 'Thandi' } });
  expect(await acknowledge(world, id)).toMatchObject({ status: 409, body: { code: 'consent_not_ended' } });

  await applied(withdrawn(id, 'first_name'));
  expect(await resultsOf(world, id)).toMatchObject({
    first_name: { status: 'withdrawn' },
    device_make: { status: 'approved' },
  });
  await expect
    .poll(() => ends(world))
    .toMatchObject([
      { id, status: 'withdrawn', properties: ['first_name'], contact: `${world.phone}@users.example.com` },
    ]);
  expect(await outstanding(world.account)).toMatchObject([{ request_id: id, days: 0 }]);

  const stranger = await newCaller('user_data');
  expect(await acknowledge(stranger, id)).toMatchObject({ status: 404, body: { code: 'request_not_found' } });
  expect(await acknowledge(world, randomUUID())).toMatchObject({ status: 404, body: { code: 'request_not_found' } });
  expect(await outstanding(world.account)).toHaveLength(1);
  expect(await acknowledge(world, id.toUpperCase())).toMatchObject({ status: 204 });
  expect(await acknowledge(world, id)).toMatchObject({ status: 204 });
  expect(await outstanding(world.account)).toEqual([]);
  const words = await operator('user', 'acknowledgements');
  expect({ code: words.code, stdout: words.stdout }).toEqual({ code: 0, stdout: expect.not.stringContaining(id) });
});

test('a withdrawal of what was not asked for is rejected, and so is one without properties', async () => {
  const world = await newWorld();
  const id = await approved(world);
  expect(await rejected(withdrawn(id, 'first_name', 'last_name'))).toEqual([
    '#/data/properties/1 is not among the properties that this request asks for',
  ]);
  expect(await resultsOf(world, id)).toMatchObject({ first_name: { status: 'approved' } });
  expect(await rejected(withdrawn(id))).toEqual(['#/data/properties must name at least one property']);
  expect(await rejected(withdrawn(randomUUID(), 'first_name'))).toEqual([
    '#/data/id is the id of no request, or of one that has expired',
  ]);
});

test.each([0, 366, 1.5, '7', null])('valid_days of %j returns 422, and nothing is asked', async (valid_days) => {
  const { token, phone } = await newWorld();
  const body = { reason: 'To know you', data: [{ property: 'device_make' }], valid_days };
  const { body: problem } = await fail('startUserDataRequest', { token, path: { phone_number: phone }, body } as never);
  expect(problem).toMatchObject({ status: 422, errors: [{ pointer: '#/valid_days' }] });
  if (typeof valid_days === 'number') {
    expect(problem.errors?.[0]?.detail).toBe('must be a whole number of days from 1 to 365');
  }
});

/** Moves the end of a consent into the past, with its request. */
const endNow = async (id: string): Promise<void> => {
  const past = '2020-01-01T00:00:00.000000';
  const { request, consents } = await readConsents(id);
  const [consent] = consents;
  if (request === undefined || consent === undefined) throw new Error(`There is no consent of ${id}.`);
  for (const { Key, map, entries } of [
    { Key: consentKey(id, consent.created), map: 'properties', entries: consent.properties },
    { Key: requestKey(id), map: 'results', entries: request.results },
  ]) {
    const ended = Object.entries(entries).map(([name, entry]) => [name, { ...entry, valid_until: past }]);
    const { gsi1pk, gsi1sk } = dueAt('consents', { account: consent.account, id, time: past });
    await update({
      Key,
      UpdateExpression: `SET #map = :map${map === 'properties' ? ', gsi1pk = :due, gsi1sk = :past' : ''}`,
      ExpressionAttributeNames: { '#map': map },
      ExpressionAttributeValues: {
        ':map': Object.fromEntries(ended),
        ...(map === 'properties' && { ':due': gsi1pk, ':past': gsi1sk }),
      },
    });
  }
};

test('a consent that expires is removed by a worker, and the webhook is notified', async () => {
  const world = await newWorld();
  const id = await approved(world, 7);
  const { first_name } = await resultsOf(world, id);
  const valid_until = first_name?.status === 'approved' ? first_name.valid_until : undefined;
  const days = (Date.parse(`${valid_until}Z`) - Date.now()) / 86_400_000;
  expect(days).toBeGreaterThan(6.9);
  expect(days).toBeLessThan(7.1);
  await endNow(id);
  expect(await resultsOf(world, id)).toMatchObject({ first_name: { status: 'expired' } });
  await expect
    .poll(() => ends(world))
    .toMatchObject([{ id, status: 'expired', properties: ['device_make', 'first_name'] }]);
  expect(await acknowledge(world, id)).toMatchObject({ status: 204 });
});

test('an acknowledgement directly after the end does not wait for the worker', async () => {
  const world = await newWorld();
  const id = await approved(world, 7);
  await endNow(id);
  expect(await acknowledge(world, id)).toMatchObject({ status: 204 });
  expect(await outstanding(world.account)).toEqual([]);
});
