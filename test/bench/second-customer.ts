/**
 * A second customer on the local stack, undisturbed, and while another customer sends at its limit: the time from the acceptance
 * of a message to the user's phone, and the times to send one and to read one. Rounds of both alternate, and each pair of rounds
 * gives a ratio.
 *
 * On two cores, both customers, all functions and the simulators share the processors, as they do not on AWS. So the limit is a
 * tenth of the default: more would measure the processors. The other customer sends one and a half times as many requests as its
 * limit and burst admit in the long run; the others are rejected. Every second message is to a user for whom the app network
 * returns 500. `test/endurance/attacks.test.ts` counts what the other customer's work adds to the runs of the workers.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { PhoneMessage } from '../../infra/local/simulators/app-network/inbox.ts';
import { createAccount, updateAccount } from '../../infra/operator/queries/accounts-admin.ts';
import { issueToken } from '../../infra/operator/queries/tokens-admin.ts';
import { newPhone } from './front-door.ts';
import { type Figure, median, quantile, say, times } from './report.ts';
import { demo, measure, simulators, stack } from './support.ts';

/** Pairs of rounds; messages of a round, and milliseconds between them. */
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 10);
const MESSAGES = { count: 25, everyMs: 100 };
/** The other customer's limit, requests of its client, and its users for whom the app network fails. */
const LIMIT = { rate: 10, burst: 20 };
const REQUESTS_PER_SECOND = 1.5 * LIMIT.rate;
const FAILING = Array.from({ length: 20 }, newPhone);
/** Milliseconds after which the other customer's burst is over. */
const BURST_MS = 5_000;

await createAccount({ name: 'Second customer', id: 'second', bot_number: newPhone() });
const { token } = await issueToken('second', { label: 'bench', permissions: ['messages', 'stats'] });

const request = (bearer: string, path: string, body?: object): Promise<Response> =>
  fetch(`${stack.baseUrl}${path}`, {
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });

const send = (bearer: string, to: string): Promise<Response> =>
  request(bearer, '/v1/message', { to, type: 'text', text: { body: 'Hello' } });

/** The body of a successful response, and its milliseconds. */
const timed = async (response: () => Promise<Response>): Promise<{ body: { id: string }; ms: number }> => {
  const start = performance.now();
  const received = await response();
  const body = (await received.json()) as { id: string };
  if (!received.ok) throw new Error(`The second customer received ${received.status}.`);
  return { body, ms: performance.now() - start };
};

/** Milliseconds from now until the user's phone shows a message. */
const shownAfter = async (to: string): Promise<number> => {
  const start = Date.now();
  for (;;) {
    const response = await fetch(`${simulators.app.phoneUrl}/phones/${to}/messages`);
    const [shown] = (await response.json()) as PhoneMessage[];
    if (shown !== undefined) return Math.max(Date.parse(shown.received) - start, 0);
    await pause(2);
  }
};

const kinds = {
  phone: 'from acceptance to the phone',
  sending: 'sending a message',
  reading: 'reading a message',
};

type Times = Record<keyof typeof kinds, number[]>;

/** A round of the second customer. */
const round = async (): Promise<Times> => {
  const found: Times = { phone: [], sending: [], reading: [] };
  for (let sent = 0; sent < MESSAGES.count; sent += 1) {
    const to = newPhone();
    const { body, ms } = await timed(() => send(token, to));
    found.sending.push(ms);
    found.phone.push(await shownAfter(to));
    found.reading.push((await timed(() => request(token, `/v1/message/${body.id}`))).ms);
    await pause(MESSAGES.everyMs);
  }
  return found;
};

/** Runs `work` while the other customer sends. Adds its responses to `statuses`. */
const disturbed = async <Result>(statuses: Map<number, number>, work: () => Promise<Result>): Promise<Result> => {
  let isOver = false;
  const client = async (): Promise<void> => {
    const sending: Promise<void>[] = [];
    for (let place = 0; !isOver; place += 1) {
      const to = place % 2 === 0 ? newPhone() : (FAILING[(place >> 1) % FAILING.length] ?? '');
      sending.push(
        send(demo.token, to).then(async (response) => {
          await response.arrayBuffer();
          statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
        }),
      );
      await pause(1_000 / REQUESTS_PER_SECOND);
    }
    await Promise.all(sending);
  };
  const other = client();
  await pause(BURST_MS);
  const result = await work();
  isOver = true;
  await other;
  // Its last messages are delivered.
  await pause(1_000);
  return result;
};

await measure('second-customer', async (): Promise<Figure[]> => {
  await updateAccount('demo', LIMIT);
  await fetch(`${simulators.app.phoneUrl}/behaviour`, {
    method: 'PUT',
    body: JSON.stringify(FAILING.map((phone) => ({ phone, status: 500 }))),
  });
  const statuses = new Map<number, number>();
  // Starts the threads of all functions.
  await round();
  await disturbed(new Map(), round);
  const rounds: { without: Times; beside: Times }[] = [];
  while (rounds.length < ROUNDS) {
    const isFirst = rounds.length % 2 === 0;
    const first = isFirst ? await round() : undefined;
    const beside = await disturbed(statuses, round);
    const without = first ?? (await round());
    rounds.push({ without, beside });
    say(
      `second customer: ${Object.keys(kinds)
        .map((kind) => [without, beside].map((all) => quantile(all[kind as keyof Times], 0.5).toFixed(1)).join(' → '))
        .join(' ms, ')} ms`,
    );
  }
  const figures = (Object.keys(kinds) as (keyof Times)[]).flatMap((kind): Figure[] => [
    times(
      `${kinds[kind]}, undisturbed`,
      rounds.flatMap(({ without }) => without[kind]),
    ),
    times(
      `${kinds[kind]}, beside another customer at its limit`,
      rounds.flatMap(({ beside }) => beside[kind]),
    ),
    {
      what: `${kinds[kind]}: ratio of the medians of two rounds`,
      ...median(rounds.map(({ without, beside }) => quantile(beside[kind], 0.5) / quantile(without[kind], 0.5))),
      unit: '×',
      goal: { atMost: 1.5 },
    },
  ]);
  const answered = [...statuses.values()].reduce((sum, count) => sum + count, 0);
  const rejected = (100 * (statuses.get(429) ?? 0)) / answered;
  return [...figures, { what: "the other customer's rejected requests", value: rejected, unit: '%' }];
});
