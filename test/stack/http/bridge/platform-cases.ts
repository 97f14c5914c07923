/** Tests for every chat platform, independent of its protocol. Each platform's test file includes them. */
import { describe, expect, test } from 'vitest';
import { updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { call } from '../../support/client.ts';
import { report, untilShown, write } from '../../support/phones.ts';
import { type Caller, newCaller, newPhone } from '../../support/world.ts';

/** An account with a bot on a platform that records the calls it receives. */
interface PlatformWorld {
  caller: Caller;
  bot: string;
  phone: string;
  /** Sets the responses to the next calls that contain a user's message. */
  respond(...responses: Response[]): void;
  /** The calls in the order of arrival: the text of a user's message, or a short name of another call. */
  received(): string[];
  /** The value by which each call identifies its message, in the order of arrival. */
  identities(): unknown[];
}

/** A status, or a status with a body. */
type Response = number | { status: number; body: string };

interface PlatformCases {
  open(): Promise<PlatformWorld>;
  /** The response by which the platform rejects a message permanently. */
  rejection: Response;
}

/** Waits until a phone shows so many messages. Returns their contents, without ids and numbers. */
export const shownOn = async (phone: string, count: number) =>
  (await untilShown(phone, count)).map(({ data: { id: _id, from: _from, to: _to, ...content } }) => content);

/** The states in a contact's delivery log, oldest first. */
export const statesOf = async ({ token }: Caller, contact: string): Promise<string[]> =>
  ((await call('listLogs', { token, query: { contact } })).body ?? []).map(({ state }) => state).reverse();

const untilStates = ({ caller, phone }: PlatformWorld, ...states: string[]): Promise<void> =>
  expect.poll(() => statesOf(caller, phone)).toEqual(states);

const untilReceived = ({ received }: PlatformWorld, ...all: string[]): Promise<void> =>
  expect.poll(received).toEqual(all);

export const platformCases = ({ open, rejection }: PlatformCases): void => {
  describe('a chat platform', () => {
    test('receives a message again, in order and with the same identity, if it returns 503, then 401', {
      tags: 'long',
    }, async () => {
      const world = await open();
      world.respond(503, 401);
      for (const text of ['one', 'two']) await write(world.phone, world.bot, text);
      await untilReceived(world, 'one', 'one', 'one', 'two');
      const [first, second, third, last] = world.identities();
      expect([second, third]).toEqual([first, first]);
      expect(last).not.toEqual(first);
      expect(await statesOf(world.caller, world.phone)).toEqual(['received', 'received']);
    });

    test('receives a rejected message once: it is reception_failed_http, and the next message arrives', async () => {
      const world = await open();
      world.respond(rejection);
      await write(world.phone, world.bot, 'one');
      await untilStates(world, 'received', 'reception_failed_http');
      await write(world.phone, world.bot, 'two');
      await untilReceived(world, 'one', 'two');
      await untilStates(world, 'received', 'reception_failed_http', 'received');
    });

    test('receives no status of a message that was sent by POST /v1/message', async () => {
      const world = await open();
      const { token } = world.caller;
      const { body } = await call('sendMessage', {
        token,
        body: { to: world.phone, type: 'text', text: { body: 'Hi' } },
      });
      await untilStates(world, 'sent', 'delivered_to_server');
      for (const state of ['delivered_to_user', 'read', 'delivery_failed']) await report(body.id, state);
      // Entries are delivered in order: a status would arrive before this message.
      await write(world.phone, world.bot, 'end');
      await untilReceived(world, 'end');
    });
  });
};

/**
 * The test of a platform's messages to users of an account with sending hours.
 *
 * @param send - sends a message of the platform; returns its id
 */
export const hoursCase = (send: (caller: Caller, to: string, text: string) => Promise<string>): void => {
  test('a message waits for the sending hours of its account, unless it is a reply', async () => {
    const caller = await newCaller('bridge', 'messages', 'stats');
    const [from = '', to = ''] = [2, 4].map((hours) =>
      new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16),
    );
    const sending_hours = { between: [from, to] satisfies [string, string], time_zone: 'UTC' };
    const { bot_number = '' } = await updateAccount(caller.account, { sending_hours });
    const [writer, other] = [newPhone(), newPhone()];
    await write(writer, bot_number, 'Hello');
    await expect.poll(() => statesOf(caller, writer)).toEqual(['received']);
    const [waiting, reply] = [await send(caller, other, 'one'), await send(caller, writer, 'two')];
    expect((await untilShown(writer, 1)).map(({ data }) => data.id)).toEqual([reply]);
    const { body } = await call('readMessage', { token: caller.token, path: { id: waiting } });
    expect(body).toMatchObject({ states: [{ state: 'sent' }], waits_until: expect.stringContaining(`${from}:00`) });
  });
};
