/**
 * The whole pipeline with faults in the app network, the workers, the queue and the stream. On a separate stack with a
 * seed for its faults.
 */
import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { FaultInjection } from '../../infra/local/aws/fault-injection.ts';
import type { Call, PhoneMessage } from '../../infra/local/simulators/app-network/inbox.ts';
import { serveOwnStack } from '../stack/support/own-stack.ts';
import { type Caller, newCaller, newPhone } from '../stack/support/world.ts';
import { seeded } from '../support/seeded.ts';

/** Milliseconds of a minute. An attempt has a time limit of 0.2 s. */
const MINUTE = 1_200;
const ACCOUNTS = 4;
const CONVERSATIONS = 20;
const MESSAGES = 500;

/** A third of the calls fail. A share is one of the calls that no earlier rule matched. `after`: after acceptance. */
const FAILING_THIRD = [
  { status: 500, share: 1 / 9 },
  { hang: true, share: 1 / 16 },
  { hang: true, after: true, share: 1 / 15 },
  { drop: true, share: 1 / 14 },
  { drop: true, after: true, share: 1 / 13 },
];

const faultsOf = (random: () => number): FaultInjection => ({
  refuseMessage: () => random() < 0.03,
  loseMessage: () => random() < 0.1,
  repeatMessage: () => random() < 0.1,
  repeatBatch: ({ size }) => {
    if (random() > 0.2) return 'no';
    return random() < 0.5 || size < 2 ? 'whole' : { cutAt: 1 + Math.floor(random() * (size - 1)) };
  },
});

test('500 messages in 20 conversations arrive in order and are counted once, with faults in every part', async () => {
  const seed = randomInt(1e9);
  console.info(`seed ${seed}`);
  const random = seeded(seed);
  const { stack, app } = await serveOwnStack({
    name: 'faults',
    minute: MINUTE,
    random,
    faultInjection: faultsOf(random),
    onLine: (source, line) => {
      if (line.includes('"error"')) process.stderr.write(`${source} ${line}\n`);
    },
  });
  let done = false;
  onTestFinished(() => {
    done = true;
  });
  await fetch(`${app.phoneUrl}/behaviour`, { method: 'PUT', body: JSON.stringify(FAILING_THIRD) });

  const callers = await Promise.all(Array.from({ length: ACCOUNTS }, () => newCaller('messages', 'stats')));
  const conversations = Array.from({ length: CONVERSATIONS }, (_, place) => ({
    caller: callers[place % ACCOUNTS] as Caller,
    phone: newPhone(),
  }));

  const workers = stack.functionIds().filter((id) => /^(Relay|Count|Deliver)Function/.test(id));
  const killing = (async () => {
    while (!done) {
      await pause(400 + random() * 800);
      const victim = workers[Math.floor(random() * workers.length)];
      if (victim !== undefined) stack.kill(victim);
    }
  })();

  const send = async ({ caller, phone }: (typeof conversations)[number], body: string): Promise<void> => {
    // A reliable client: it sends an idempotency key, and repeats a request after a 5xx.
    for (let left = 10; ; left -= 1) {
      const response = await fetch(`${stack.baseUrl}/v1/message`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${caller.token}`,
          'content-type': 'application/json',
          'idempotency-key': `${phone} ${body}`,
        },
        body: JSON.stringify({ to: phone, type: 'text', text: { body } }),
      });
      if (response.status === 200) return;
      if (response.status < 500 || left === 0) throw new Error(`POST /v1/message returned ${response.status}.`);
      await pause(1_000);
    }
  };
  const each = MESSAGES / CONVERSATIONS;
  await Promise.all(
    conversations.map(async (conversation) => {
      for (let place = 0; place < each; place += 1) await send(conversation, `${place}`);
    }),
  );

  const ask = async <Body>(path: string): Promise<Body> =>
    (await fetch(`${app.phoneUrl}${path}`)).json() as Promise<Body>;
  const shown = async (): Promise<number> =>
    (await ask<{ messages: number }[]>('/phones')).reduce((sum, { messages }) => sum + messages, 0);
  await expect.poll(shown, { timeout: 300_000, interval: 250 }).toBe(MESSAGES);
  for (const { phone } of conversations) {
    const messages = await ask<PhoneMessage[]>(`/phones/${phone}/messages`);
    expect(messages.map(({ data }) => 'text' in data && (data.text as { body: string }).body)).toEqual(
      Array.from({ length: each }, (_, place) => `${place}`),
    );
    // Each message has one id, however often it was delivered.
    expect(new Set(messages.map(({ data }) => data.id)).size).toBe(each);
  }
  const calls = await ask<Call[]>('/calls');
  expect(calls.some(({ status }) => status !== 204)).toBe(true);
  expect(new Set(calls.map(({ webhook_id }) => webhook_id)).size).toBe(MESSAGES);
  done = true;
  await killing;

  const stats = async (path: string, { token }: Caller): Promise<{ state: string; count: number }[]> => {
    const response = await fetch(`${stack.baseUrl}/v1/stats/${path}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    return response.status === 204 ? [] : ((await response.json()) as { state: string; count: number }[]);
  };
  const [today, tomorrow] = [0, 1].map((days) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10));
  for (const caller of callers) {
    const expected = { sent: MESSAGES / ACCOUNTS, delivered_to_server: MESSAGES / ACCOUNTS };
    const logged = async () => {
      const entries = await stats('logs?limit=1000', caller);
      return Object.fromEntries(
        ['sent', 'delivered_to_server'].map((state) => [
          state,
          entries.filter((entry) => entry.state === state).length,
        ]),
      );
    };
    const counted = async () => {
      const sums: Record<string, number> = {};
      for (const { state, count } of await stats(`jobs?start_date=${today}&end_date=${tomorrow}`, caller)) {
        sums[state] = (sums[state] ?? 0) + count;
      }
      return sums;
    };
    // The last states are logged by the successor of a killed worker.
    await expect.poll(logged, { timeout: 90_000 }).toEqual(expected);
    await expect.poll(counted, { timeout: 90_000 }).toEqual(expected);
  }
}, 480_000);
