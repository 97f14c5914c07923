/**
 * The operator's commands for outboxes, messages and jobs.
 *
 * @module-tag long
 */
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createAccount, updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { findOpenCircuit, retryConversations } from '../../../../infra/operator/queries/outbox-inspection.ts';
import { readSettings } from '../../../../infra/settings.ts';
import { scheduleMessage } from '../../../../shared/campaigns/accept.ts';
import { sortableTime, timestamp } from '../../../../shared/core/clock.ts';
import { idFromKey, newId as newUuid } from '../../../../shared/core/ids.ts';
import { recordFailure } from '../../../../shared/delivery/circuit-breaker.ts';
import { platformOf } from '../../../../shared/destinations/registry.ts';
import { jobOf } from '../../../../shared/messaging/jobs/default-jobs.ts';
import { receiveMessage } from '../../../../shared/messaging/receive.ts';
import { sendMessage } from '../../../../shared/messaging/send.ts';
import { conversationName, headKey } from '../../../../shared/outbox/entities.ts';
import type { Conversation, Direction } from '../../../../shared/outbox/event.ts';
import { type Head, readHead } from '../../../../shared/outbox/head.ts';
import { logItem, type State } from '../../../../shared/outbox/message.ts';
import { jobCounterKey } from '../../../../shared/stats/entities.ts';
import { countEntries, listJobs } from '../../../../shared/stats/job-counters.ts';
import { documents, get, putIfAbsent, remove } from '../../../../shared/table/client.ts';
import {
  addPendingEntries,
  hasTerminal,
  inJson,
  masked,
  newAccount,
  newId,
  newMessage,
  newOutgoing,
  onTerminal,
  openCircuit,
  operator,
  refusal,
  shown,
  time,
} from '../../support/operator.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { reportState } from '../../support/states.ts';
import { newPhone } from '../../support/world.ts';

// No workers process this table: entries stay pending, and nothing is counted.
useOwnTable('operator');

const BODY = 'Nobody else is to read this';
const content = { type: 'text' as const, text: { body: BODY } };

const newConversation = async (direction: Direction = 'app', account?: string): Promise<Conversation> => ({
  direction,
  account: account ?? (await newAccount()),
  phone: newPhone(),
});

const tomorrow = Date.now() + 86_400_000;

/** A time in the format of the command's text output. */
const minute = (milliseconds: number): string => `${sortableTime(milliseconds).slice(0, 16).replace('T', ' ')} UTC`;

describe('outbox list', () => {
  test('outbox list prints every conversation with pending entries, the oldest first', async () => {
    const account = await newAccount();
    const [app, platform] = [await newConversation('app', account), await newConversation('platform', account)];
    const why = { until: tomorrow, cause: 'timeout', attempts: 2 };
    await addPendingEntries(platform, [newOutgoing(platform, BODY)], why);
    await addPendingEntries(app, [newOutgoing(app, BODY), newOutgoing(app, BODY)], { until: tomorrow });

    const { conversations, circuits } = await inJson('outbox', 'list', '--account', account);
    const next_attempt = sortableTime(tomorrow);
    const common = { account, since: time, next_attempt, more_waiting: false };
    const failed = (failed_attempts: number, cause: string) => ({ failed_attempts, cause });
    expect(conversations).toEqual([
      { ...common, direction: 'platform', phone_number: platform.phone, ...failed(2, 'timeout'), waiting: 1 },
      { ...common, direction: 'app', phone_number: app.phone, ...failed(3, 'status_500'), waiting: 2 },
    ]);
    expect(circuits).toEqual([]);

    const { stdout } = await operator('outbox', 'list', '--account', account);
    const [header, first, second, , totals] = stdout.split('\n').map((line) => line.split(/ {2,}/));
    expect(header).toEqual(['DIRECTION', 'ACCOUNT', 'USER', 'SINCE', 'FAILED', 'CAUSE', 'NEXT ATTEMPT', 'PENDING']);
    const since = conversations.map((waiting: { since: string }) => minute(Date.parse(`${waiting.since}Z`)));
    const next = minute(tomorrow);
    expect(first).toEqual(['platform', account, masked(platform.phone), since[0], '2', 'timeout', next, '1']);
    expect(second).toEqual(['app', account, masked(app.phone), since[1], '3', 'status_500', next, '2']);
    expect(totals).toEqual(['2 pending conversations: platform 1, app 1. Causes: timeout 1, status_500 1.']);
    expect(stdout).not.toMatch(new RegExp(`${app.phone}|${platform.phone}|${BODY}`));
  });

  test('outbox list filters by account, direction and user', async () => {
    const account = await newAccount();
    const all = [await newConversation('app', account), await newConversation('platform', account)];
    const [one = all[0], other] = [...all, await newConversation('app')];
    for (const conversation of [...all, await newConversation('app')])
      await addPendingEntries(conversation, [newOutgoing(conversation, BODY)]);
    const phones = async (...options: string[]): Promise<string[]> => {
      const { conversations } = await inJson('outbox', 'list', ...options);
      return conversations.map(({ phone_number }: { phone_number: string }) => phone_number);
    };
    expect(await phones('--account', account)).toEqual([one?.phone, other?.phone]);
    expect(await phones('--account', account, '--direction', 'platform')).toEqual([other?.phone]);
    expect(await phones('--phone', one?.phone ?? '')).toEqual([one?.phone]);
    const everything = await phones();
    expect(everything).toEqual(expect.arrayContaining([one?.phone, other?.phone]));
    expect(everything.length).toBeGreaterThan(2);
  });

  test('outbox list marks entries without an attempt, and overdue entries, as due now', async () => {
    const { id: account } = await createAccount({ name: 'Test', id: newId() });
    await sendMessage(account, { to: newPhone(), ...content }, {});
    const overdue = await newConversation('app', account);
    await addPendingEntries(overdue, [newOutgoing(overdue, BODY)], { until: Date.now() - 60_000, attempts: 1 });
    const { conversations } = await inJson('outbox', 'list', '--account', account);
    expect(conversations).toMatchObject([{ failed_attempts: 0 }, { failed_attempts: 1, cause: 'status_500' }]);
    for (const waiting of conversations) expect(waiting).not.toHaveProperty('next_attempt');
    const { stdout } = await operator('outbox', 'list', '--account', account);
    expect(stdout).toMatch(/ UTC +0 +now +1\n.* UTC +1 {2}status_500 {2}now +1\n/);
    expect(stdout).toContain('2 pending conversations: app 2. Causes: in progress 1, status_500 1.');
  });

  test('outbox list counts up to 100 entries of a conversation, and prints 100+ for more', async () => {
    const [hundred, more] = [await newConversation(), await newConversation()];
    for (const [conversation, count] of [[hundred, 100] as const, [more, 101] as const]) {
      await addPendingEntries(conversation, Array(count).fill(newOutgoing(conversation, BODY)));
    }
    const countOf = async ({ account }: Conversation) => {
      const { conversations } = await inJson('outbox', 'list', '--account', account);
      const { stdout } = await operator('outbox', 'list', '--account', account);
      return [conversations[0].waiting, conversations[0].more_waiting, / (\S+)\n\n/.exec(stdout)?.[1]];
    };
    expect(await countOf(hundred)).toEqual([100, false, '100']);
    expect(await countOf(more)).toEqual([100, true, '100+']);
  });

  test('outbox list leaves out a conversation without entries, and reports that no messages are pending', async () => {
    const empty = await newConversation();
    await addPendingEntries(empty, []);
    const options = ['--account', empty.account];
    expect(await inJson('outbox', 'list', ...options)).toEqual({ conversations: [], circuits: [] });
    expect((await operator('outbox', 'list', ...options)).stdout).toBe('No messages are pending.\n');
  });

  test('outbox list prints destinations with an open circuit', async () => {
    const conversation = await newConversation('platform');
    const { account } = conversation;
    await addPendingEntries(conversation, [newOutgoing(conversation, BODY)]);
    const { name } = await platformOf(account);
    await openCircuit(name);
    await recordFailure(name, 'half_open');

    const { circuits } = await inJson('outbox', 'list', '--account', account);
    expect(circuits).toEqual([{ destination: `platform#${account}`, open_until: expect.any(String), failures: 4 }]);
    const { stdout } = await operator('outbox', 'list', '--account', account);
    const until = minute(Date.parse(circuits[0].open_until));
    expect(stdout).toMatch(new RegExp(`^OPEN CIRCUIT +UNTIL +FAILED\n${name} +${until} +4$`, 'm'));
  });
});

describe('outbox retry', () => {
  afterEach(() => void vi.restoreAllMocks());

  /** The retry state of a conversation: scheduled for later, or due without recorded failures. */
  const stateOf = async (conversation: Conversation) => {
    const { attempts, cause, retryAt, dueAt }: Partial<Head> = (await readHead(conversation)) ?? {};
    return {
      attempts,
      cause,
      retryAt,
      due: dueAt !== undefined && dueAt <= sortableTime(Date.now()),
    };
  };
  const DUE = { attempts: undefined, cause: undefined, retryAt: undefined, due: true };
  const RETRY_SCHEDULED = { attempts: 3, cause: 'status_500', retryAt: sortableTime(tomorrow), due: false };

  /** Conversations with a scheduled retry: both directions of one account, and one of another account. */
  const newWorld = async () => {
    const account = await newAccount();
    const world = {
      account,
      app: await newConversation('app', account),
      platform: await newConversation('platform', account),
      others: await newConversation('platform'),
    };
    for (const conversation of [world.app, world.platform, world.others]) {
      await addPendingEntries(conversation, [newOutgoing(conversation, BODY)], { until: tomorrow });
    }
    await openCircuit('app');
    await openCircuit(`platform#${account}`);
    await openCircuit(`platform#${world.others.account}`);
    return world;
  };

  test("outbox retry retries an account's conversations, and resets their destinations' circuits", async () => {
    const { account, app, platform, others } = await newWorld();
    expect(await inJson('outbox', 'retry', '--account', account)).toEqual({ retried: 2 });
    expect([await stateOf(app), await stateOf(platform)]).toEqual([DUE, DUE]);
    expect(await findOpenCircuit('app')).toBeUndefined();
    expect(await findOpenCircuit(`platform#${account}`)).toBeUndefined();
    expect(await stateOf(others)).toEqual(RETRY_SCHEDULED);
    expect(await findOpenCircuit(`platform#${others.account}`)).toBeDefined();
  });

  test('outbox retry filters by direction and by user', async () => {
    const { account, app, platform } = await newWorld();
    const args = ['outbox', 'retry', '--account', account, '--direction', 'platform'];
    expect((await operator(...args)).stdout).toBe('1 conversation is retried within a minute.\n');
    expect([await stateOf(app), await stateOf(platform)]).toEqual([RETRY_SCHEDULED, DUE]);
    expect(await findOpenCircuit('app')).toBeDefined();
    expect(await inJson('outbox', 'retry', '--phone', app.phone)).toEqual({ retried: 1 });
    expect(await stateOf(app)).toEqual(DUE);
  });

  test('outbox retry --all retries all conversations', async () => {
    const { app, platform, others } = await newWorld();
    const { stdout } = await operator('outbox', 'retry', '--all', '--yes');
    expect(Number(/^(\d+) conversations are retried within a minute\.\n$/.exec(stdout)?.[1])).toBeGreaterThan(2);
    expect(await Promise.all([app, platform, others].map(stateOf))).toEqual([DUE, DUE, DUE]);
  });

  test('outbox retry reports that no messages are pending', async () => {
    const account = await newAccount();
    expect(await inJson('outbox', 'retry', '--account', account)).toEqual({ retried: 0 });
    expect((await operator('outbox', 'retry', '--account', account)).stdout).toBe('No pending messages match.\n');
  });

  test('outbox retry does not recreate a conversation that ended meanwhile', async () => {
    const { account, app } = await newWorld();
    const send = documents.send.bind(documents);
    vi.spyOn(documents, 'send').mockImplementation(async (command) => {
      if (command instanceof UpdateCommand) await remove(headKey(conversationName(app)));
      return send(command);
    });
    expect(await retryConversations({ account, direction: 'app' })).toBe(0);
    expect(await readHead(app)).toBeUndefined();
  });
});

describe('message list', () => {
  test("message list prints a user's messages in both directions, newest first, each with its last state", async () => {
    const bot_number = newPhone();
    const { id: account } = await createAccount({ name: 'Test', id: newId(), bot_number });
    const [phone, job_id, event] = [newPhone(), newUuid(), newUuid()];
    const sent = await sendMessage(account, { to: phone, ...content }, { job_id });
    await receiveMessage(event, { from: phone, to: bot_number, ...content });
    await reportState(sent, 'delivered_to_user');
    await reportState(sent, 'delivery_failed');
    const received = idFromKey('app-network', 'message.received', event);
    const other = await newAccount();
    const others = await sendMessage(other, { to: phone, ...content }, { job_id });
    await sendMessage(account, { to: newPhone(), ...content }, { job_id });

    const ofOther = { id: others, account: other, direction: 'app', job_id, created: time, state: 'sent' };
    const ofAccount = [
      { id: received, account, direction: 'platform', job_id: expect.any(String), created: time, state: 'received' },
      { id: sent, account, direction: 'app', job_id, created: time, state: 'delivery_failed' },
    ];
    expect(await inJson('message', 'list', phone)).toEqual([ofOther, ...ofAccount]);
    expect(await inJson('message', 'list', phone, '--account', account)).toEqual(ofAccount);

    const { stdout } = await operator('message', 'list', phone, '--limit', '2');
    const [header, ...lines] = stdout.split('\n').map((line) => line.split(/ {2,}/));
    const minutes = expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d UTC$/);
    expect(header).toEqual(['MESSAGE', 'ACCOUNT', 'DIRECTION', 'CREATED', 'LAST STATE']);
    expect(lines[0]).toEqual([others, other, 'app', minutes, 'sent']);
    expect(stdout).toMatch(/\n… and 1 older; --limit shows more\.\n$/);
    expect(stdout).not.toMatch(new RegExp(`${phone}|${BODY}`));
  });

  test('message list leaves out a message with an expired first log entry', async () => {
    const message = newMessage(await newAccount());
    await putIfAbsent({ ...logItem(message, 'sent', timestamp()), expires_at: 1 });
    await putIfAbsent(logItem(message, 'read', timestamp()));
    expect(await inJson('message', 'list', message.phone)).toEqual([]);
  });

  test('message list reports with a masked number that a user has no messages', async () => {
    const phone = newPhone();
    const { stdout } = await operator('message', 'list', phone);
    expect(stdout).toBe(`There are no messages of ${masked(phone)}.\n`);
  });
});

describe('message show', () => {
  const messageOf = (...args: string[]) => shown('message', 'show', ...args);

  test('message show prints the direction, states and next attempt of a pending message', async () => {
    const { account, phone } = await newConversation();
    const job_id = newUuid();
    const id = await sendMessage(account, { to: phone, ...content }, { job_id });
    const about = { id, account, phone_number: phone, direction: 'app', job_id, payload_type: 'text', reported: false };
    const states = [{ state: 'sent', created: time }];
    expect(await inJson('message', 'show', id)).toEqual({ ...about, states, waiting: { failed_attempts: 0 } });
    await addPendingEntries({ direction: 'app', account, phone }, [], { until: tomorrow });
    const waiting = { failed_attempts: 3, cause: 'status_500', next_attempt: sortableTime(tomorrow) };
    expect(await inJson('message', 'show', id.toUpperCase())).toEqual({ ...about, states, waiting });

    const words = await messageOf(id);
    expect(words).toMatch(new RegExp(`^Message +${id}\nAccount +${account}\nDirection +to the user \\(app\\)\n`));
    expect(words).toMatch(new RegExp(`\nUser +${masked(phone)}\nJob +${job_id}\nType +text\n`));
    expect(words).toContain(`yes, next attempt ${minute(tomorrow)}, 3 failed in a row, cause status_500\n`);
    expect(words).toMatch(/\nReported +no\n/);
    expect(words).toMatch(/\nSTATE +REACHED +REASON\nsent +[-\d]{10} [:\d]{8} UTC\n$/);
    expect(words).not.toMatch(new RegExp(`${phone}|${BODY}`));
  });

  test('message show prints every state in order, with the reason of a failure', async () => {
    const { account, phone } = await newConversation();
    const id = await sendMessage(account, { to: phone, ...content }, {});
    await reportState(id, 'read');
    await reportState(id, 'delivery_failed', 'phone is off');
    await reportState(id, 'delivered_to_user');
    expect((await inJson('message', 'show', id)).states).toEqual([
      { state: 'sent', created: time },
      { state: 'read', created: time },
      { state: 'delivery_failed', created: time, reason_code: 'refused', reason: 'phone is off' },
      { state: 'delivered_to_user', created: time },
    ]);
    expect(await messageOf(id)).toMatch(
      /\nread .* UTC\ndelivery_failed +\S+ \S+ UTC {2}refused: phone is off\ndelivered_to_user /,
    );
  });

  test('message show finds a scheduled message by its account, and prints its time', async () => {
    const { account, phone } = await newConversation();
    const job_id = newUuid();
    const id = await scheduleMessage(account, { to: phone, ...content }, { send_at: tomorrow, job_id });
    expect(await inJson('message', 'show', id, '--account', account)).toEqual({
      ...{ id, account, phone_number: phone, direction: 'app', job_id, payload_type: 'text' },
      states: [{ state: 'scheduled', created: time }],
      scheduled_for: sortableTime(tomorrow),
    });
    const words = await messageOf(id, '--account', account);
    expect(words).toMatch(new RegExp(`\nUser +${masked(phone)}\n`));
    expect(words).toContain(`for ${sortableTime(tomorrow).slice(0, 19).replace('T', ' ')} UTC`);
    expect(words).not.toMatch(new RegExp(`${phone}|${BODY}`));

    expect(await refusal('message', 'show', id)).toMatch(/is found with --account/);
    const other = await newAccount();
    expect(await refusal('message', 'show', id, '--account', other)).toContain(`The account ${other} has no message`);
    const sent = await sendMessage(account, { to: phone, ...content }, {});
    expect(await messageOf(sent, '--account', account)).toContain(sent);
    expect(await refusal('message', 'show', sent, '--account', other)).toContain('has no message');
  });

  const withWebhook = async () => {
    const bot_number = newPhone();
    const { id: account } = await createAccount({ name: 'Test', id: newId(), bot_number });
    const settings = { url: 'https://destination.example.com', secret: `whsec_${'A'.repeat(43)}=` };
    await updateAccount(account, { platform: { name: 'webhook', settings } });
    return { account, bot_number, phone: newPhone() };
  };

  test('message show prints the states of which the platform has not been notified', async () => {
    const { account, phone } = await withWebhook();
    const id = await sendMessage(account, { to: phone, ...content }, {});
    expect(await messageOf(id)).toMatch(/\nReported +to the platform\n\n/);
    for (const state of ['delivered_to_user', 'read'] satisfies State[]) await reportState(id, state);
    // Statuses of another message are pending in the same conversation.
    await reportState(await sendMessage(account, { to: phone, ...content }, {}), 'delivery_failed');
    expect(await inJson('message', 'show', id)).toMatchObject({
      reported: true,
      waiting: { failed_attempts: 0 },
      waiting_reports: { states: ['delivered_to_user', 'read'], failed_attempts: 0 },
    });
    expect(await messageOf(id)).toMatch(/\nUnreported +delivered_to_user, read, next attempt now\n/);
  });

  test("message show prints a user's message that is pending for the platform", async () => {
    const { account, bot_number, phone } = await withWebhook();
    const event = newUuid();
    await receiveMessage(event, { from: phone, to: bot_number, ...content });
    const id = idFromKey('app-network', 'message.received', event);
    const document = await inJson('message', 'show', id);
    const states = [{ state: 'received' }];
    expect(document).toMatchObject({ account, direction: 'platform', states, waiting: { failed_attempts: 0 } });
    const words = await messageOf(id);
    expect(words).toMatch(/\nDirection +from the user \(platform\)\n/);
    expect(words).not.toMatch(new RegExp(`Reported|${phone}|${BODY}`));
  });

  test('message show prints that a message is not pending', async () => {
    const { account, phone } = await newConversation();
    const message = newMessage(account, phone);
    await putIfAbsent(logItem(message, 'received', timestamp()));
    expect(await inJson('message', 'show', message.id)).not.toHaveProperty('waiting');
    expect(await messageOf(message.id)).toMatch(/\nPending +no\n/);
  });

  test('message show rejects an unknown id and an expired message', async () => {
    const ended = newMessage(await newAccount());
    await putIfAbsent({ ...logItem(ended, 'sent', timestamp()), expires_at: 1 });
    for (const id of [newUuid(), ended.id]) {
      expect(await refusal('message', 'show', id)).toContain(`There is no message ${id}`);
    }
  });
});

describe('job recount', () => {
  const TODAY = timestamp().slice(0, 10);
  const at = (daysAgo: number): string => `${sortableTime(Date.now() - daysAgo * 86_400_000).slice(0, 23)}000`;

  /** Writes log entries, each of another message. No stream delivers them, so the counters lack them. */
  const log = (account: string, job_id: string, state: State, created: string, times = 1) =>
    Promise.all(
      Array.from({ length: times }, async () => {
        const item = logItem({ ...newMessage(account), job_id }, state, created);
        await putIfAbsent(item);
        return item;
      }),
    );

  test('job recount adds missing counts, and a repeat adds nothing', async () => {
    const [account, job_id] = [await newAccount(), newUuid()];
    const counted = await log(account, job_id, 'sent', at(0), 2);
    expect(await countEntries(counted)).toBe(2);
    // More entries than one read returns.
    await log(account, job_id, 'sent', at(0), 60);
    await log(account, job_id, 'read', at(0), 3);

    const rows = [
      { job_id, state: 'sent', payload_type: 'text', count: 62 },
      { job_id, state: 'read', payload_type: 'text', count: 3 },
    ];
    const from = at(6).slice(0, 10);
    expect(await inJson('job', 'recount', account)).toEqual({ from, to: TODAY, entries: 65, counted: 63 });
    expect(await listJobs(account, TODAY, TODAY)).toEqual(rows);
    expect((await operator('job', 'recount', account)).stdout).toBe(
      `${from} to ${TODAY}: 65 log entries. Missing counts added: 0.\n`,
    );
    expect(await listJobs(account, TODAY, TODAY)).toEqual(rows);
  });

  test('job recount counts from the first to the last given day, inclusive', async () => {
    const [account, job_id] = [await newAccount(), newUuid()];
    for (const daysAgo of [1, 2, 3, 4, 9]) await log(account, job_id, 'sent', at(daysAgo));
    const [from = '', to = '', long = ''] = [3, 2, 30].map((daysAgo) => at(daysAgo).slice(0, 10));
    const recount = (...options: string[]) => inJson('job', 'recount', account, ...options);
    expect(await recount('--from', from, '--to', to)).toEqual({ from, to, entries: 2, counted: 2 });
    expect((await listJobs(account, long, TODAY)).map(({ count }) => count)).toEqual([2]);
    expect((await operator('job', 'recount', account)).stdout).toContain(': 4 log entries. Missing counts added: 2.\n');
    expect(await recount('--from', long)).toMatchObject({ entries: 5, counted: 1 });
    expect((await listJobs(account, long, TODAY)).map(({ count }) => count)).toEqual([5]);
  });

  test("a new counter of job recount expires after the stack's retention, or after --retention days", async () => {
    const [account, job_id] = [await newAccount(), jobOf(newId(), 'api', timestamp())];
    const days = async (state: State, ...options: string[]) => {
      await log(account, job_id, state, at(0));
      await inJson('job', 'recount', account, ...options);
      const key = jobCounterKey(account, { day: TODAY, job_id, payload_type: 'text', state });
      const { expires_at = 0 } = (await get<{ expires_at: number }>(key)) ?? {};
      // Full days after the day of the counter.
      return Math.floor((expires_at - Date.now() / 1000) / 86_400);
    };
    expect(await days('sent')).toBe(readSettings({}).counterRetention);
    expect(await days('read', '--retention', '30')).toBe(30);
  });

  test.runIf(hasTerminal)('job recount draws a bar on a terminal, and none with --json', async () => {
    const account = await newAccount();
    await log(account, newUuid(), 'sent', at(0), 3);
    const words = await onTerminal(['job', 'recount', account]);
    expect(words.printed).toMatch(/█+ 100 % {2}8 of 8 states, 3 log entries/);
    // The terminal shows the target, which is printed on stderr, and the result.
    const json = (await onTerminal(['job', 'recount', account, '--json'])).printed.replace(/^target: .*\r?\n/, '');
    expect(JSON.parse(json)).toMatchObject({ entries: 3, counted: 0 });
  });
});
