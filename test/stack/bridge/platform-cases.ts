/** What every chat platform fulfils towards an account's users, whatever its calls look like. Each platform's tests include these. */
import { describe, expect, test } from 'vitest';
import { call } from '../support/client.ts';
import { report, write } from '../support/phones.ts';
import type { Caller } from '../support/world.ts';

/** An account with a bot on a platform that keeps what it is sent. */
interface PlatformWorld {
  caller: Caller;
  bot: string;
  phone: string;
  /** Returns these statuses to the next calls that are about a user's message. */
  respond(...responses: Response[]): void;
  /** The calls in the order in which they came: the text of a user's message, or another short name. */
  received(): string[];
  /** What shows that several calls are about the same message, in the order in which they came. */
  identities(): unknown[];
}

/** A status, or a status with a body. */
type Response = number | { status: number; body: string };

interface PlatformCases {
  open(): Promise<PlatformWorld>;
  /** Rejects one message, and says so. */
  rejection: Response;
}

/** States in the logs of one contact, oldest first. */
const statesOf = async ({ token }: Caller, contact: string): Promise<string[]> =>
  ((await call('listLogs', { token, query: { contact } })).body ?? []).map(({ state }) => state).reverse();

const untilStates = ({ caller, phone }: PlatformWorld, ...states: string[]): Promise<void> =>
  expect.poll(() => statesOf(caller, phone)).toEqual(states);

const untilReceived = ({ received }: PlatformWorld, ...all: string[]): Promise<void> =>
  expect.poll(received).toEqual(all);

export const platformCases = ({ open, rejection }: PlatformCases): void => {
  describe('a platform, as every one,', () => {
    test.each([
      ['fails', [503, 500]],
      ['does not accept its token', [401, 401]],
      ['forbids the call', [403, 403]],
      ['does not know its channel', [404, 404]],
    ])('gets a message again, in order and as the same one, if it %s', async (_, statuses) => {
      const world = await open();
      world.respond(...statuses);
      for (const text of ['one', 'two']) await write(world.phone, world.bot, text);
      await untilReceived(world, 'one', 'one', 'one', 'two');
      const [first, second, third, last] = world.identities();
      expect([second, third]).toEqual([first, first]);
      expect(last).not.toEqual(first);
      expect(await statesOf(world.caller, world.phone)).toEqual(['received', 'received']);
    });

    test('gets a message once that it rejects: the log has reception_failed_http, and the next message arrives', async () => {
      const world = await open();
      world.respond(rejection);
      await write(world.phone, world.bot, 'one');
      await untilStates(world, 'received', 'reception_failed_http');
      await write(world.phone, world.bot, 'two');
      await untilReceived(world, 'one', 'two');
      await untilStates(world, 'received', 'reception_failed_http', 'received');
    });

    test('gets no status of a message that the API sent', async () => {
      const world = await open();
      const { token } = world.caller;
      const { body } = await call('sendMessage', {
        token,
        body: { to: world.phone, type: 'text', text: { body: 'Hi' } },
      });
      await untilStates(world, 'sent', 'delivered_to_server');
      for (const state of ['delivered_to_user', 'read', 'delivery_failed']) await report(body.id, state);
      // A status comes before a message that was written later.
      await write(world.phone, world.bot, 'end');
      await untilReceived(world, 'end');
    });
  });
};
