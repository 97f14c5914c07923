/**
 * What the local page shows a user about businesses, and how the user withdraws consent there.
 *
 * @module-tag long
 */
import { expect, inject, test } from 'vitest';
import { consentsOf } from '../../../../infra/local/phone/user/consents.ts';
import type { ConsentView, KnownProperty } from '../../../../infra/local/phone/views.ts';
import { ReportedEvents } from '../../../../infra/local/simulators/app-network/reported-events.ts';
import { now, timestampOf } from '../../../../shared/core/clock.ts';
import { newId } from '../../../../shared/core/ids.ts';
import { type ConsentReceipt, recordConsentReceipt } from '../../../../shared/user-data/consent-receipts.ts';
import type { PropertyName } from '../../../../shared/users/profile-properties.ts';
import { answered, applied, updated } from '../../support/app-events.ts';
import { call } from '../../support/client.ts';
import { newCaller, newPhone } from '../../support/world.ts';

const { phone_url } = inject('stack');

const bots = [
  { id: 'clinic', name: 'Clinic', number: '447700900500', platform: 'Turn' },
  { id: 'panel', name: 'Panel', number: '447700900510', platform: 'RapidPro' },
];

/** Records a receipt of the clinic for a user at a time of a day of November 2026. */
const record = (phone: string, day: string, receipt: Partial<ConsentReceipt> & Pick<ConsentReceipt, 'properties'>) =>
  recordConsentReceipt(phone, {
    account: 'clinic',
    request: newId(),
    created: `2026-11-${day}T10:00:00.123456`,
    ...receipt,
  });

const iso = (day: string): string => `2026-11-${day}T10:00:00.123Z`;

const approved = { value: null, until: null, state: 'approved', ended: null, deletion: null };

test('each business is shown with what it got last, apart from other businesses and other users', async () => {
  const [phone, other, request, again, once] = [newPhone(), newPhone(), newId(), newId(), newId()];
  await record(phone, '20', { properties: ['device_platform', 'first_name'], request });
  await record(phone, '21', { properties: ['first_name'], request: again });
  await record(phone, '22', { properties: ['device_platform'], request: once });
  await record(phone, '21', { properties: ['last_name'], account: 'elsewhere' });
  await record(other, '21', { properties: ['citizenship'], account: 'panel' });
  const reportedEvents = new ReportedEvents();
  reportedEvents.introduce(phone, { panelist: true, properties: { first_name: { value: 'Thandi', source: 'user' } } });
  reportedEvents.record('e1', { type: 'user.stopped', data: { from: phone, to: '447700900510' } })({ status: 204 });

  expect(await consentsOf({ reportedEvents }, bots, phone)).toEqual([
    {
      business: { id: 'clinic', name: 'Clinic', number: '447700900500' },
      stopped: false,
      known: [
        { ...approved, property: 'first_name', value: 'Thandi', since: iso('21'), requests: [request, again] },
        { ...approved, property: 'device_platform', since: iso('22'), requests: [] },
      ],
    },
    { business: { id: 'panel', name: 'Panel', number: '447700900510' }, stopped: true, known: [] },
  ]);
});

test('a business knows a value until its last consent has ended, and owes the deletion until it has acknowledged it', async () => {
  const [phone, first, second, third] = [newPhone(), newId(), newId(), newId()];
  const reportedEvents = new ReportedEvents();
  reportedEvents.introduce(phone, { panelist: true, properties: { first_name: { value: 'Thandi', source: 'user' } } });
  const known = async (): Promise<KnownProperty[]> =>
    (await consentsOf({ reportedEvents }, bots, phone)).flatMap((consent) => consent.known);
  const first_name = ['first_name'];
  const [later, latest] = [30, 60].map((days) => timestampOf(now() + days * 86_400_000));

  await record(phone, '10', { properties: first_name, request: first, valid_until: latest ?? '' });
  await record(phone, '11', { properties: first_name, request: second, valid_until: later ?? '' });
  expect(await known()).toMatchObject([{ until: `${latest?.slice(0, 23)}Z`, requests: [first, second] }]);
  await record(phone, '12', { properties: first_name, request: third });
  expect(await known()).toMatchObject([{ until: null, requests: [first, second, third] }]);
  await record(phone, '13', { properties: first_name, request: third, event: 'withdrawn' });
  await record(phone, '14', { properties: first_name, request: first, event: 'expired' });
  expect(await known()).toMatchObject([
    { state: 'approved', value: 'Thandi', since: iso('11'), until: `${later?.slice(0, 23)}Z`, requests: [second] },
  ]);
  await record(phone, '15', { properties: first_name, request: second, event: 'withdrawn' });
  const ended = { property: 'first_name', value: null, since: iso('12'), until: null, requests: [] };
  expect(await known()).toEqual([{ ...ended, state: 'withdrawn', ended: iso('15'), deletion: 'owed' }]);
  for (const request of [first, second]) {
    await record(phone, '16', { properties: first_name, request, event: 'deleted' });
  }
  expect(await known()).toMatchObject([{ state: 'withdrawn', deletion: 'owed' }]);
  await record(phone, '16', { properties: first_name, request: third, event: 'deleted' });
  expect(await known()).toMatchObject([{ state: 'withdrawn', deletion: 'done' }]);
});

test('a consent has expired at its end, before a worker has recorded it', async () => {
  const phone = newPhone();
  await record(phone, '10', { properties: ['last_name'], valid_until: '2026-11-11T10:00:00.123456' });
  const [clinic] = await consentsOf({ reportedEvents: new ReportedEvents() }, bots, phone);
  expect(clinic?.known).toMatchObject([{ state: 'expired', ended: iso('11'), deletion: 'owed', requests: [] }]);
});

const post = async (path: string, body: object): Promise<{ status: number; text: string }> => {
  const response = await fetch(phone_url + path, { method: 'POST', body: JSON.stringify(body) });
  return { status: response.status, text: await response.text() };
};

test('the page withdraws a property of a request; a repeat changes nothing, and unknown ones are rejected', async () => {
  const [{ account, token }, phone] = [await newCaller('user_data'), newPhone()];
  await applied(updated(phone, { properties: { first_name: { value: 'Thandi', source: 'user' } } }));
  const names: PropertyName[] = ['first_name', 'last_name'];
  const body = { reason: 'To know you', data: names.map((property) => ({ property })), valid_days: 7 };
  const { requestId: id } = (await call('startUserDataRequest', { token, path: { phone_number: phone }, body })).body;
  await applied(answered(id, { first_name: 'approved' }));
  const bot = { id: account, name: 'Test', number: newPhone(), platform: 'Turn' };
  const known = async (): Promise<ConsentView['known']> =>
    (await consentsOf({ reportedEvents: new ReportedEvents() }, [bot], phone)).flatMap((consent) => consent.known);
  expect(await known()).toMatchObject([{ state: 'approved', until: expect.any(String), requests: [id] }]);

  const withdraw = (request: string, properties: string[]) => post(`/requests/${request}/withdrawals`, { properties });
  expect(await withdraw(newId(), ['first_name'])).toMatchObject({
    status: 422,
    text: expect.stringContaining('is the id of no request'),
  });
  expect(await withdraw(id, ['first_name', 'citizenship'])).toMatchObject({
    status: 422,
    text: expect.stringContaining('is not among the properties that this request asks for'),
  });
  expect(await known()).toMatchObject([{ state: 'approved' }]);

  expect(await withdraw(id, ['first_name'])).toMatchObject({ status: 200 });
  const once = await known();
  expect(once).toMatchObject([{ state: 'withdrawn', value: null, deletion: 'owed', requests: [] }]);
  expect(await withdraw(id, ['first_name'])).toMatchObject({ status: 200 });
  expect(await known()).toEqual(once);

  await call('acknowledgeDeletion', { token, path: { request_id: id } });
  expect(await known()).toMatchObject([{ state: 'withdrawn', deletion: 'done' }]);
});
