/**
 * An hour without a listener, on the clock of a separate stack: 250 events wait, and arrive once and in order.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import { expect, inject, onTestFinished, test } from 'vitest';
import { listen } from '../../../../infra/operator/listen/listener.ts';
import { beginListening, pendingEvents } from '../../../../infra/operator/listen/mode.ts';
import { Session } from '../../../../infra/operator/listen/session.ts';
import { createAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { UNLIMITED } from '../../../support/unlimited.ts';
import { DestinationServer } from '../../support/destination-server.ts';
import { serveMovingStack } from '../../support/moving-clock.ts';
import { newAccountId, newPhone } from '../../support/world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** A stack with an account whose events wait for listeners, and a program. */
const newWorld = async (name: string) => {
  const { stack, demo, advance } = await serveMovingStack(name, {
    // The same for all tests, because the table's client of this process reads it once.
    dynamodbEndpoint: inject('stack').dynamodb_endpoint,
  });
  const account = newAccountId();
  const bot = newPhone();
  await createAccount({ name: 'Offline', id: account, bot_number: bot, ...UNLIMITED });
  await beginListening(account);
  const program = await DestinationServer.start();
  onTestFinished(() => program.close());

  /** Users write, in the order of the texts. */
  const write = async (texts: { from: string; body: string }[]): Promise<void> => {
    const events = texts.map(({ from, body }) => ({
      id: randomUUID(),
      type: 'message.received',
      data: { from, to: bot, type: 'text', text: { body } },
    }));
    const response = await fetch(`${stack.bridgeUrl}/v1/app/events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${demo.app_token}`, 'content-type': 'application/json' },
      body: JSON.stringify(events),
    });
    if (!response.ok) throw new Error(`The events were rejected: ${response.status} ${await response.text()}`);
  };

  /** Runs a listener until nothing is due. */
  const listenOnce = async (): Promise<void> => {
    const stop = new AbortController();
    const session = new Session({ base: stack.baseUrl, account, stop: stop.signal, note: () => undefined });
    const to = new URL(program.url);
    await listen({ session, to, follow: false, stop: stop.signal, onHandled: () => undefined });
    await session.close();
  };

  /** Runs listeners until the program has received so many requests. */
  const listenUntil = async (calls: number): Promise<void> => {
    await expect
      .poll(
        async () => {
          await listenOnce();
          return program.calls.length;
        },
        { timeout: 10 * MINUTE },
      )
      .toBeGreaterThanOrEqual(calls);
  };
  return { account, program, advance, write, listenOnce, listenUntil };
};

const USERS = 25;
const EACH = 10;

test('after an hour without a listener, 250 events arrive once and in order', { timeout: 20 * MINUTE }, async () => {
  const { account, program, advance, write, listenUntil } = await newWorld('listen-offline');
  const phones = Array.from({ length: USERS }, newPhone);
  for (let index = 0; index < EACH; index += 1) {
    await write(phones.map((from) => ({ from, body: String(index) })));
    await advance((HOUR / EACH) * (1 / 2));
  }
  await advance(HOUR / 2);
  expect(program.calls).toEqual([]);
  expect(await pendingEvents(account)).toBe(USERS * EACH);

  await listenUntil(USERS * EACH);
  const ids = program.calls.map(({ headers }) => headers['webhook-id']);
  expect([ids.length, new Set(ids).size]).toEqual([USERS * EACH, USERS * EACH]);
  const inOrder = Array.from({ length: EACH }, (_, index) => String(index));
  for (const phone of phones) {
    const own = program.calls.map(({ json }) => json.message).filter(({ from }) => from === phone);
    expect(own.map(({ text }) => text.body)).toEqual(inOrder);
  }
  expect(await pendingEvents(account)).toBe(0);
});

test('events that no listener has claimed for three days fail permanently', { timeout: 10 * MINUTE }, async () => {
  const { account, program, advance, write, listenOnce } = await newWorld('listen-expired');
  await write([{ from: newPhone(), body: 'one' }]);
  await expect.poll(() => pendingEvents(account)).toBe(1);
  await advance(71 * HOUR);
  expect(await pendingEvents(account)).toBe(1);
  await advance(2 * HOUR);
  expect(await pendingEvents(account)).toBe(0);
  await listenOnce();
  expect(program.calls).toEqual([]);
});
