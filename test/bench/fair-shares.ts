/**
 * Nineteen customers on the local stack, undisturbed, and beside a twentieth that floods each of its limits: the time from the
 * acceptance of a message to the user's phone, and the times to send one and to read one. Rounds of both alternate, and each
 * pair of rounds gives a ratio.
 *
 * On two cores, all customers, functions and simulators share the processors, as they do not on AWS. So the limits are a fifth
 * to a twentieth of the defaults: more would measure the processors. The customer that floods sends one and a half times as many
 * requests as its limit and burst admit in the long run, of which half are to users for whom the app network returns 500; holds
 * all of its long polls; and has a campaign at its pace. `test/endurance/attacks.test.ts` counts what this adds to the runs
 * of the workers, and `npm run bench -- growth` simulates it on AWS.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { PhoneMessage } from '../../infra/local/simulators/app-network/inbox.ts';
import { createAccount, updateAccount } from '../../infra/operator/queries/accounts-admin.ts';
import { issueToken } from '../../infra/operator/queries/tokens-admin.ts';
import { FrontDoor, newPhone } from './front-door.ts';
import { type Figure, median, quantile, report, say, times } from './report.ts';
import { openWhole } from './whole.ts';

/** A fifth of the defaults' workers, a twentieth of the pace of campaigns, and a tenth of the long polls. */
const SETTINGS = { deliverConcurrency: 20, campaignRate: 25, waitsPerAccount: 5 };

const { stack, simulators, demo, close } = await openWhole(process.env.DYNAMODB_ENDPOINT || undefined, SETTINGS);

/** Pairs of rounds; messages of a round, of all customers in turn, and milliseconds between them. */
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 8);
const MESSAGES = { count: 57, everyMs: 60 };
const CUSTOMERS = 19;
/** Limits of the customer that floods, requests of its client, and its users for whom the app network fails. */
const LIMIT = { rate: 10, burst: 20 };
const REQUESTS_PER_SECOND = 1.5 * LIMIT.rate;
const FAILING = Array.from({ length: 20 }, newPhone);
/** Twice the long polls that it may have, the seconds of each, and milliseconds until the next one. */
const POLLS = { count: 2 * SETTINGS.waitsPerAccount, seconds: 5, pauseMs: 500 };
/** More than a campaign reaches in a round. */
const RECIPIENTS = 800;
/** Milliseconds after which the burst is over. */
const BURST_MS = 5_000;

const door = new FrontDoor(stack, demo);
const tokens: string[] = [];

const request = (bearer: string, path: string, body?: object): Promise<Response> =>
  fetch(`${stack.baseUrl}${path}`, {
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });

const message = (to: string | string[]) => ({ to, type: 'text', text: { body: 'Hello' } });

const send = (bearer: string, to: string): Promise<Response> => request(bearer, '/v1/message', message(to));

/** The body of a successful response, and its milliseconds. */
const timed = async (response: () => Promise<Response>): Promise<{ body: { id: string }; ms: number }> => {
  const start = performance.now();
  const received = await response();
  const body = (await received.json()) as { id: string };
  if (!received.ok) throw new Error(`A customer received ${received.status}: ${JSON.stringify(body)}`);
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

/** A round of the customers, in turn. */
const round = async (): Promise<Times> => {
  const found: Times = { phone: [], sending: [], reading: [] };
  for (let sent = 0; sent < MESSAGES.count; sent += 1) {
    const [to, token] = [newPhone(), tokens[sent % tokens.length] ?? ''];
    const { body, ms } = await timed(() => send(token, to));
    found.sending.push(ms);
    found.phone.push(await shownAfter(to));
    found.reading.push((await timed(() => request(token, `/v1/message/${body.id}`))).ms);
    await pause(MESSAGES.everyMs);
  }
  return found;
};

/** Runs `work` while the other customer floods its limits. Adds its responses to `statuses`. */
const flooded = async <Result>(
  asked: string,
  statuses: Map<number, number>,
  work: () => Promise<Result>,
): Promise<Result> => {
  let isOver = false;
  const count = async (response: Response): Promise<number> => {
    await response.arrayBuffer();
    statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
    return response.status;
  };
  const job_id = randomUUID();
  const recipients = Array.from({ length: RECIPIENTS }, newPhone);
  await count(await request(demo.token, `/v1/message?job_id=${job_id}`, message(recipients)));
  const messages = async (): Promise<void> => {
    const sending: Promise<number>[] = [];
    for (let place = 0; !isOver; place += 1) {
      const to = place % 2 === 0 ? newPhone() : (FAILING[(place >> 1) % FAILING.length] ?? '');
      sending.push(send(demo.token, to).then(count));
      await pause(1_000 / REQUESTS_PER_SECOND);
    }
    await Promise.all(sending);
  };
  const polls = async (): Promise<void> => {
    while (!isOver) {
      const path = `/v1/user_data/fetch/${asked}?long_poll=${POLLS.seconds}`;
      await count(await request(demo.token, path));
      await pause(POLLS.pauseMs);
    }
  };
  const flood = Promise.all([messages(), ...Array.from({ length: POLLS.count }, polls)]);
  const worked = pause(BURST_MS)
    .then(work)
    .finally(() => {
      isOver = true;
    });
  const [result] = await Promise.all([worked, flood]);
  // Requests are admitted again.
  await pause(1_000);
  await door.send('cancelJob', { path: { job_id } });
  while (((await door.send('readJob', { path: { job_id } })) as { pending: number }).pending > 0) await pause(500);
  return result;
};

try {
  await updateAccount('demo', LIMIT);
  for (let place = 0; place < CUSTOMERS; place += 1) {
    const id = `customer-${place}`;
    await createAccount({ name: id, id, bot_number: newPhone() });
    tokens.push((await issueToken(id, { label: 'bench', permissions: ['messages', 'stats'] })).token);
  }
  // Nobody answers it.
  const path = { phone_number: await door.newUser() };
  const body = { reason: 'Bench', data: [{ property: 'first_name' }] };
  const { requestId } = (await door.send('startUserDataRequest', { path, body })) as { requestId: string };
  await fetch(`${simulators.app.phoneUrl}/behaviour`, {
    method: 'PUT',
    body: JSON.stringify(FAILING.map((phone) => ({ phone, status: 500 }))),
  });

  const statuses = new Map<number, number>();
  // Starts the threads of all functions.
  await round();
  await flooded(requestId, new Map(), round);
  const rounds: { without: Times; beside: Times }[] = [];
  while (rounds.length < ROUNDS) {
    const isFirst = rounds.length % 2 === 0;
    const first = isFirst ? await round() : undefined;
    const beside = await flooded(requestId, statuses, round);
    const without = first ?? (await round());
    rounds.push({ without, beside });
    say(
      `fair shares: ${Object.keys(kinds)
        .map((kind) => [without, beside].map((all) => quantile(all[kind as keyof Times], 0.5).toFixed(1)).join(' → '))
        .join(' ms, ')} ms`,
    );
  }
  const answered = [...statuses.values()].reduce((sum, count) => sum + count, 0);
  report('fair shares', [
    ...(Object.keys(kinds) as (keyof Times)[]).flatMap((kind): Figure[] => {
      const [alone, beside] = [
        rounds.flatMap(({ without }) => without[kind]),
        rounds.flatMap((each) => each.beside[kind]),
      ];
      return [
        times(`${kinds[kind]}, undisturbed`, alone),
        times(`${kinds[kind]}, beside a customer that floods`, beside),
        {
          what: `${kinds[kind]}: ratio of the 99th percentiles`,
          value: quantile(beside, 0.99) / quantile(alone, 0.99),
          unit: '×',
          goal: { atMost: 1.5 },
        },
        {
          what: `${kinds[kind]}: ratio of the medians of two rounds`,
          ...median(
            rounds.map(({ without, beside: during }) => quantile(during[kind], 0.5) / quantile(without[kind], 0.5)),
          ),
          unit: '×',
          goal: { atMost: 1.5 },
        },
      ];
    }),
    {
      what: 'rejected requests of the customer that floods',
      value: (100 * (statuses.get(429) ?? 0)) / answered,
      unit: '%',
    },
  ]);
} finally {
  await close();
}
