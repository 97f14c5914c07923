/**
 * Events with a `timestamp`: an event that is older than the stored data changes nothing, however late it arrives.
 *
 * @module-tag long
 */
import { describe, expect, test } from 'vitest';
import { findUser, registerUser } from '../../../../infra/operator/queries/users-admin.ts';
import { eraseUser, resumeErasure } from '../../../../shared/user-data/erasure.ts';
import { latestProfile } from '../../../../shared/users/users.ts';
import { answered, applied, at, named, rejected, removed, updated } from '../../support/app-events.ts';
import { call } from '../../support/client.ts';
import { newCaller, newPhone } from '../../support/world.ts';

/** Four times of one morning, in order. */
const [T1, T2, T3, T4] = ['08:00:00', '08:00:00.001', '08:00:00.001001Z', '09:30:00+01:00'].map(
  (time) => `2026-11-20T${time}${/[Z+]/.test(time) ? '' : 'Z'}`,
) as [string, string, string, string];

const firstName = async (phone: string): Promise<string | undefined> =>
  (await latestProfile(phone))?.profile.first_name?.value;

const property = (value: string) => ({ value, source: 'user' });

describe('an update that is older than the stored data', () => {
  test('changes no newer property, and sets the others', async () => {
    const phone = newPhone();
    await applied(at(T3, named(phone, 'Newer')));
    const properties = { first_name: property('Older'), last_name: property('Older') };
    await applied(at(T2, updated(phone, { properties })));
    expect((await latestProfile(phone))?.profile).toEqual({
      first_name: property('Newer'),
      last_name: property('Older'),
    });
  });

  test('does not restore a removed property', async () => {
    const phone = newPhone();
    await applied(at(T3, updated(phone, { properties: { first_name: { value: null } } })));
    await applied(at(T2, named(phone, 'Older')));
    expect(await firstName(phone)).toBeUndefined();
    await applied(at(T4, named(phone, 'Newer')));
    expect(await firstName(phone)).toBe('Newer');
  });

  test("does not change panelist, whether it was set by an event or by the operator's command", async () => {
    const [phone, other] = [newPhone(), newPhone()];
    await applied(at(T3, updated(phone, { panelist: true })));
    await applied(at(T2, updated(phone, { panelist: false })));
    await registerUser({ phone_number: other, panelist: true });
    await applied(at(T4, updated(other, { panelist: false })));
    expect([(await findUser(phone))?.panelist, (await findUser(other))?.panelist]).toEqual([true, true]);
  });

  test('changes nothing after an update without a timestamp, whose time is that of its arrival', async () => {
    const phone = newPhone();
    await applied(named(phone, 'Newer'));
    await applied(at(T4, named(phone, 'Older')));
    expect(await firstName(phone)).toBe('Newer');
  });

  test.each(['in order', 'in reverse order', 'at the same time'])('loses if updates arrive %s', async (order) => {
    const phone = newPhone();
    const events = [at(T1, named(phone, 'One')), at(T2, named(phone, 'Two')), at(T3, named(phone, 'Three'))];
    if (order === 'at the same time') await Promise.all(events.map(applied));
    else for (const event of order === 'in order' ? events : events.toReversed()) await applied(event);
    expect(await firstName(phone)).toBe('Three');
  });
});

test('updates with equal timestamps are applied in the order of arrival', async () => {
  const phone = newPhone();
  await applied([at(T2, named(phone, 'One')), at(T2, named(phone, 'Two'))]);
  expect(await firstName(phone)).toBe('Two');
});

test('a timestamp in the future counts as the time of arrival, so that later updates are applied', async () => {
  const phone = newPhone();
  await applied(at('2999-01-01T00:00:00Z', named(phone, 'One')));
  await applied(at(new Date(Date.now() + 60_000).toISOString(), named(phone, 'Two')));
  await applied(named(phone, 'Three'));
  expect(await firstName(phone)).toBe('Three');
});

describe('a removed user', () => {
  test('is not registered again by the repeat of an update that was applied, rejected or failed', async () => {
    const phone = newPhone();
    const wasApplied = at(T1, named(phone, 'Applied'));
    await applied(wasApplied);
    const wasRejected = at(T2, updated(phone, { panelist: 'yes' }));
    await rejected(wasRejected);
    // An update whose first attempt failed before any write.
    const hadFailed = at(T2, named(phone, 'Failed'));
    await applied(at(T3, removed(phone)));
    await applied(at(T4, removed(phone)));

    await applied(wasApplied);
    await applied({ ...wasRejected, data: { phone_number: phone, panelist: true } });
    await applied(hadFailed);
    await applied(at(T4, named(phone, 'Of the same time')));
    expect(await findUser(phone)).toBeUndefined();
  });

  test('is registered again by a newer update', async () => {
    const phone = newPhone();
    await applied(at(T2, removed(phone)));
    await applied(at(T3, named(phone, 'New')));
    await applied(at(T1, updated(phone, { properties: { last_name: property('Old') } })));
    expect((await latestProfile(phone))?.profile).toEqual({ first_name: property('New') });
  });

  test('stays removed after an older update if an operator, or an event without a timestamp, removed them', async () => {
    const [phone, other] = [newPhone(), newPhone()];
    await applied([at(T1, named(phone, 'A')), removed(other)]);
    await eraseUser(phone);
    await applied([at(T4, named(phone, 'B')), at(T4, named(other, 'B'))]);
    expect([await findUser(phone), await findUser(other)]).toEqual([undefined, undefined]);
  });

  test('who has registered again loses only older data if the removal arrives late', async () => {
    const phone = newPhone();
    const known = { first_name: property('Old'), last_name: property('Old') };
    await applied(at(T1, updated(phone, { panelist: true, properties: known })));
    const { token } = await newCaller('user_data');
    const body = { reason: 'To greet you', data: [{ property: 'last_name' as const }] };
    const { body: asked } = await call('startUserDataRequest', { token, path: { phone_number: phone }, body });
    await applied(at(T3, named(phone, 'New')));
    await applied(at(T2, removed(phone)));
    expect(await latestProfile(phone)).toMatchObject({ profile: { first_name: property('New') } });
    expect((await latestProfile(phone))?.profile.last_name).toBeUndefined();
    expect(await findUser(phone)).toEqual({ phone_number: phone, panelist: false });
    // The removal has ended the request.
    expect(await rejected(answered(asked.requestId, { last_name: 'approved' }))).toHaveLength(1);
    await resumeErasure(phone);
    expect(await firstName(phone)).toBe('New');
  });

  test('who has registered again is not removed by a removal that is older than the first', async () => {
    const phone = newPhone();
    await applied(at(T2, removed(phone)));
    await applied(at(T3, named(phone, 'New')));
    await applied(at(T1, removed(phone)));
    expect(await firstName(phone)).toBe('New');
  });
});
