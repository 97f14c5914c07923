/**
 * The slots of `deliver`, which all customers' servers share by the time that they use.
 *
 * @module-tag long
 */
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { newId } from '../../../../shared/core/ids.ts';
import { breakerOf } from '../../../../shared/delivery/breaker.ts';
import { deliver } from '../../../../shared/delivery/deliver.ts';
import { receiveMessage } from '../../../../shared/messaging/receive.ts';
import type { Conversation } from '../../../../shared/outbox/event.ts';
import { GROUP_COUNT, groupIndexOf } from '../../../../shared/outbox/wake-ups/conversations.ts';
import { DestinationServer } from '../../support/destination-server.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { newAccountId, newBusiness } from '../../support/world.ts';

const SECOND = 1_000;
const NOW = Date.UTC(2030, 0, 1);
/** Workers of `deliver` by default: in the worst case, each has one wake-up at a time. */
const WORKERS = 100;

useOwnTable('slots');

beforeEach(() => {
  vi.stubEnv('MINUTE', '60000');
  vi.useFakeTimers({ now: NOW, toFake: ['Date'] });
});

afterEach(() => void vi.useRealTimers());

/** A conversation of each group of an account. */
const groupsOf = (account: string): Conversation[] => {
  const found = new Map<number, Conversation>();
  for (let user = 0; found.size < GROUP_COUNT.platform; user += 1) {
    const conversation: Conversation = {
      direction: 'platform',
      account,
      phone: `2782${String(user).padStart(7, '0')}`,
    };
    if (!found.has(groupIndexOf(conversation))) found.set(groupIndexOf(conversation), conversation);
  }
  return [...found.values()];
};

/** A wake-up in the queue, and how long each request takes. */
interface Waiting {
  conversation: Conversation;
  visible: number;
  seconds: number;
}

/**
 * Plays two minutes, second by second: workers take the oldest wake-ups that are visible. Slow accounts always have a wake-up
 * for each group; another customer gets a message every second. Returns the seconds from each message to its attempt, in all.
 */
const play = async (slowAccounts: number): Promise<number> => {
  const slow = Array.from({ length: slowAccounts }, newAccountId).flatMap(groupsOf);
  const mine = groupsOf(newAccountId());
  let queue: Waiting[] = slow.map((conversation) => ({ conversation, visible: 0, seconds: 9 }));
  let working: (Waiting & { end: number })[] = [];
  let steps = 0;
  for (let second = 0; second < 120; second += 1) {
    vi.setSystemTime(NOW + second * SECOND);
    for (const done of working.filter(({ end }) => end <= second)) {
      await breakerOf(done.conversation).recordTime(done.seconds * SECOND);
      if (done.seconds > 1) queue.push({ ...done, visible: second });
    }
    working = working.filter(({ end }) => end > second);
    const next = mine[second % mine.length];
    if (next !== undefined) queue.push({ conversation: next, visible: second, seconds: 1 });
    const left: Waiting[] = [];
    for (const waiting of queue) {
      if (waiting.visible > second || working.length >= WORKERS) {
        left.push(waiting);
        continue;
      }
      const breaker = breakerOf(waiting.conversation);
      await breaker.acquire();
      const turn = breaker.turn();
      if (turn !== undefined) left.push({ ...waiting, visible: (turn - NOW) / SECOND });
      else working.push({ ...waiting, end: second + waiting.seconds });
    }
    queue = left;
    steps += working.filter(({ seconds }) => seconds === 1).length;
    steps += queue.filter(({ seconds }) => seconds === 1).length;
  }
  return steps;
};

test("seven servers that take nine seconds delay another customer's events by less than half", async () => {
  const undisturbed = await play(0);
  const disturbed = await play(7);
  expect(undisturbed).toBe(120);
  expect(disturbed).toBeLessThanOrEqual(1.5 * undisturbed);
}, 240_000);

test('a server has turns only while its slow requests take two minutes in a minute', async () => {
  const groups = groupsOf(newAccountId());
  const limited = async (): Promise<number> => {
    const turns = await Promise.all(
      groups.map(async (conversation) => {
        const breaker = breakerOf(conversation);
        await breaker.acquire();
        return breaker.turn();
      }),
    );
    return turns.filter((turn) => turn !== undefined).length;
  };
  const [first] = groups;
  if (first === undefined) throw new Error('There is no group.');
  const use = (seconds: number) => breakerOf(first).recordTime(seconds * SECOND);

  for (let request = 0; request < 200; request += 1) await use(1.9);
  for (let request = 0; request < 12; request += 1) await use(9);
  expect(await limited()).toBe(0);
  await use(12);
  // Four of sixteen have their turn.
  expect(await limited()).toBe(12);
  vi.setSystemTime(NOW + 20 * SECOND);
  expect(await limited()).toBe(12);
  vi.setSystemTime(NOW + 121 * SECOND);
  expect(await limited()).toBe(0);
});

test('a webhook that takes nine seconds gets the events of a conversation only in its turns, and none is lost', async () => {
  const webhook = await DestinationServer.start();
  onTestFinished(() => webhook.close());
  webhook.answers = [
    (response) => {
      vi.setSystemTime(Date.now() + 9 * SECOND);
      response.writeHead(204).end();
    },
  ];
  const settings = { url: webhook.url, secret: `whsec_${Buffer.alloc(32, 1).toString('base64')}` };
  const { account, bot } = await newBusiness({ name: 'webhook', settings });
  // 14 requests take two minutes, which is the limit for one minute: the clock of each begins when the last one ends.
  const waits: number[] = [];
  const groups = groupsOf(account);
  // Twice: a worker may not have read yet that the groups take turns.
  for (const { phone } of [...groups, ...groups]) {
    vi.setSystemTime(NOW);
    await receiveMessage(newId(), { from: phone, to: bot, type: 'text', text: { body: 'Hi' } });
    const run = () => deliver({ direction: 'platform', account, phone }, () => 60_000);
    const { paused_until } = await run();
    if (paused_until === undefined) continue;
    const before = webhook.calls.length;
    waits.push(paused_until - NOW);
    vi.setSystemTime(paused_until - 1);
    expect(await run()).toMatchObject({ settled: 0, retry_scheduled: 'turn' });
    expect(webhook.calls).toHaveLength(before);
    vi.setSystemTime(paused_until);
    expect(await run()).toMatchObject({ settled: 1 });
  }
  expect(waits.length).toBeGreaterThan(0);
  expect(webhook.calls).toHaveLength(2 * GROUP_COUNT.platform);
});
