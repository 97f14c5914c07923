/** Opt-outs on the served stack: from the phone to the log, the platform and the erasure. */
import { randomUUID } from 'node:crypto';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { applied, rejected, updated } from '../../support/app-events.ts';
import { call, fail } from '../../support/client.ts';
import { DestinationServer } from '../../support/destination-server.ts';
import { shownOn, untilShown } from '../../support/phones.ts';
import { type Caller, newCaller, newPhone } from '../../support/world.ts';

const { phone_url } = inject('stack');

/** An account with a bot and a webhook, and a user. */
const newWorld = async () => {
  const platform = await DestinationServer.start();
  onTestFinished(() => platform.close());
  const caller = await newCaller('messages', 'stats', 'user_data');
  const [bot, phone] = [newPhone(), newPhone()];
  const settings = { url: platform.url, secret: `whsec_${'A'.repeat(32)}` };
  await updateAccount(caller.account, { bot_number: bot, platform: { name: 'webhook', settings } });
  await applied(updated(phone, { properties: { device_make: { value: 'Acme', source: 'device' } } }));
  return { caller, bot, phone, platform };
};

/** The user stops the business of a bot, or starts it again, on the phone. */
const onPhone = async (method: 'PUT' | 'DELETE', phone: string, bot: string): Promise<void> => {
  expect((await fetch(`${phone_url}/phones/${phone}/stops/${bot}`, { method })).status).toBe(200);
};

const send = ({ token }: Caller, to: string | string[]) =>
  call('sendMessage', { token, body: { to, type: 'text', text: { body: 'Hello' } } });

/** The failures of an account's messages to a user, with their reasons. */
const failures = async ({ token }: Caller, contact: string) =>
  ((await call('listLogs', { token, query: { contact, state: 'sending_failed' } })).body ?? []).map(
    ({ reason }) => reason,
  );

const notices = (platform: DestinationServer) => platform.calls.flatMap(({ json }) => json.user?.state ?? []);

test('a user who stops a business receives nothing of it until the user starts it again', async () => {
  const { caller, bot, phone, platform } = await newWorld();
  const { token } = caller;
  await onPhone('PUT', phone, bot);
  expect(await (await fetch(`${phone_url}/phones/${phone}/stops`)).json()).toEqual([bot]);
  const other = newPhone();
  await send(caller, phone);
  await send(caller, [phone, other]);
  await untilShown(other, 1);
  await expect.poll(() => failures(caller, phone)).toEqual(['opted_out', 'opted_out']);
  expect(await shownOn(phone)).toEqual([]);

  const path = { phone_number: phone };
  const body = { reason: 'To know you', data: [{ property: 'device_make' as const }] };
  const refused = [
    await fail('startUserDataRequest', { token, path, body }),
    await fail('retrieveUserData', { token, path: { id: phone }, body: { data: body.data } }),
  ];
  expect(refused.map(({ status, body: { code } }) => [status, code])).toEqual(Array(2).fill([403, 'user_opted_out']));

  await onPhone('DELETE', phone, bot);
  await send(caller, phone);
  await untilShown(phone, 1);
  await call('startUserDataRequest', { token, path, body });
  await expect.poll(() => notices(platform)).toEqual(['stopped', 'started']);
});

describe('a report of a stop', () => {
  const event = (data: object) => ({ id: randomUUID(), type: 'user.stopped', data });

  test.each<[string, object, string[]]>([
    ['without a bot', { from: newPhone() }, ['#/data/to is required']],
    [
      'with other numbers',
      { from: '+27821234567', to: 7 },
      [
        '#/data/from must be a phone number in international format, 7 to 15 digits without +',
        '#/data/to must be a string, not a number',
      ],
    ],
  ])('%s is rejected', async (_, data, errors) => {
    const found = await rejected(event(data));
    expect(found).toHaveLength(errors.length);
    for (const [index, error] of errors.entries()) expect(found[index]).toContain(error.slice(0, 20));
  });
});
