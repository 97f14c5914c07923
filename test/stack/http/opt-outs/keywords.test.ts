/** Opt-out keywords on the served stack: what follows when a user writes STOP to a bot. */
import { randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { applied } from '../../support/app-events.ts';
import { call, fail } from '../../support/client.ts';
import { DestinationServer } from '../../support/destination-server.ts';
import { shownOn, untilShown } from '../../support/phones.ts';
import { newCaller, newPhone } from '../../support/world.ts';

const CONFIRMATION = 'You get no more messages of us.';

/** An account with a bot, a webhook and a setting for keywords, and a user. */
const newWorld = async (opt_out_keywords?: { action: 'tell' | 'opt_out'; confirmation?: string }) => {
  const webhook = await DestinationServer.start();
  onTestFinished(() => webhook.close());
  const caller = await newCaller('messages', 'stats', 'account', 'bridge');
  const { token } = caller;
  const [bot, phone] = [newPhone(), newPhone()];
  const settings = { url: webhook.url, secret: `whsec_${'A'.repeat(32)}` };
  await updateAccount(caller.account, { bot_number: bot, platform: { name: 'webhook', settings } });
  if (opt_out_keywords) await call('updateAccount', { token, body: { opt_out_keywords } });
  const write = (body: string, id = randomUUID()) =>
    applied({ id, type: 'message.received', data: { from: phone, to: bot, type: 'text', text: { body } } });
  const notices = () => webhook.calls.flatMap(({ json }) => json.message?.text.body ?? json.user ?? []);
  const send = () => call('sendMessage', { token, body: { to: phone, type: 'text', text: { body: 'Hello' } } });
  const failures = async () =>
    ((await call('listLogs', { token, query: { contact: phone, state: 'sending_failed' } })).body ?? []).map(
      ({ reason }) => reason,
    );
  return { ...caller, bot, phone, write, notices, send, failures };
};

const user = (phone: string, state: string) => ({
  contact: expect.stringContaining(`${phone}@`),
  state,
  by: 'message',
});

const texts = async (phone: string) => (await shownOn(phone)).map((one) => JSON.stringify(one));

describe('STOP', () => {
  test('is a message as any other, if the account has set nothing', async () => {
    const { write, notices, send, phone } = await newWorld();
    await write('STOP');
    await expect.poll(notices).toEqual(['STOP']);
    await send();
    await untilShown(phone, 1);
    expect(notices()).toEqual(['STOP']);
  });

  test('is reported to the webhook with "tell", and messages are still delivered', async () => {
    const { write, notices, send, phone } = await newWorld({ action: 'tell' });
    await write('STOP');
    await expect.poll(notices).toEqual(['STOP', user(phone, 'stopped')]);
    await send();
    await untilShown(phone, 1);
    await write('start');
    await expect.poll(notices).toEqual(['STOP', user(phone, 'stopped'), 'start', user(phone, 'started')]);
  });

  test('opts the user out with "opt_out", who gets one confirmation, until START', async () => {
    const { write, notices, send, failures, phone } = await newWorld({ action: 'opt_out', confirmation: CONFIRMATION });
    const event = randomUUID();
    await write('Stop!', event);
    await write('Stop!', event);
    await untilShown(phone, 1);
    await write('Stop');
    await send();
    await expect.poll(failures).toEqual(['opted_out']);
    expect(await texts(phone)).toEqual([expect.stringContaining(CONFIRMATION)]);
    await expect.poll(notices).toEqual(['Stop!', user(phone, 'stopped'), 'Stop']);
    await write('START');
    await expect.poll(notices).toEqual(['Stop!', user(phone, 'stopped'), 'Stop', 'START', user(phone, 'started')]);
    await send();
    await untilShown(phone, 2);
  });

  test('needs no confirmation', async () => {
    const { write, send, failures, phone } = await newWorld({ action: 'opt_out' });
    await write('STOP');
    await send();
    await expect.poll(failures).toEqual(['opted_out']);
    expect(await texts(phone)).toEqual([]);
  });

  test('in the app is not ended by START in a message', async () => {
    const { write, send, failures, phone, bot } = await newWorld({ action: 'opt_out', confirmation: CONFIRMATION });
    await applied({ id: randomUUID(), type: 'user.stopped', data: { from: phone, to: bot } });
    await write('STOP');
    await write('START');
    await send();
    await expect.poll(failures).toEqual(['opted_out']);
    expect(await texts(phone)).toEqual([]);
  });

  test('as a test message has the same effect', async () => {
    const { token, bot, send, failures, phone } = await newWorld({ action: 'opt_out', confirmation: CONFIRMATION });
    const body = { message: { type: 'text' as const, from: phone, text: { body: 'stop' } } };
    await call('receiveTestMessage', { token, path: { bot_phone_number: bot }, body });
    await untilShown(phone, 1);
    await send();
    await expect.poll(failures).toEqual(['opted_out']);
  });
});

describe('the setting', () => {
  test('is shown, and removed with null', async () => {
    const { token } = await newWorld({ action: 'opt_out', confirmation: CONFIRMATION });
    const shown = async () => (await call('readConfiguration', { token })).body.configuration.opt_out_keywords;
    await expect.poll(shown).toEqual({ action: 'opt_out', confirmation: CONFIRMATION });
    await call('updateAccount', { token, body: { opt_out_keywords: null } });
    await expect.poll(shown).toBeUndefined();
  });

  test.each<[object, string]>([
    [{ action: 'block' }, '#/opt_out_keywords/action'],
    [{}, '#/opt_out_keywords/action'],
    [{ action: 'opt_out', confirmation: ' ' }, '#/opt_out_keywords/confirmation'],
    [{ action: 'opt_out', confirmation: 'x'.repeat(4_097) }, '#/opt_out_keywords/confirmation'],
  ])('%j returns 422', async (opt_out_keywords, pointer) => {
    const { token } = await newWorld();
    const refused = await fail('updateAccount', { token, body: { opt_out_keywords } as never });
    expect([refused.status, refused.body.errors?.map((error) => error.pointer)]).toEqual([422, [pointer]]);
  });
});
