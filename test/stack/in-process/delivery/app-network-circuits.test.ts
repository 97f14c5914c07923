/**
 * Circuits of messages to the app network: what fails is named as narrowly as the evidence. Step by step.
 *
 * @module-tag long
 */
import { describe, expect, test, vi } from 'vitest';
import { findOpenCircuit } from '../../../../infra/operator/queries/outbox-inspection.ts';
import { inParallel } from '../../../../shared/core/parallel.ts';
import { isAppNetworkFailing } from '../../../../shared/delivery/app-network-breaker.ts';
import { breakerOf } from '../../../../shared/delivery/breaker.ts';
import { type Breaker, type CircuitState, isOpen } from '../../../../shared/delivery/circuit-breaker.ts';
import { type DeliverySummary, deliver } from '../../../../shared/delivery/deliver.ts';
import {
  APP_NETWORK_DESTINATION,
  circuitNamesOf,
  destinationNameOf,
} from '../../../../shared/destinations/destination.ts';
import { sendMessage } from '../../../../shared/messaging/send.ts';
import type { Conversation } from '../../../../shared/outbox/event.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { useAppNetworkServer } from '../../support/app-network-server.ts';
import { consumedBy } from '../../support/consumed.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { useStoppedClock } from '../../support/stopped-clock.ts';
import { newAccount, newAccountId, newPhone } from '../../support/world.ts';

const MINUTE = 60_000;
const NOW = Date.UTC(2030, 0, 1);

useOwnTable('app-network-circuits');

const written = captureLog();
const app = useAppNetworkServer();

useStoppedClock(NOW, MINUTE);

const advance = (milliseconds: number): void => void vi.setSystemTime(Date.now() + milliseconds);

/** The breaker of an account for one of its users, by their number. */
const breakerFor = (account: string, user: number): Breaker =>
  breakerOf({ direction: 'app', account, phone: `278200${String(user).padStart(5, '0')}` });

type Asked = Awaited<ReturnType<typeof ask>>;

/** The breaker for a new wake-up, with its state. */
const ask = async (account: string, user = 1): Promise<{ breaker: Breaker; circuit: CircuitState }> => {
  const breaker = breakerFor(account, user);
  return { breaker, circuit: await breaker.acquire() };
};

const fail = ({ breaker, circuit }: Asked): Promise<void> => breaker.recordFailure(circuit);
const succeed = ({ breaker, circuit }: Asked): Promise<void> => breaker.recordSuccess(circuit);

/** Messages of these users fail, one after the other, unless the account's circuit is open. Returns how many failed. */
const failInTurn = async (account: string, users: number): Promise<number> => {
  let failed = 0;
  for (let user = 1; user <= users; user += 1) {
    const asked = await ask(account, user);
    if (isOpen(asked.circuit)) continue;
    await fail(asked);
    failed += 1;
  }
  return failed;
};

/** Messages of these users fail, all of which were under way before the first one failed. */
const failAtOnce = (account: string, users: number): Promise<void> =>
  inParallel(
    Array.from({ length: users }, (_, user) => user),
    20,
    (user) => breakerFor(account, user).recordFailure('closed'),
  );

const stateFor = async (account: string, user = 1_000) => (await ask(account, user)).circuit;

const isNetworkOpen = async (): Promise<boolean> => (await findOpenCircuit(APP_NETWORK_DESTINATION)) !== undefined;

const isAccountOpen = async (account: string): Promise<boolean> =>
  (await findOpenCircuit(destinationNameOf({ direction: 'app', account }))) !== undefined;

/** Opens the network's circuit: 20 users of these three accounts fail at the same time. */
const failNetwork = async (): Promise<string[]> => {
  const accounts = [newAccountId(), newAccountId(), newAccountId()];
  const asked = await Promise.all(Array.from({ length: 20 }, (_, user) => ask(accounts[user % 3] ?? '', user)));
  for (const each of asked) await fail(each);
  expect(await isNetworkOpen()).toBe(true);
  return accounts;
};

const opened = () =>
  written
    .map((line) => JSON.parse(line))
    .filter(({ message }) => message === 'circuit opened')
    .map(({ direction, destination }) => [direction, destination]);

describe('a user whose messages fail', () => {
  test('opens no circuit, however often', async () => {
    const account = newAccountId();
    for (let times = 0; times < 10; times += 1) {
      await fail(await ask(account, 1));
      expect(await stateFor(account)).toBe('degraded');
      advance(MINUTE);
    }
    expect(opened()).toEqual([]);
  });

  test('has the further messages of a wake-up wait after three failures', async () => {
    const asked = await ask(newAccountId());
    for (const open of [false, false, true]) {
      await fail(asked);
      expect(isOpen(await asked.breaker.acquire())).toBe(open);
    }
  });
});

describe('an account', () => {
  test('whose messages to three users fail waits for a minute, and no other account waits', async () => {
    const account = newAccountId();
    expect(await failInTurn(account, 10)).toBe(3);
    expect(await stateFor(account)).toMatchObject({ cause: 'circuit_open' });
    expect(isOpen(await stateFor(newAccountId()))).toBe(false);
    expect(opened()).toEqual([['account', `app#${account}`]]);
    advance(MINUTE);
    const circuits = [await ask(account), await ask(account, 2)];
    expect(circuits.map(({ circuit }) => circuit)).toEqual([
      'half_open',
      expect.objectContaining({ cause: 'circuit_open' }),
    ]);
    await succeed(circuits[0] as Asked);
    expect(await stateFor(account)).toBe('closed');
  });

  test('with a thousand failing users, all at once, opens its own circuit at most', async () => {
    const account = newAccountId();
    await failAtOnce(account, 1_000);
    expect(await isAccountOpen(account)).toBe(true);
    expect(await isNetworkOpen()).toBe(false);
    expect(opened()).toEqual([['account', `app#${account}`]]);
    const other = await ask(newAccountId());
    expect(isOpen(other.circuit)).toBe(false);
  }, 120_000);

  test('keeps its circuit while another account has success', async () => {
    const [account, other] = [newAccountId(), newAccountId()];
    await failInTurn(account, 3);
    await succeed(await ask(other));
    expect(await stateFor(account)).toMatchObject({ cause: 'circuit_open' });
  });

  test('starts counting from zero after a success', async () => {
    const account = newAccountId();
    await failInTurn(account, 2);
    await succeed(await ask(account, 9));
    expect(await stateFor(account)).toBe('closed');
    await failInTurn(account, 2);
    expect(await isAccountOpen(account)).toBe(false);
  });

  test('waits for 2, then 10 minutes after failed probes', async () => {
    const account = newAccountId();
    await failInTurn(account, 3);
    advance(MINUTE);
    for (const minutes of [2, 10, 10]) {
      await fail(await ask(account));
      const open = await findOpenCircuit(`app#${account}`);
      expect(open?.open_until).toBe(new Date(Date.now() + minutes * MINUTE).toISOString());
      advance(minutes * MINUTE);
    }
  });

  test('that is asked for fewer messages pauses alone', async () => {
    const [account, other] = [newAccountId(), newAccountId()];
    const { breaker, circuit } = await ask(account);
    await breaker.pause(circuit, NOW + 10 * MINUTE);
    expect(await stateFor(account)).toEqual({ until: NOW + 10 * MINUTE, cause: 'rate_limited' });
    expect(isOpen(await stateFor(other))).toBe(false);
    advance(10 * MINUTE);
    expect(isOpen(await stateFor(account))).toBe(false);
    expect(opened()).toEqual([]);
  });
});

describe("the network's circuit", () => {
  test.each([
    ['20 users of 3 accounts', [7, 7, 6], true],
    ['19 users of 3 accounts', [7, 6, 6], false],
    ['200 users of 2 accounts', [100, 100], false],
    ['20 users of 20 accounts', Array(20).fill(1), true],
    ['users of 7 accounts, 3 of each before its own circuit opens', Array(7).fill(3), true],
  ])('after failures of %s within a minute: open is %s', async (_, users, open) => {
    const asked: Asked[] = [];
    for (const count of users as number[]) {
      const account = newAccountId();
      for (let user = 1; user <= count; user += 1) asked.push(await ask(account, user));
    }
    for (const each of asked) await fail(each);
    expect(await isNetworkOpen()).toBe(open);
    if (open) expect(await stateFor(newAccountId())).toMatchObject({ cause: 'circuit_open' });
  });

  test('opens after the 20th failure, and is logged once', async () => {
    const accounts = Array.from({ length: 30 }, newAccountId);
    let failed = 0;
    for (const account of accounts) failed += await failInTurn(account, 1);
    expect(failed).toBe(20);
    expect(opened()).toEqual([['app', 'app']]);
  });

  test.each([
    ['a success of any account', async () => succeed(await ask(newAccountId()))],
    ['a minute', async () => advance(MINUTE)],
  ])('does not open if %s is between the failures', async (_, between) => {
    for (let count = 0; count < 19; count += 1) await failInTurn(newAccountId(), 1);
    await between();
    for (let count = 0; count < 19; count += 1) await failInTurn(newAccountId(), 1);
    expect(await isNetworkOpen()).toBe(false);
    await failInTurn(newAccountId(), 1);
    expect(await isNetworkOpen()).toBe(true);
  });

  test('opens although two accounts have filled a minute with failures before', async () => {
    for (let minutes = 0; minutes < 2; minutes += 1) {
      for (const account of [newAccountId(), newAccountId()]) await failAtOnce(account, 25);
      advance(MINUTE);
    }
    await failNetwork();
  }, 60_000);

  test('has one probe for all accounts, and its success lets all continue at once', async () => {
    const accounts = [...(await failNetwork()), newAccountId()];
    advance(MINUTE);
    const asked = await Promise.all(accounts.map((account) => ask(account)));
    const probes = asked.filter(({ circuit }) => circuit === 'half_open');
    expect(probes).toHaveLength(1);
    expect(asked.filter(({ circuit }) => isOpen(circuit))).toHaveLength(3);
    await succeed(probes[0] as Asked);
    expect(await isNetworkOpen()).toBe(false);
    // Also those whose own circuit opened in the outage.
    for (const account of accounts) expect(isOpen(await stateFor(account))).toBe(false);
    // Their failures before the outage's end do not count any more.
    await failInTurn(accounts[0] ?? '', 2);
    expect(await isAccountOpen(accounts[0] ?? '')).toBe(false);
  });

  test('lets another account probe after a failed probe', async () => {
    const [first = '', second = ''] = await failNetwork();
    advance(MINUTE);
    await fail(await ask(first));
    expect((await findOpenCircuit(APP_NETWORK_DESTINATION))?.open_until).toBe(
      new Date(Date.now() + 2 * MINUTE).toISOString(),
    );
    advance(2 * MINUTE);
    for (let user = 0; user < 5; user += 1) expect(isOpen(await stateFor(first, user))).toBe(true);
    expect(await stateFor(second)).toBe('half_open');
  });

  test('is probed by the same account again if no other one has messages', async () => {
    const [first = ''] = await failNetwork();
    advance(MINUTE);
    await fail(await ask(first));
    advance(3.5 * MINUTE);
    expect(await stateFor(first)).toBe('half_open');
  });

  test('ends with a 429, which pauses the account that probed', async () => {
    const [first = '', second = ''] = await failNetwork();
    advance(MINUTE);
    const { breaker, circuit } = await ask(first);
    await breaker.pause(circuit, Date.now() + MINUTE);
    expect(await stateFor(first)).toMatchObject({ cause: 'rate_limited' });
    expect(isOpen(await stateFor(second))).toBe(false);
  });

  test('does not open for an expired item that is still in the table', async () => {
    for (let count = 0; count < 19; count += 1) await failInTurn(newAccountId(), 1);
    advance(25 * 60 * MINUTE);
    await failInTurn(newAccountId(), 1);
    expect(await isNetworkOpen()).toBe(false);
  });
});

test.each([
  [[7, 7, 6], true],
  [[20], false],
])('429s for so many users of each account pause the network: %j is %s', async (users, pauses) => {
  const asked: Asked[] = [];
  for (const count of users) {
    const account = newAccountId();
    for (let user = 1; user <= count; user += 1) asked.push(await ask(account, user));
  }
  for (const { breaker, circuit } of asked) await breaker.pause(circuit, NOW + 5 * MINUTE);
  const state = await stateFor(newAccountId());
  if (pauses) expect(state).toEqual({ until: NOW + 5 * MINUTE, cause: 'rate_limited' });
  else expect(isOpen(state)).toBe(false);
  expect(opened()).toEqual([]);
});

describe('the app network counts as failing', () => {
  test('while its circuit is open', async () => {
    expect(await isAppNetworkFailing()).toBe(false);
    const [account = ''] = await failNetwork();
    expect(await isAppNetworkFailing()).toBe(true);
    advance(MINUTE);
    await succeed(await ask(account));
    expect(await isAppNetworkFailing()).toBe(false);
  });

  test('while the circuit of the only account that sends is open, until any account has a success', async () => {
    const account = newAccountId();
    await failInTurn(account, 3);
    expect(await isAppNetworkFailing()).toBe(true);
    await succeed(await ask(newAccountId()));
    expect(await isAppNetworkFailing()).toBe(false);
    advance(MINUTE);
    await fail(await ask(account));
    expect(await isAppNetworkFailing()).toBe(true);
  });
});

// DynamoDB Local counts nothing for a batch of keys that do not exist.
test.skipIf(process.env.DYNAMODB_ENDPOINT)(
  'a wake-up reads 1 unit and a success writes nothing while all works; a failure writes 2 units',
  async () => {
    const account = newAccountId();
    const healthy = await consumedBy(async () => succeed(await ask(account)));
    expect(healthy).toMatchObject({ table: 1, written: 0 });
    const failing = await ask(account);
    expect(await consumedBy(() => fail(failing))).toMatchObject({ written: 2 });
    const troubled = await ask(account);
    expect(await consumedBy(() => succeed(troubled))).toMatchObject({ written: 2 });
    expect(await consumedBy(async () => succeed(await ask(account)))).toMatchObject({ written: 0 });
  },
);

test("the circuits of an account's messages to users are the network's and its own", () => {
  expect(circuitNamesOf({ direction: 'app', account: 'acme' })).toEqual(['app', 'app#acme']);
  expect(circuitNamesOf({ direction: 'platform', account: 'acme' })).toEqual(['platform#acme']);
});

describe('while 60 users of a customer fail', () => {
  const send = async (account: string, phone: string): Promise<Conversation> => {
    await sendMessage(account, { to: phone, type: 'text', text: { body: 'Hello' } }, {});
    return { direction: 'app', account, phone };
  };

  test.each([
    ['with 500', 500],
    ['with 429', { status: 429, headers: { 'retry-after': '600' } }],
  ])(
    "%s, another customer's 95 messages are attempted at their first wake-up",
    async (_, answer) => {
      vi.stubEnv('MINUTE', '1000');
      const [attacker, other] = [await newAccount(), await newAccount()];
      const attacking = await Promise.all(Array.from({ length: 60 }, () => send(attacker, newPhone())));
      const theirs: DeliverySummary[] = [];
      for (let index = 0; index < 95; index += 1) {
        const failing = attacking[index];
        app().answers = [answer];
        if (failing !== undefined) await deliver(failing, () => 60_000);
        app().answers = [204];
        app().calls.length = 0;
        theirs.push(await deliver(await send(other, newPhone()), () => 60_000));
        expect(app().calls).toHaveLength(1);
      }
      expect(theirs).toEqual(Array(95).fill({ settled: 1 }));
    },
    120_000,
  );
});
