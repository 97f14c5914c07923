/**
 * Campaigns on the local stack: the time to accept a message to 10,000 users, beside that of a message to one; and the time
 * from acceptance to delivery of another customer's messages, beside a campaign and without one, with a quick app network
 * and with one that takes two seconds for each call.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { createAccount, updateAccount } from '../../infra/operator/queries/accounts-admin.ts';
import { issueToken } from '../../infra/operator/queries/tokens-admin.ts';
import { UNLIMITED } from '../support/unlimited.ts';
import { FrontDoor, newPhone, textTo } from './front-door.ts';
import { type Figure, median, quantile, ratios, report, say, times } from './report.ts';
import { openWhole } from './whole.ts';

/** A fifth of the defaults' workers, and a pace that two cores can keep up with: with slow calls, both mean too much work. */
const SETTINGS = { deliverConcurrency: 20, campaignRate: 20 };

const { stack, simulators, demo, close } = await openWhole(process.env.DYNAMODB_ENDPOINT || undefined, SETTINGS);

const door = new FrontDoor(stack, demo);

const send = async (token: string, to: string | string[], more: object = {}, query?: Record<string, string>) =>
  (await door.send('sendMessage', { token, query, body: { ...textTo(''), to, ...more } })) as { id: string };

const newPhones = (count: number): string[] => Array.from({ length: count }, newPhone);

const PAIRS = 20;
const RECIPIENTS = 10_000;

/** Milliseconds of a request. It is for tomorrow, so that no expansion disturbs the next one. */
const timeOf = async (to: string | string[]): Promise<number> => {
  const send_at = Math.floor(Date.now() / 1_000) + 86_400;
  const start = performance.now();
  await send(demo.token, to, Array.isArray(to) ? { send_at } : {});
  return performance.now() - start;
};

const acceptance = async (): Promise<Figure[]> => {
  const [one, many]: [number[], number[]] = [[], []];
  const to = newPhones(RECIPIENTS);
  for (let warm = 0; warm < 5; warm += 1) await timeOf(warm === 4 ? to : newPhone());
  for (let pair = 0; pair < PAIRS; pair += 1) {
    one.push(await timeOf(newPhone()));
    many.push(await timeOf(to));
  }
  return [
    times('accepting a message to one user', one),
    times('accepting a message to 10,000 users', many),
    { what: 'ratio', ...median(ratios(many, one)), unit: '×', goal: { atMost: 60 } },
  ];
};

/**
 * Rounds, each without other messages and beside a campaign; messages of another customer in each part, and milliseconds
 * between them.
 */
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 4);
const SINGLES = { count: 24, everyMs: 300 };
/** Recipients of a campaign: more than it reaches. Milliseconds after which it has reached its pace. */
const CAMPAIGN = { recipients: 800, growthMs: 15_000 };

await createAccount({ name: 'Another customer', id: 'another', bot_number: newPhone() });
await updateAccount('another', UNLIMITED);
const { token: other } = await issueToken('another', { label: 'bench', permissions: ['messages', 'stats'] });

/** A message and its states. */
interface Logged {
  states: { state: string; created: string }[];
}

/** Milliseconds from the acceptance of a message until the app network has accepted it. */
const latencyOf = async (id: string): Promise<number> => {
  for (;;) {
    const { states } = (await door.send('readMessage', { path: { id }, token: other })) as Logged;
    const at = (name: string) => Date.parse(`${states.find(({ state }) => state === name)?.created}Z`);
    const latency = at('delivered_to_server') - at('sent');
    if (!Number.isNaN(latency)) return latency;
    await pause(500);
  }
};

/** The times of the other customer's messages, each to another user. */
const latencies = async (): Promise<number[]> => {
  const ids: string[] = [];
  for (let sent = 0; sent < SINGLES.count; sent += 1) {
    ids.push((await send(other, newPhone())).id);
    await pause(SINGLES.everyMs);
  }
  const found: number[] = [];
  for (const id of ids) found.push(await latencyOf(id));
  return found;
};

interface JobStatus {
  expanded: number;
  pending: number;
}

const statusOf = async (job_id: string) => (await door.send('readJob', { path: { job_id } })) as JobStatus;

/** Runs a campaign, measures beside it, and stops it. */
const besideCampaign = async (): Promise<{ found: number[]; perSecond: number }> => {
  const job_id = randomUUID();
  await send(demo.token, newPhones(CAMPAIGN.recipients), {}, { job_id });
  await pause(CAMPAIGN.growthMs);
  const [start, before] = [performance.now(), await statusOf(job_id)];
  const found = await latencies();
  const after = await statusOf(job_id);
  const perSecond = ((after.expanded - before.expanded) * 1_000) / (performance.now() - start);
  if (after.expanded >= CAMPAIGN.recipients) throw new Error('The campaign has ended before the measurement.');
  await door.send('cancelJob', { path: { job_id } });
  while ((await statusOf(job_id)).pending > 0) await pause(500);
  return { found, perSecond };
};

const setCallTime = (delay_ms: number): Promise<Response> =>
  fetch(`${simulators.app.phoneUrl}/behaviour`, { method: 'PUT', body: JSON.stringify({ delay_ms }) });

const fairness = async (callMs: number): Promise<Figure[]> => {
  const what = `calls of ${callMs / 1_000} s`;
  await setCallTime(callMs);
  // Starts the threads of the workers.
  for (const phone of newPhones(3 * SETTINGS.deliverConcurrency)) await send(other, phone);
  await latencies();
  const [alone, beside, paces]: [number[], number[], number[]] = [[], [], []];
  const ratio: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const without = await latencies();
    const { found, perSecond } = await besideCampaign();
    alone.push(...without);
    beside.push(...found);
    paces.push(perSecond);
    const [usual, campaign] = [quantile(without, 0.5), quantile(found, 0.5)];
    ratio.push(campaign / usual);
    say(`${what}: ${usual} ms, ${campaign} ms, ${perSecond.toFixed(1)} per second`);
  }
  return [
    times(`${what}: from acceptance to delivery, without a campaign`, alone),
    times(`${what}: beside a campaign of another customer`, beside),
    { what: `${what}: ratio of the medians of a round`, ...median(ratio), unit: '×', goal: { atMost: 1.3 } },
    { what: `${what}: pace of the campaign`, ...median(paces), unit: 'a second' },
  ];
};

try {
  const figures = [...(await fairness(2_000)), ...(await fairness(0)), ...(await acceptance())];
  report('campaigns', figures);
} finally {
  await close();
}
