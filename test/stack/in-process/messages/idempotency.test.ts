/**
 * Idempotency keys of all endpoints, step by step on a separate table: one key is accepted once, whatever the requests
 * are, and a repeat returns the first response, whatever has changed since.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type BatchOptions, scheduleMessage, sendEach, sendToMany } from '../../../../shared/campaigns/accept.ts';
import { expand } from '../../../../shared/campaigns/expand.ts';
import { mediaKey } from '../../../../shared/media/entities.ts';
import { cancelJob } from '../../../../shared/messaging/jobs/cancel.ts';
import { changeOptOut } from '../../../../shared/messaging/opt-outs/changes.ts';
import { sendMessage } from '../../../../shared/messaging/send.ts';
import { createProfiler, deleteProfiler } from '../../../../shared/profilers/profilers.ts';
import { listLogs } from '../../../../shared/stats/delivery-log.ts';
import { documents, remove } from '../../../../shared/table/client.ts';
import { eraseUser } from '../../../../shared/user-data/erasure.ts';
import { startRequest } from '../../../../shared/user-data/requests.ts';
import { updateUser } from '../../../../shared/users/users.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { useFakeQueue } from '../../../unit/support/fake-queue.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { newAccount, newMedia, newPhones } from '../../support/world.ts';

vi.mock('node:timers/promises', () => ({ setTimeout: async () => undefined }));

const NOW = Date.UTC(2030, 0, 1);
const MINUTE = 60_000;
const DAY = 86_400_000;

useOwnTable('idempotency');
useFakeQueue();
captureLog();

beforeEach(() => void vi.useFakeTimers({ now: NOW, toFake: ['Date'] }));

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

interface World {
  account: string;
  phone: string;
  other: string;
  media: string;
  job_id: string;
}

const newWorld = async (): Promise<World> => {
  const account = await newAccount();
  const [phone = '', other = ''] = newPhones(2);
  await updateUser(`${phone} registered`, { phone_number: phone, properties: {} });
  return { account, phone, other, media: await newMedia(account, DAY), job_id: randomUUID() };
};

const imageOf = ({ media }: World) =>
  ({ type: 'image', image: { url: `https://bridge.example.com/media/${media}` } }) as const;

/** A request with an idempotency key. */
type Request = (world: World, options: BatchOptions) => Promise<unknown>;

/** The requests that share the keys of `POST /v1/message`. */
const toSendMessage: Record<string, Request> = {
  'a message to one user': (world, options) =>
    sendMessage(world.account, { to: world.phone, ...imageOf(world) }, options),
  'a message that is valid for a time': (world, options) =>
    sendMessage(world.account, { to: world.phone, ...imageOf(world) }, { ...options, valid_for: 3_600 }),
  'a message for later': (world, options) =>
    scheduleMessage(world.account, { to: world.phone, ...imageOf(world) }, { ...options, send_at: NOW + MINUTE }),
  'a message to a list': (world, options) =>
    sendToMany(world.account, { to: [world.phone, world.other], ...imageOf(world) }, options),
  'a message to a long list': (world, options) =>
    sendToMany(world.account, { to: [world.phone, world.other, ...PHONES], ...imageOf(world) }, options),
  'a message to a list for later': (world, options) =>
    sendToMany(world.account, { to: [world.phone], ...imageOf(world) }, { ...options, send_at: NOW + MINUTE }),
};

const PHONES = newPhones(30);

const toSendMessages: Record<string, Request> = {
  'several messages': (world, options) =>
    sendEach(
      world.account,
      [world.phone, world.other, world.phone].map((to) => ({ to, ...imageOf(world), valid_for: 3_600 })),
      options,
    ),
  'many messages': (world, options) =>
    sendEach(
      world.account,
      PHONES.map((to) => ({ to, ...imageOf(world) })),
      options,
    ),
  'several messages for later': (world, options) =>
    sendEach(world.account, [{ to: world.other, ...imageOf(world) }], { ...options, send_at: NOW + MINUTE }),
};

const toStartRequest: Record<string, Request> = {
  'a user data request': ({ account, phone }, { idempotencyKey }) =>
    startRequest(account, phone, { reason: 'Why', data: [{ property: 'first_name', required: true }] }, idempotencyKey),
};

/** What may change between a request and its repeat. Each would reject a new request, or make it another one. */
const changes: Record<string, (world: World) => unknown> = {
  'its media have been deleted': ({ media }) => remove(mediaKey(media)),
  'its media have expired, and its time is over': () => vi.setSystemTime(NOW + 2 * DAY),
  'its job was cancelled': ({ account, job_id }) => cancelJob(account, job_id).catch(() => undefined),
  'the user has stopped the business': ({ account, phone }) =>
    changeOptOut({ event: `${phone} stops`, account, phone, state: 'stopped', at: undefined }),
  'the user was erased': ({ phone }) => eraseUser(phone),
  'its batches were expanded': ({ account }) => expand(account, undefined, Date.now() + MINUTE),
};

describe.each(Object.entries({ ...toSendMessage, ...toSendMessages, ...toStartRequest }))('%s', (_, request) => {
  test.each(Object.entries(changes))(
    'is accepted once: a repeat returns the first response, although %s',
    async (__, change) => {
      const world = await newWorld();
      const options = { idempotencyKey: 'key', job_id: world.job_id };
      const first = await request(world, options);
      const accepted = await acceptedBy(world);
      await change(world);
      const before = await acceptedBy(world);
      expect(await request(world, options)).toEqual(first);
      expect(await acceptedBy(world)).toBe(before);
      expect(accepted).toBeLessThanOrEqual(before);
    },
  );
});

/** How many messages of an account are logged. */
const acceptedBy = async ({ account }: World): Promise<number> =>
  (await listLogs(account, { state: 'sent', end: (NOW + 90 * DAY) / 1_000, start: 0 }, 1_000)).entries.length;

test('a profiler is created once, and a repeat returns the first response', async () => {
  const { account } = await newWorld();
  const draft = { question: 'Well?', options: ['yes', 'no'] };
  const first = await createProfiler(account, draft, 'key');
  expect(await createProfiler(account, draft, 'key')).toEqual(first);
  await deleteProfiler(account, first.id);
  expect((await createProfiler(account, draft, 'key')).id).toBe(first.id);
});

/** Each pair of different requests that share the keys of an endpoint. */
const pairs = [toSendMessage, toSendMessages].flatMap((kinds) =>
  Object.entries(kinds).flatMap(([name, one], index) =>
    Object.entries(kinds)
      .slice(index + 1)
      .map(([otherName, other]) => [name, otherName, one, other] as const),
  ),
);

test.each(pairs)('of %s and %s at the same time with one key, one is accepted', async (_, __, one, other) => {
  for (const [first, second] of [
    [one, other],
    [other, one],
  ] as const) {
    const world = await newWorld();
    // Both have found that the key is free before either is accepted.
    const free = Promise.withResolvers<void>();
    let found = 0;
    const send = documents.send.bind(documents);
    const spy = vi.spyOn(documents, 'send').mockImplementation((async (command: {
      input: { Key?: { sk: string } };
    }) => {
      const answer = await send(command as never);
      if (command.input.Key?.sk === 'IDEMPOTENCY' && found < 2) {
        found += 1;
        if (found === 2) free.resolve();
        await free.promise;
      }
      return answer;
    }) as never);
    const results = await Promise.allSettled(
      [first, second].map((request) => request(world, { idempotencyKey: 'key' })),
    );
    spy.mockRestore();
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(results.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'idempotency_key_reused' },
    });
  }
});

test.each(Object.entries({ ...toSendMessage, ...toSendMessages, ...toStartRequest }))(
  'five equal requests at the same time for %s return one response',
  async (_, request) => {
    const world = await newWorld();
    const responses = await Promise.all(Array.from({ length: 5 }, () => request(world, { idempotencyKey: 'key' })));
    for (const response of responses) expect(response).toEqual(responses[0]);
  },
);

describe('a key that is used again after its record has expired, while the table still has all rows', () => {
  const campaign = async (account: string, to: string[]) =>
    sendToMany(account, { to, type: 'text', text: { body: 'Hello' } }, { idempotencyKey: 'key', job_id: JOB });
  const JOB = '0f2c6a1e-7c1c-4b58-9a55-6e54f4f3f001';

  test('sends the whole campaign again, and the batches behind it', async () => {
    const { account } = await newWorld();
    const to = newPhones(60);
    const first = await campaign(account, to);
    await expand(account, undefined, Date.now() + MINUTE);
    vi.setSystemTime(NOW + 92 * DAY);
    expect(await campaign(account, to)).toEqual(first);
    await sendToMany(account, { to: newPhones(30), type: 'text', text: { body: 'Behind' } }, {});
    expect(await expand(account, undefined, Date.now() + MINUTE)).toMatchObject({ expanded: 90, unfinished: false });
  });

  test('sends a campaign again whose job was cancelled then', async () => {
    const { account } = await newWorld();
    const to = newPhones(60);
    await campaign(account, to);
    await cancelJob(account, JOB);
    await expand(account, undefined, Date.now() + MINUTE);
    vi.setSystemTime(NOW + 92 * DAY);
    await campaign(account, to);
    expect(await expand(account, undefined, Date.now() + MINUTE)).toMatchObject({ expanded: 60, unfinished: false });
    const { entries } = await listLogs(account, { state: 'sending_failed' }, 100);
    expect(entries.filter(({ created }) => created > '2030-02')).toEqual([]);
  });
});
