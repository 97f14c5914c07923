/**
 * Batches of cancelled jobs, and batches whose messages are valid for a limited time, step by step.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { scheduleMessage, sendEach, sendToMany } from '../../../../shared/campaigns/accept.ts';
import { batchOf, endingBatches, isBatchKey, progressKey } from '../../../../shared/campaigns/entities.ts';
import { expand } from '../../../../shared/campaigns/expand.ts';
import { sortableTime, timestampOf } from '../../../../shared/core/clock.ts';
import { deliver } from '../../../../shared/delivery/deliver.ts';
import { ScheduledWork } from '../../../../shared/due-work/scheduled-work.ts';
import { isJobKey, jobKey } from '../../../../shared/messaging/entities.ts';
import { cancelJob } from '../../../../shared/messaging/jobs/cancel.ts';
import { pendingEntries } from '../../../../shared/outbox/entries.ts';
import { listLogs } from '../../../../shared/stats/delivery-log.ts';
import { countEntries } from '../../../../shared/stats/job-counters.ts';
import { readJobStatus } from '../../../../shared/stats/job-status.ts';
import { logOfMessage } from '../../../../shared/stats/message-log.ts';
import { documents, getConsistent, page } from '../../../../shared/table/client.ts';
import { dueOf } from '../../../../shared/table/keys.ts';
import { useFakeQueue } from '../../../unit/support/fake-queue.ts';
import { useAppNetworkServer } from '../../support/app-network-server.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { newAccount, newPhone, newPhones } from '../../support/world.ts';

/** Pauses in milliseconds. Nothing waits for them. */
const pauses: number[] = [];
vi.mock('node:timers/promises', () => ({ setTimeout: async (ms: number) => void pauses.push(ms) }));

useOwnTable('campaigns-ended');

useFakeQueue();
const destination = useAppNetworkServer();

const NOW = Date.UTC(2030, 0, 1, 12);
const DAY = 86_400_000;

beforeEach(() => void vi.useFakeTimers({ now: NOW, toFake: ['Date'] }));

afterEach(() => void vi.useRealTimers());

const text = { type: 'text' as const, text: { body: 'Hello' } };

const run = (account: string, ms = 60_000) => expand(account, undefined, Date.now() + ms);

/** The accounts whose expansions `sweep` wakes at a time. */
const dueAccounts = async (time: number): Promise<string[]> => {
  const accounts: string[] = [];
  for await (const due of new ScheduledWork('expansions', sortableTime(time)).due()) {
    accounts.push(...due.filter(isJobKey).map((item) => dueOf(item).account));
  }
  return accounts;
};

/** The logged states of an account, each with its reason and how often it was logged. Counts them, as the stream does. */
const statesOf = async (account: string): Promise<Record<string, number>> => {
  const { entries } = await listLogs(account, {}, 1_000);
  const items = await Promise.all(
    entries.map(async ({ id, state }) => (await logOfMessage(id)).filter((item) => item.state === state)),
  );
  await countEntries(items.flat());
  const named = Map.groupBy(entries, ({ state, reason }) => (reason === undefined ? state : `${state}: ${reason}`));
  return Object.fromEntries([...named].map(([state, { length }]) => [state, length]));
};

const deliverTo = (account: string, phones: string[]) =>
  Promise.all(phones.map((phone) => deliver({ direction: 'app', account, phone }, () => 60_000)));

test('a job that is cancelled half-way ends each recipient once: delivered, or failed as cancelled', async () => {
  const account = await newAccount();
  const to = newPhones(60);
  const { job_id } = await sendToMany(account, { to, ...text }, {});
  expect(await readJobStatus(account, job_id)).toMatchObject({
    status: 'running',
    recipients: 60,
    expanded: 0,
    pending: 60,
  });
  // One step of 25, of which ten are delivered.
  expect(await expandOneStep(account)).toBe(25);
  const first = to.slice(0, 10);
  await deliverTo(account, first);
  await cancelJob(account, job_id);
  await statesOf(account);
  expect(await readJobStatus(account, job_id)).toMatchObject({
    status: 'cancelled',
    recipients: 60,
    expanded: 25,
    // Those that exist. Nothing will send the 35 others.
    pending: 15,
  });

  expect(await run(account)).toMatchObject({ expanded: 35, unfinished: false });
  await deliverTo(account, to);
  expect(await statesOf(account)).toEqual({ sent: 60, delivered_to_server: 10, 'sending_failed: cancelled': 50 });
  expect(destination().calls).toHaveLength(10);
  expect(await readJobStatus(account, job_id)).toMatchObject({
    ...{ status: 'cancelled', recipients: 60, expanded: 60, pending: 0 },
    states: { sent: 60, delivered_to_server: 10, sending_failed: 50 },
  });
  for (const phone of to) {
    for await (const entries of pendingEntries({ direction: 'app', account, phone })) expect(entries).toEqual([]);
  }
});

/** Expands one step: with its progress, the clock reaches the end of the run. */
const expandOneStep = async (account: string): Promise<number> => {
  const end = Date.now() + 60_000;
  const send = documents.send.bind(documents);
  vi.spyOn(documents, 'send').mockImplementation((async (command: { input: { Key?: { sk?: string } } }) => {
    const answer = await send(command as Parameters<typeof send>[0]);
    if (command.input.Key?.sk === progressKey('', '').sk && command instanceof UpdateCommand) vi.setSystemTime(end);
    return answer;
  }) as typeof documents.send);
  const { expanded } = await expand(account, undefined, end);
  vi.restoreAllMocks();
  vi.setSystemTime(NOW);
  return expanded;
};

test('a new batch for a cancelled job returns job_cancelled, and a repeat of an accepted one its response', async () => {
  const account = await newAccount();
  const job_id = randomUUID();
  const request = [{ to: newPhone(), ...text }];
  const options = { job_id, idempotencyKey: 'one' };
  const accepted = await sendEach(account, request, options);
  await cancelJob(account, job_id);
  await expect(sendEach(account, request, { job_id })).rejects.toThrow('job_cancelled');
  await expect(sendToMany(account, { to: newPhones(2), ...text }, { job_id })).rejects.toThrow('job_cancelled');
  expect(await sendEach(account, request, options)).toEqual(accepted);
  await expect(sendEach(account, [...request, ...request], options)).rejects.toThrow('idempotency_key_reused');
});

test('a scheduled batch of a cancelled job ends at once', async () => {
  const account = await newAccount();
  const send_at = NOW + DAY;
  const { job_id } = await sendToMany(account, { to: newPhones(3), ...text }, { send_at });
  expect(await readJobStatus(account, job_id)).toMatchObject({
    ...{ status: 'scheduled', recipients: 3, expanded: 0, pending: 3, states: {} },
    start: timestampOf(send_at),
  });
  expect(await run(account)).toMatchObject({ expanded: 0, unfinished: false });
  await cancelJob(account, job_id);
  expect(await readJobStatus(account, job_id)).toMatchObject({ status: 'cancelled', recipients: 3, pending: 0 });
  expect(await dueAccounts(NOW)).toContain(account);
  expect(await run(account)).toMatchObject({ expanded: 3, unfinished: false });
  expect(await statesOf(account)).toEqual({ sent: 3, 'sending_failed: cancelled': 3 });
  // Looks follow each minute, and nothing is left to do after two minutes.
  for (const minute of [1, 2]) {
    expect(await dueAccounts(NOW + minute * 60_000 - 1)).not.toContain(account);
    vi.setSystemTime(NOW + minute * 60_000);
    expect(await dueAccounts(Date.now())).toContain(account);
    expect(await run(account)).toMatchObject({ expanded: 0, unfinished: false });
  }
  const job = await getConsistent(jobKey(account, job_id));
  for (const left of ['gsi1pk', 'gsi1sk', 'gsi3pk', 'gsi3sk', 'batches_from', 'checked'])
    expect(job).not.toHaveProperty(left);
});

test('messages of a batch that are not expanded in time expire, each at its own end', async () => {
  const account = await newAccount();
  const [short, long, always] = newPhones(3);
  const drafts = [
    { to: short ?? '', ...text, valid_for: 60 },
    { to: long ?? '', ...text, valid_for: 600 },
    { to: always ?? '', ...text },
  ];
  await sendEach(account, drafts, { priority: 'low' });
  vi.setSystemTime(NOW + 60_000);
  await run(account);
  expect(await statesOf(account)).toEqual({ sent: 3, 'sending_failed: expired': 1 });
  vi.setSystemTime(NOW + 600_000);
  await deliverTo(account, [long ?? '', always ?? '']);
  expect(await statesOf(account)).toEqual({ sent: 3, delivered_to_server: 1, 'sending_failed: expired': 2 });
});

test('the validity of a scheduled message counts from its time', async () => {
  const account = await newAccount();
  const [soon, late] = [newPhone(), newPhone()];
  for (const [to, valid_for] of [
    [soon, 60],
    [late, 120],
  ] as const) {
    await scheduleMessage(account, { to, ...text }, { send_at: NOW + DAY, valid_for });
  }
  vi.setSystemTime(NOW + DAY + 90_000);
  await run(account);
  await deliverTo(account, [soon, late]);
  expect(await statesOf(account)).toEqual({ sent: 2, delivered_to_server: 1, 'sending_failed: expired': 1 });
});

test('an expired recipient of one content for all is logged once, also if the step is repeated', async () => {
  const account = await newAccount();
  await sendToMany(account, { to: newPhones(2), ...text }, { valid_for: 60, priority: 'low' });
  vi.setSystemTime(NOW + 60_000);
  const [first, second] = await Promise.all([run(account), run(account)]);
  expect((first?.expanded ?? 0) + (second?.expanded ?? 0)).toBeGreaterThanOrEqual(2);
  expect(await statesOf(account)).toEqual({ sent: 2, 'sending_failed: expired': 2 });
});

describe('beside a campaign with a higher priority, at a pace of one message per second,', () => {
  const VALID = 'still valid';

  /** An account with a campaign of 30 recipients, at a pace of one message per second. */
  const newCampaign = async (): Promise<string> => {
    vi.stubEnv('CAMPAIGN_RATE', '1');
    const account = await newAccount();
    const content = { type: 'text' as const, text: { body: VALID } };
    await sendToMany(account, { to: newPhones(30), ...content }, { priority: 'high' });
    return account;
  };

  afterEach(() => {
    vi.restoreAllMocks();
    vi.stubEnv('CAMPAIGN_RATE', '900');
  });

  /** Expands until the first message of the campaign, and returns what was logged before. */
  const runToCampaign = async (account: string) => {
    const send = documents.send.bind(documents);
    const end = Date.now() + 60_000;
    let before: Promise<Record<string, number>> | undefined;
    pauses.length = 0;
    vi.spyOn(documents, 'send').mockImplementation((async (command: { input: { TransactItems?: unknown } }) => {
      if (JSON.stringify(command.input.TransactItems ?? '').includes(VALID)) {
        before ??= statesOf(account);
        await before;
      }
      const answer = await send(command as Parameters<typeof send>[0]);
      // The first step of the campaign is the last one.
      if (before !== undefined && command instanceof UpdateCommand) vi.setSystemTime(end);
      return answer;
    }) as typeof documents.send);
    await expand(account, undefined, end);
    vi.restoreAllMocks();
    // Those of the first step of the campaign.
    expect(pauses.filter((ms) => ms >= 1_000).length).toBeLessThan(4);
    return before;
  };

  const dueBatches = async (time: number): Promise<string[]> => {
    const accounts: string[] = [];
    for await (const due of new ScheduledWork('expansions', sortableTime(time)).due()) {
      accounts.push(...due.filter(isBatchKey).map((key) => batchOf(key).account));
    }
    return accounts;
  };

  test('expired recipients are logged first, and without the pace', async () => {
    const account = await newCampaign();
    await sendToMany(account, { to: newPhones(40), ...text }, { valid_for: 60, priority: 'low' });
    vi.setSystemTime(NOW + 60_000);
    // Even if all wake-ups are lost, sweep finds both batches a minute after their acceptance.
    expect((await dueBatches(NOW + 60_000)).filter((found) => found === account)).toHaveLength(2);
    expect(await runToCampaign(account)).toEqual({ sent: 40, 'sending_failed: expired': 40 });
  });

  test('those of messages with ends of their own are logged too, each once, and the others later', async () => {
    const account = await newCampaign();
    const [first, second, third] = [newPhones(5), newPhones(30), newPhones(5)];
    const drafts = [
      ...first.map((to) => ({ to, ...text })),
      ...second.map((to) => ({ to, ...text, valid_for: 60 })),
      ...third.map((to) => ({ to, ...text, valid_for: 71 })),
    ];
    await sendEach(account, drafts, { priority: 'low' });
    vi.setSystemTime(NOW + 60_000);
    expect(await runToCampaign(account)).toEqual({ sent: 30, 'sending_failed: expired': 30 });
    // Ends within ten seconds are handled together.
    vi.setSystemTime(NOW + 79_999);
    expect(await runToCampaign(account)).toEqual({ sent: 34, 'sending_failed: expired': 30 });
    vi.setSystemTime(NOW + 80_000);
    vi.stubEnv('CAMPAIGN_RATE', '900');
    expect(await run(account)).toMatchObject({ unfinished: false });
    expect(await statesOf(account)).toEqual({ sent: 70, 'sending_failed: expired': 35 });
    for (const phone of [...second, ...third]) {
      for await (const entries of pendingEntries({ direction: 'app', account, phone })) expect(entries).toEqual([]);
    }
  });

  test('recipients of a cancelled job are logged first, and without the pace, also if they are for later', async () => {
    const account = await newCampaign();
    const job_id = randomUUID();
    await sendToMany(account, { to: newPhones(30), ...text }, { job_id, priority: 'low' });
    await sendToMany(account, { to: newPhones(10), ...text }, { job_id, priority: 'low', send_at: NOW + DAY });
    await cancelJob(account, job_id);
    expect(await runToCampaign(account)).toEqual({ sent: 40, 'sending_failed: cancelled': 40 });
  });
});

test('after a crash at any call, messages that have ended are logged once, and the others are sent', async () => {
  const send = documents.send.bind(documents);
  for (let crash = 0; ; crash += 1) {
    vi.setSystemTime(NOW);
    const account = await newAccount();
    const [always = '', ...short] = newPhones(3);
    await sendEach(account, [{ to: always, ...text }, ...short.map((to) => ({ to, ...text, valid_for: 60 }))], {
      priority: 'low',
    });
    vi.setSystemTime(NOW + 60_000);
    let calls = 0;
    vi.spyOn(documents, 'send').mockImplementation((async (command: Parameters<typeof send>[0]) => {
      calls += 1;
      if (calls > crash) throw new Error('The process was killed.');
      return send(command);
    }) as typeof documents.send);
    const crashed = await run(account).then(
      () => false,
      () => true,
    );
    vi.restoreAllMocks();
    await run(account);
    expect(await statesOf(account), `crash after call ${crash}`).toEqual({ sent: 3, 'sending_failed: expired': 2 });
    for await (const entries of pendingEntries({ direction: 'app', account, phone: always })) {
      expect(entries).toHaveLength(1);
    }
    if (!crashed) return;
  }
});

test('a batch that is expanded in time leaves the index of ends', async () => {
  const account = await newAccount();
  await sendToMany(account, { to: newPhones(2), ...text }, { valid_for: 60, priority: 'low' });
  const ends = async (time: number) => (await page(endingBatches(account, sortableTime(time)))).items.length;
  expect([await ends(NOW + 59_999), await ends(NOW + 60_000)]).toEqual([0, 1]);
  await run(account);
  expect(await ends(NOW + 60_000)).toBe(0);
});

test('valid_for is part of the request of a batch', async () => {
  const account = await newAccount();
  const to = newPhones(2);
  const options = { idempotencyKey: 'one' };
  const accepted = await sendToMany(account, { to, ...text }, { ...options, valid_for: 60 });
  expect(await sendToMany(account, { to, ...text }, { ...options, valid_for: 60 })).toEqual(accepted);
  for (const valid_for of [61, undefined]) {
    await expect(sendToMany(account, { to, ...text }, { ...options, valid_for })).rejects.toThrow(
      'idempotency_key_reused',
    );
  }
});
