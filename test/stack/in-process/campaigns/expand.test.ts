/**
 * Expansion step by step: priorities, crashes, erased recipients, chunks that are left, and costs.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { scheduleMessage, sendEach, sendToMany } from '../../../../shared/campaigns/accept.ts';
import { batchKey, chunksOf, expansionKey, progressKey, uploadKey } from '../../../../shared/campaigns/entities.ts';
import { expand } from '../../../../shared/campaigns/expand.ts';
import { messageIdAt, positionOf } from '../../../../shared/campaigns/ids.ts';
import { abandonUpload, isSuperseded } from '../../../../shared/campaigns/recover.ts';
import { readBatch, readProgress } from '../../../../shared/campaigns/stored-batch.ts';
import { sortableTime } from '../../../../shared/core/clock.ts';
import { newId } from '../../../../shared/core/ids.ts';
import { ScheduledWork } from '../../../../shared/due-work/scheduled-work.ts';
import { erasureKey } from '../../../../shared/messaging/entities.ts';
import { cancelJob } from '../../../../shared/messaging/jobs/cancel.ts';
import { oldestEntries } from '../../../../shared/outbox/entries.ts';
import { listLogs } from '../../../../shared/stats/delivery-log.ts';
import { logOfMessage, readMessage } from '../../../../shared/stats/message-log.ts';
import { documents, getConsistent, page, putIfAbsent, removeAll } from '../../../../shared/table/client.ts';
import type { Key } from '../../../../shared/table/keys.ts';
import { eraseUser, removeUser } from '../../../../shared/user-data/erasure.ts';
import { updateUser } from '../../../../shared/users/users.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { useFakeQueue } from '../../../unit/support/fake-queue.ts';
import { consumedBy } from '../../support/consumed.ts';
import { completeErasure } from '../../support/erasure.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { rejection } from '../../support/rejection.ts';
import { newAccount, newAccountId, newMedia, newPhone, newPhones } from '../../support/world.ts';

useOwnTable('campaigns');
useFakeQueue();
const written = captureLog();

afterEach(() => void vi.restoreAllMocks());

const text = (body = 'Hello') => ({ type: 'text' as const, text: { body } });

/** Expands as the worker does, with a minute left. */
const run = (account: string, named?: string) => expand(account, named, Date.now() + 60_000);

/** The logged messages of an account by contact. */
const logged = async (account: string): Promise<string[]> =>
  (await logOf(account)).filter(({ state }) => state === 'sent').map(({ contact }) => contact.split('@')[0] ?? '');

/** The log of an account, also of the next minutes, in which erasures end. */
const logOf = async (account: string) =>
  (await listLogs(account, { end: Math.ceil(Date.now() / 1_000) + 600 }, 1_000)).entries;

/** The texts that wait for a user, in order. */
const pending = async (account: string, phone: string): Promise<string[]> => {
  const { entries } = await oldestEntries({ direction: 'app', account, phone });
  return entries.map(({ outgoing }) =>
    outgoing.type === 'message.send' && outgoing.content.type === 'text' ? outgoing.content.text.body : '',
  );
};

const chunkKeys = async (upload: string): Promise<Key[]> => {
  const { items } = await page<Key>({
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': chunksOf(upload) },
    ConsistentRead: true,
  });
  return items.map(({ pk, sk }) => ({ pk, sk }));
};

/** The only batch of an account. */
const batchOfAccount = async (account: string) => {
  const { items } = await page<Key>({
    IndexName: 'gsi3',
    KeyConditionExpression: 'gsi3pk = :pk',
    ExpressionAttributeValues: { ':pk': `PENDING#${account}` },
  });
  const [key] = items;
  const batch = await readBatch(account, key?.pk.split('#')[2] ?? '');
  if (batch === undefined) throw new Error('There is no batch.');
  return batch;
};

test('each recipient gets one message, and afterwards no chunk, content or index entry is left', async () => {
  const account = await newAccount();
  const to = newPhones(260);
  const { job_id } = await sendToMany(account, { to, ...text() }, {});
  const batch = await batchOfAccount(account);
  expect(batch.chunks).toHaveLength(2);
  expect(await readMessage(account, messageIdAt(batch.id, 259))).toMatchObject({
    job_id,
    payload_type: 'text',
    states: [{ state: 'scheduled', created: batch.created }],
  });
  const other = await newAccount();
  await expect(readMessage(other, messageIdAt(batch.id, 0))).rejects.toThrow('message_not_found');
  await expect(readMessage(account, messageIdAt(batch.id, 260))).rejects.toThrow('message_not_found');

  expect(await run(account)).toMatchObject({ expanded: 260, unfinished: false });
  expect((await logged(account)).sort()).toEqual(to.toSorted());
  for (const phone of to.slice(0, 3)) expect(await pending(account, phone)).toEqual(['Hello']);
  expect(await chunkKeys(batch.upload)).toEqual([]);
  expect(await getConsistent(uploadKey(batch.upload))).toBeUndefined();
  const done = await readBatch(account, batch.id);
  expect(done).not.toHaveProperty('content');
  expect(Object.keys(done ?? {}).filter((name) => name.startsWith('gsi'))).toEqual([]);
  expect(await readMessage(account, messageIdAt(batch.id, 0))).toMatchObject({ states: [{ state: 'sent' }] });
  expect(await run(account)).toMatchObject({ expanded: 0, unfinished: false });
});

/** The key of the message that a transaction accepts. */
const acceptedBy = ({ input }: TransactWriteCommand): string =>
  String(input.TransactItems?.map(({ Put }) => Put?.Item?.pk).find((pk) => String(pk).startsWith('MESSAGE#')) ?? '');

test('while the table throttles, messages are accepted more slowly, and none twice', async () => {
  const account = await newAccount();
  const to = newPhones(12);
  await sendToMany(account, { to, ...text() }, { priority: 'low' });
  const send = documents.send.bind(documents);
  const attempts = new Map<string, number>();
  vi.spyOn(documents, 'send').mockImplementation(async (command: unknown) => {
    const message = command instanceof TransactWriteCommand ? acceptedBy(command) : '';
    const attempt = (attempts.get(message) ?? 0) + 1;
    attempts.set(message, attempt);
    // Half of the messages are accepted at the fifth attempt: two more than are made at once.
    if (message !== '' && [...attempts.keys()].indexOf(message) % 2 === 0 && attempt < 5) {
      throw rejection('TransactionCanceledException', { CancellationReasons: [{ Code: 'ThrottlingError' }] });
    }
    return send(command as never);
  });
  const first = 100;
  const { expanded, unfinished, rate } = await expand(account, undefined, Date.now() + 60_000, first);
  expect({ expanded, unfinished }).toEqual({ expanded: 12, unfinished: false });
  expect(rate).toBeLessThan(first);
  vi.restoreAllMocks();
  expect((await logged(account)).sort()).toEqual(to.toSorted());
});

test('batches with a higher priority are expanded first, also between the chunks of another', async () => {
  const account = await newAccount();
  await sendToMany(account, { to: newPhones(300), ...text('low') }, { priority: 'low' });
  await sendToMany(account, { to: newPhones(26), ...text('medium') }, {});
  const urgent = newPhones(26);
  let isAccepted = false;
  const order: string[] = [];
  const send = documents.send.bind(documents);
  vi.spyOn(documents, 'send').mockImplementation((async (command: { input: { TransactItems?: unknown } }) => {
    const body = /message\.send.*"body":"(\w+)"/.exec(JSON.stringify(command.input.TransactItems ?? ''))?.[1];
    if (body !== undefined) order.push(body);
    if (order.length === 46 && !isAccepted) {
      // Its own calls come here, too.
      isAccepted = true;
      await sendToMany(account, { to: urgent, ...text('high') }, { priority: 'high' });
    }
    return send(command as never);
  }) as never);
  await run(account);
  expect(order[0]).toBe('medium');
  expect(order.indexOf('high')).toBe(276);
  expect(order.filter((body) => body === 'low')).toHaveLength(300);
});

test('a batch that the index does not contain yet is expanded if the wake-up names it', async () => {
  const account = await newAccount();
  await sendToMany(account, { to: newPhones(2), ...text() }, { priority: 'low' });
  const { id } = await batchOfAccount(account);
  const send = documents.send.bind(documents);
  vi.spyOn(documents, 'send').mockImplementation((async (command: { input: { IndexName?: string } }) =>
    command.input.IndexName === 'gsi3' ? { Items: [] } : send(command as never)) as never);
  expect(await run(account)).toMatchObject({ expanded: 0, unfinished: false });
  expect(await run(account, id)).toMatchObject({ expanded: 2, unfinished: false });
});

test('after a crash at any call, a repeat completes the batch, and nobody gets a message twice', async () => {
  const [first = '', second = ''] = newPhones(2).sort();
  const send = documents.send.bind(documents);
  for (let crash = 1; ; crash += 1) {
    const account = await newAccount();
    await sendEach(
      account,
      [
        { to: second, ...text('1') },
        { to: first, ...text('2') },
        { to: second, ...text('3') },
      ],
      { priority: 'low' },
    );
    let calls = 0;
    const spy = vi.spyOn(documents, 'send').mockImplementation((async (command: never) => {
      calls += 1;
      if (calls > crash) throw new Error('The process was killed.');
      return send(command);
    }) as never);
    const crashed = await run(account).then(
      () => false,
      () => true,
    );
    spy.mockRestore();
    await run(account);
    expect(await pending(account, second), `crash after call ${crash}`).toEqual(['1', '3']);
    expect(await pending(account, first)).toEqual(['2']);
    if (!crashed) return;
  }
});

describe('a batch of which a step fails again and again', () => {
  const NOW = Date.UTC(2030, 0, 1, 12);
  const MINUTE = 60_000;
  beforeEach(() => void vi.useFakeTimers({ now: NOW, toFake: ['Date'] }));
  afterEach(() => void vi.useRealTimers());

  /** Fails each write of messages to this number. */
  const failFor = (phone: string) => {
    const send = documents.send.bind(documents);
    return vi.spyOn(documents, 'send').mockImplementation((async (command: { input: { TransactItems?: unknown } }) => {
      if (JSON.stringify(command.input.TransactItems ?? '').includes(`"${phone}"`)) throw new TypeError('No.');
      return send(command as never);
    }) as never);
  };

  const postponements = () =>
    written.filter((line) => line.includes('"batch postponed"')).map((line) => JSON.parse(line));

  /** Whether `sweep` wakes the account. */
  const isDue = async (account: string): Promise<boolean> => {
    for await (const due of new ScheduledWork('expansions', sortableTime(Date.now())).due()) {
      if (due.some(({ gsi1sk }) => gsi1sk.startsWith(`${account}#`))) return true;
    }
    return false;
  };

  test('waits with growing pauses of at most an hour, while later batches of the account are sent', async () => {
    const account = await newAccount();
    const [failing = '', other = ''] = newPhones(2);
    await sendToMany(account, { to: [failing], ...text('1') }, { priority: 'low' });
    vi.setSystemTime(NOW + 1);
    await sendToMany(account, { to: [other], ...text('2') }, { priority: 'low' });
    const failures = failFor(failing);
    await expect(run(account)).rejects.toThrow('No.');
    expect(await run(account)).toMatchObject({ expanded: 1, unfinished: false });
    expect(await pending(account, other)).toEqual(['2']);
    expect(postponements()).toMatchObject([{ level: 'error', account, error: 'TypeError', batches_postponed: 1 }]);

    for (const minutes of [1, 2, 4, 8, 16, 32, 60, 60]) {
      const before = postponements().length;
      vi.setSystemTime(Date.now() + minutes * MINUTE - 1_000);
      expect(await isDue(account)).toBe(false);
      expect(await run(account)).toMatchObject({ expanded: 0, unfinished: false });
      expect(postponements()).toHaveLength(before);
      vi.setSystemTime(Date.now() + 1_000);
      expect(await isDue(account)).toBe(true);
      expect(await run(account)).toMatchObject({ expanded: 0, unfinished: false });
      expect(postponements(), `after ${minutes} minutes`).toHaveLength(before + 1);
    }

    failures.mockRestore();
    vi.setSystemTime(Date.now() + 60 * MINUTE);
    expect(await run(account)).toMatchObject({ expanded: 1, unfinished: false });
    expect(await pending(account, failing)).toEqual(['1']);
    expect(await isDue(account)).toBe(false);
  });

  test('of a cancelled job holds up neither other cancelled jobs nor later batches', async () => {
    const account = await newAccount();
    const [failing = '', ended = '', other = ''] = newPhones(3);
    const jobs = [randomUUID(), randomUUID()] as const;
    const send_at = NOW + 60 * MINUTE;
    await sendToMany(account, { to: [failing], ...text('1') }, { job_id: jobs[0], send_at });
    await sendToMany(account, { to: [ended], ...text('2') }, { job_id: jobs[1], send_at });
    for (const job of jobs) await cancelJob(account, job);
    await sendToMany(account, { to: [other], ...text('3') }, { priority: 'low' });
    const failures = failFor(failing);
    await expect(run(account)).rejects.toThrow('No.');
    await run(account);
    expect((await logged(account)).toSorted()).toEqual([ended, other].toSorted());

    failures.mockRestore();
    vi.setSystemTime(NOW + 2 * MINUTE);
    await run(account);
    expect((await logged(account)).toSorted()).toEqual([failing, ended, other].toSorted());
    expect(await pending(account, failing)).toEqual([]);
  });

  test('because its messages cannot be logged as expired holds up no later batch', async () => {
    const account = await newAccount();
    const [failing = '', other = ''] = newPhones(2);
    await sendToMany(account, { to: [failing], ...text('1') }, { priority: 'low', valid_for: 60 });
    vi.setSystemTime(NOW + 2 * MINUTE);
    await sendToMany(account, { to: [other], ...text('2') }, { priority: 'low' });
    const failures = failFor(failing);
    await expect(run(account)).rejects.toThrow('No.');
    expect(await run(account)).toMatchObject({ expanded: 1, unfinished: false });
    expect(await pending(account, other)).toEqual(['2']);

    failures.mockRestore();
    vi.setSystemTime(NOW + 4 * MINUTE);
    expect(await run(account)).toMatchObject({ expanded: 1, unfinished: false });
    expect((await logOf(account)).map(({ state, reason }) => [state, reason])).toContainEqual([
      'sending_failed',
      'expired',
    ]);
  });
});

test('time that is over stops between steps, and the next run continues', async () => {
  const account = await newAccount();
  const to = newPhones(60);
  await sendToMany(account, { to, ...text() }, {});
  const batch = await batchOfAccount(account);
  vi.stubEnv('CAMPAIGN_RATE', '100');
  const first = await expand(account, undefined, Date.now() + 200);
  vi.stubEnv('CAMPAIGN_RATE', '900');
  expect(first.unfinished).toBe(true);
  expect(first.expanded % 25).toBe(0);
  expect((await readProgress(batch)).done).toBe(first.expanded);
  const second = await run(account);
  expect(first.expanded + second.expanded).toBe(60);
  expect((await logged(account)).sort()).toEqual(to.toSorted());
});

describe('a message for later', () => {
  const MINUTE = 60_000;

  afterEach(() => void vi.useRealTimers());

  test('is found by sweep at its time, is expanded then and not before, and nothing is lost if the clock is set back', async () => {
    const account = await newAccount();
    const phone = newPhone();
    const start = Date.now();
    const send_at = start + 10 * MINUTE;
    const id = await scheduleMessage(account, { to: phone, ...text('later') }, { send_at });
    expect(await readMessage(account, id)).toMatchObject({ states: [{ state: 'scheduled' }] });
    const { id: batch } = await batchOfAccount(account);
    const isDue = async (time: number): Promise<boolean> => {
      for await (const due of new ScheduledWork('expansions', sortableTime(time)).due())
        if (due.some(({ pk }) => pk.includes(batch))) return true;
      return false;
    };
    expect([await isDue(send_at - 1), await isDue(send_at)]).toEqual([false, true]);

    for (const present of [send_at - 1, start - 60 * MINUTE]) {
      vi.useFakeTimers({ toFake: ['Date'], now: present });
      expect(await run(account, batch)).toMatchObject({ expanded: 0, unfinished: false });
    }
    vi.useFakeTimers({ toFake: ['Date'], now: send_at });
    expect(await run(account)).toMatchObject({ expanded: 1, unfinished: false });
    expect(await pending(account, phone)).toEqual(['later']);
    expect(await readMessage(account, id)).toMatchObject({ states: [{ state: 'sent' }] });
  });

  test('does not delay a batch of lower priority that is due', async () => {
    const account = await newAccount();
    const send_at = Date.now() + 10 * MINUTE;
    await sendToMany(account, { to: newPhones(2), ...text() }, { send_at, priority: 'high' });
    await sendToMany(account, { to: newPhones(3), ...text() }, { priority: 'low' });
    expect((await run(account)).expanded).toBe(3);
    vi.useFakeTimers({ toFake: ['Date'], now: send_at });
    expect((await run(account)).expanded).toBe(2);
  });

  test('is accepted from one minute to 35 days ahead; a repeat with its idempotency key is accepted later, too', async () => {
    const account = await newAccount();
    const start = Date.now();
    vi.useFakeTimers({ toFake: ['Date'], now: start });
    const draft = { to: newPhone(), ...text() };
    for (const ahead of [MINUTE, 35 * 1_440 * MINUTE]) {
      await scheduleMessage(account, draft, { send_at: start + ahead });
    }
    for (const ahead of [MINUTE - 1, 35 * 1_440 * MINUTE + 1, -MINUTE]) {
      const refused = scheduleMessage(account, draft, { send_at: start + ahead });
      await expect(refused).rejects.toMatchObject({
        code: 'invalid_request',
        errors: [{ pointer: '#/send_at', detail: 'must be one minute to 35 days ahead' }],
      });
    }
    const options = { send_at: start + MINUTE, idempotencyKey: 'key' };
    const id = await scheduleMessage(account, draft, options);
    vi.setSystemTime(start + 2 * MINUTE);
    expect(await scheduleMessage(account, draft, options)).toBe(id);
    const other = scheduleMessage(account, draft, { ...options, send_at: start + 5 * MINUTE });
    await expect(other).rejects.toThrow('idempotency_key_reused');
  });

  test('is removed by an erasure of its user', async () => {
    const account = await newAccount();
    const phone = newPhone();
    const send_at = Date.now() + 10 * MINUTE;
    const id = await scheduleMessage(account, { to: phone, ...text() }, { send_at });
    await eraseUser(phone);
    const { id: batch, upload } = await batchOfAccount(account);
    expect(await completeErasure(phone)).toMatchObject({ messages: 1, failed: 0 });
    // Neither the number nor the text is left, and nothing leads to the batch.
    expect(await chunkKeys(upload)).toEqual([]);
    const stored = await readBatch(account, batch);
    expect(stored?.expanded).toBeDefined();
    expect(JSON.stringify(stored)).not.toMatch(new RegExp(`${phone}|Hello|gsi`));
    vi.useFakeTimers({ toFake: ['Date'], now: send_at });
    expect((await run(account)).expanded).toBe(0);
    expect((await logOfMessage(id)).map(({ state, reason_code }) => [state, reason_code])).toEqual([
      ['sent', undefined],
      ['sending_failed', 'user_erased'],
    ]);
  });

  test('cannot have an image whose URL expires before', async () => {
    const account = await newAccount();
    const url = `https://bridge.example.com/media/${await newMedia(account)}`;
    const draft = { to: newPhone(), type: 'image' as const, image: { url } };
    await scheduleMessage(account, draft, { send_at: Date.now() + 60 * MINUTE });
    const late = scheduleMessage(account, draft, { send_at: Date.now() + 3 * 1_440 * MINUTE });
    await expect(late).rejects.toMatchObject({ errors: [{ pointer: '#/image/url' }] });
  });
});

describe('erasure', () => {
  /** The log of an account under pseudonyms: states with their reasons, by message. */
  const erasedLog = async (account: string) =>
    (await logOf(account))
      .filter(({ contact }) => contact.startsWith('erased-'))
      .map(({ id, state, reason }) => [positionOf(id)?.position, state, reason])
      .sort();

  const ERASED = (position: number) => [
    [position, 'sending_failed', 'user_erased'],
    [position, 'sent', undefined],
  ];

  test('removes a recipient from chunks: the message is logged under the pseudonym, and never sent', async () => {
    const account = await newAccount();
    const [gone = '', ...others] = newPhones(30);
    await sendEach(
      account,
      [{ to: gone, ...text('1') }, ...others.map((to) => ({ to, ...text() })), { to: gone, ...text('2') }],
      {},
    );
    const { upload, id } = await batchOfAccount(account);
    await eraseUser(gone);
    expect(await completeErasure(gone)).toMatchObject({ messages: 2, erasures: 1 });
    const stored = [batchKey(account, id), progressKey(account, id), ...(await chunkKeys(upload))];
    for (const key of stored) expect(JSON.stringify(await getConsistent(key))).not.toContain(gone);
    expect(await getConsistent(erasureKey(gone))).toBeUndefined();
    expect(await run(account)).toMatchObject({ expanded: 29, unfinished: false });
    expect(await pending(account, gone)).toEqual([]);
    expect((await readProgress({ account, id })).ended?.size).toBe(2);
    expect(await erasedLog(account)).toEqual([...ERASED(0), ...ERASED(30)]);
    expect(JSON.stringify(await logOf(account))).not.toContain(gone);
  });

  test('that is not complete has its recipients logged as failed under the pseudonym when their turn comes', async () => {
    const account = await newAccount();
    const to = newPhones(3);
    const [, gone = ''] = to;
    await sendToMany(account, { to, ...text() }, { priority: 'low' });
    const batch = await batchOfAccount(account);
    await removeUser(newId(), gone);
    expect(await run(account)).toMatchObject({ expanded: 3, unfinished: false });
    expect(await pending(account, gone)).toEqual([]);
    expect(await erasedLog(account)).toEqual(ERASED(1));
    expect((await logOf(account)).map(({ state }) => state).sort()).toEqual(['sending_failed', 'sent', 'sent', 'sent']);
    expect(await chunkKeys(batch.upload)).toEqual([]);
    expect(await completeErasure(gone)).toMatchObject({ messages: 0, erasures: 1 });
  });

  test('that is not complete has the recipients of a cancelled job logged under the pseudonym, too', async () => {
    const account = await newAccount();
    const to = newPhones(3);
    const [, gone = ''] = to;
    const job_id = randomUUID();
    await sendToMany(account, { to, ...text() }, { job_id, send_at: Date.now() + 3_600_000 });
    await removeUser(newId(), gone);
    await cancelJob(account, job_id);
    expect(await run(account)).toMatchObject({ expanded: 3 });
    expect(await erasedLog(account)).toEqual(ERASED(1));
    expect(JSON.stringify(await logOf(account))).not.toContain(gone);
    expect(await completeErasure(gone)).toMatchObject({ messages: 0, erasures: 1 });
  });

  test("leaves messages to the number's next owner, who registered before the erasure was complete", async () => {
    const account = await newAccount();
    const gone = newPhone();
    await updateUser(newId(), { phone_number: gone });
    await sendToMany(account, { to: [gone, newPhone()], ...text('to the first') }, { priority: 'low' });
    await removeUser(newId(), gone);
    await updateUser(newId(), { phone_number: gone });
    await sendToMany(account, { to: [gone, newPhone()], ...text('to the next') }, { priority: 'low' });
    expect(await run(account)).toMatchObject({ expanded: 4, unfinished: false });
    expect(await pending(account, gone)).toEqual(['to the next']);
    expect(await erasedLog(account)).toEqual(ERASED(0));
  });

  test('of another user changes nothing', async () => {
    const account = await newAccount();
    const to = newPhones(3);
    await sendToMany(account, { to, ...text() }, { priority: 'low' });
    const gone = newPhone();
    await eraseUser(gone);
    expect(await completeErasure(gone)).toMatchObject({ messages: 0, erasures: 1 });
    expect((await run(account)).expanded).toBe(3);
  });

  test('of a recipient whose message exists leaves its log to the rest of the erasure', async () => {
    const account = await newAccount();
    const to = newPhones(2);
    const [, phone = ''] = to;
    await sendToMany(account, { to, ...text() }, { priority: 'low' });
    const batch = await batchOfAccount(account);
    const position = 1;
    // A step is under way: the message exists, and the progress is not written yet.
    const { acceptMessage } = await import('../../../../shared/messaging/send.ts');
    const id = messageIdAt(batch.id, position);
    await acceptMessage({ to: phone, ...text() }, { id, account, job_id: batch.job_id });
    expect(await eraseUser(phone)).toMatchObject({ waiting: 1, log_entries: 1 });
    expect(await completeErasure(phone)).toMatchObject({ messages: 0 });
    expect((await logOfMessage(id)).map(({ state }) => state)).toEqual(['sent', 'sending_failed']);
    await run(account);
    expect((await logOfMessage(id)).map(({ state }) => state)).toEqual(['sent', 'sending_failed']);
    expect(await pending(account, phone)).toEqual([]);
  });
});

test('the chunks of an upload that no batch names are removed, and it cannot be named any more', async () => {
  const account = await newAccount();
  const send = documents.send.bind(documents);
  const uploads: string[] = [];
  const spy = vi.spyOn(documents, 'send').mockImplementation((async (command: {
    constructor: { name: string };
    input: { Item?: { pk: string } };
  }) => {
    const { pk = '' } = command.input.Item ?? {};
    if (pk.startsWith('UPLOAD#')) uploads.push(pk.slice('UPLOAD#'.length));
    if (command.constructor.name === 'TransactWriteCommand') {
      spy.mockRestore();
      for (const upload of uploads) {
        expect(await chunkKeys(upload)).toHaveLength(1);
        await abandonUpload(uploadKey(upload));
        expect(await chunkKeys(upload)).toEqual([]);
      }
    }
    return send(command as never);
  }) as never);
  const rejected = sendToMany(account, { to: newPhones(2), ...text() }, { priority: 'low' });
  await expect(rejected).rejects.toThrow('unavailable');
  expect(uploads).toHaveLength(1);
  expect((await run(account)).expanded).toBe(0);
});

test('a chunk that a restore left out is skipped with an error in the log, and the others are expanded', async () => {
  const account = await newAccount();
  await sendToMany(account, { to: newPhones(300), ...text() }, {});
  const batch = await batchOfAccount(account);
  await removeAll((await chunkKeys(batch.upload)).slice(0, 1));
  expect(await run(account)).toMatchObject({ expanded: 50, unfinished: false });
  expect(written.join('\n')).toMatch(/"level":"error","message":"chunk missing".*"position":0/);
});

test('a wake-up is superseded by a later one that continues the expansion, for a minute', async () => {
  const account = newAccountId();
  expect(await isSuperseded(account, 1_000)).toBe(false);
  const woken = Date.now();
  await putIfAbsent({ ...expansionKey(account), woken });
  expect(await isSuperseded(account, woken - 1)).toBe(true);
  expect(await isSuperseded(account, woken)).toBe(false);
  vi.useFakeTimers({ toFake: ['Date'], now: woken + 61_000 });
  expect(await isSuperseded(account, woken - 1)).toBe(false);
  vi.useRealTimers();
});

test.skipIf(process.env.DYNAMODB_ENDPOINT)(
  'accepting 10,000 recipients costs at most 320 write units, and expanding them at most 6.3 each',
  async () => {
    const account = await newAccount();
    const later = { send_at: Date.now() + 86_400_000 };
    const accepted = await consumedBy(() =>
      sendToMany(account, { to: newPhones(10_000), ...text('x'.repeat(100)) }, later),
    );
    expect(accepted.written).toBeLessThanOrEqual(320);

    const to = newPhones(250);
    await sendToMany(account, { to, ...text('x'.repeat(100)) }, {});
    const expanded = await consumedBy(() => run(account));
    expect(expanded.written / to.length).toBeLessThanOrEqual(6.3);
    // The opt-out of each, and the account and the job once for 25.
    expect((expanded.table - expanded.written) / to.length).toBeLessThanOrEqual(1.2);
  },
);
