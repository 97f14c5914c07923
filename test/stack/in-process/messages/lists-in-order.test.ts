/**
 * Messages to a few users are accepted at once, step by step: a later message to one of them follows.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { sendEach, sendToMany } from '../../../../shared/campaigns/accept.ts';
import { expand } from '../../../../shared/campaigns/expand.ts';
import { cancelJob } from '../../../../shared/messaging/jobs/cancel.ts';
import { sendMessage } from '../../../../shared/messaging/send.ts';
import { pendingEntries } from '../../../../shared/outbox/entries.ts';
import { listLogs } from '../../../../shared/stats/delivery-log.ts';
import { readMessage } from '../../../../shared/stats/message-log.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { consumedBy } from '../../support/consumed.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { newAccount, newPhones } from '../../support/world.ts';

const NOW = Date.UTC(2030, 0, 1);

useOwnTable('lists-in-order');
captureLog();

beforeEach(() => void vi.useFakeTimers({ now: NOW, toFake: ['Date'] }));

afterEach(() => void vi.useRealTimers());

const text = (body: string) => ({ type: 'text' as const, text: { body } });

/** The texts that wait for a user, in the order in which they are delivered. */
const waitingFor = async (account: string, phone: string): Promise<string[]> => {
  const texts: string[] = [];
  for await (const entries of pendingEntries({ direction: 'app', account, phone })) {
    for (const { outgoing } of entries) {
      if (outgoing.type === 'message.send' && outgoing.content.type === 'text') texts.push(outgoing.content.text.body);
    }
  }
  return texts;
};

test.each([1, 2, 25])('a message that is sent after a list of %i to the same user follows it', async (size) => {
  for (let pair = 0; pair < 5; pair += 1) {
    const account = await newAccount();
    const to = newPhones(size);
    await sendToMany(account, { to, ...text('list') }, {});
    for (const phone of to) await sendMessage(account, { to: phone, ...text('later') }, {});
    for (const phone of to) expect(await waitingFor(account, phone)).toEqual(['list', 'later']);
  }
});

test('a list follows what was accepted before, also by instances whose clocks are ahead', async () => {
  const account = await newAccount();
  const [first = '', second = '', third = ''] = newPhones(3);
  vi.setSystemTime(NOW + 120_000);
  await sendMessage(account, { to: first, ...text('ahead') }, {});
  vi.setSystemTime(NOW + 60_000);
  await sendMessage(account, { to: second, ...text('ahead') }, {});
  vi.setSystemTime(NOW);
  await sendToMany(account, { to: [first, second, third], ...text('list') }, {});
  expect(await waitingFor(account, first)).toEqual(['ahead', 'list']);
  expect(await waitingFor(account, second)).toEqual(['ahead', 'list']);
  expect(await waitingFor(account, third)).toEqual(['list']);
});

test('in random orders of requests to few users, each user gets all messages in the order of acceptance', async () => {
  const PHONES = newPhones(4);
  const phone = fc.constantFrom(...PHONES);
  const requests = fc.array(
    fc.oneof(
      fc.record({ kind: fc.constant('one' as const), to: fc.array(phone, { minLength: 1, maxLength: 1 }) }),
      fc.record({ kind: fc.constant('list' as const), to: fc.array(phone, { minLength: 1, maxLength: 25 }) }),
      fc.record({ kind: fc.constant('each' as const), to: fc.array(phone, { minLength: 1, maxLength: 25 }) }),
    ),
    { minLength: 2, maxLength: 8 },
  );
  await fc.assert(
    fc.asyncProperty(requests, async (all) => {
      const account = await newAccount();
      const expected = new Map<string, string[]>();
      const accept = (to: string, body: string) => void expected.set(to, [...(expected.get(to) ?? []), body]);
      for (const [place, { kind, to }] of all.entries()) {
        const body = String(place);
        const [first = ''] = to;
        if (kind === 'one') await sendMessage(account, { to: first, ...text(body) }, {});
        else if (kind === 'list') await sendToMany(account, { to, ...text(body) }, {});
        else
          await sendEach(
            account,
            to.map((one, index) => ({ to: one, ...text(`${body}.${index}`) })),
            {},
          );
        if (kind === 'each') for (const [index, one] of to.entries()) accept(one, `${body}.${index}`);
        else for (const one of new Set(to)) accept(one, body);
      }
      for (const [one, bodies] of expected) expect(await waitingFor(account, one)).toEqual(bodies);
    }),
    { numRuns: 10 },
  );
});

describe('a request to few users', () => {
  test('is logged at once, under the ids of its response', async () => {
    const account = await newAccount();
    const [first = '', second = ''] = newPhones(2);
    const drafts = [second, first, second].map((to, place) => ({ to, ...text(String(place)) }));
    const { job_id, messages } = await sendEach(account, drafts, {});
    for (const { to, id } of messages) {
      expect(await readMessage(account, id)).toMatchObject({
        ...{ job_id, contact: `${to}@users.example.com` },
        states: [{ state: 'sent' }],
      });
    }
    expect(await expand(account, undefined, Date.now() + 60_000)).toMatchObject({ expanded: 0 });
  });

  test('is accepted as a whole or not at all: after a cancellation of its job, no message exists', async () => {
    const account = await newAccount();
    const job_id = randomUUID();
    const to = newPhones(3);
    await sendToMany(account, { to, ...text('first') }, { job_id });
    await cancelJob(account, job_id);
    const refused = sendToMany(account, { to, ...text('second') }, { job_id });
    await expect(refused).rejects.toMatchObject({ code: 'job_cancelled' });
    for (const phone of to) expect(await waitingFor(account, phone)).toEqual(['first']);
  });

  test.each<[string, Parameters<typeof sendToMany>[1], Parameters<typeof sendToMany>[2]]>([
    ['more than 25 users', { to: newPhones(26), ...text('list') }, {}],
    ['a low priority', { to: newPhones(2), ...text('list') }, { priority: 'low' }],
    ['a time', { to: newPhones(2), ...text('list') }, { send_at: NOW + 3_600_000 }],
    ['over 1 MB', { to: newPhones(25), ...text('list'), quick_replies: Array(10).fill('x'.repeat(4_096)) }, {}],
  ])('takes its turn as a batch with %s', async (_, draft, options) => {
    const account = await newAccount();
    await sendToMany(account, draft, options);
    expect((await listLogs(account, {}, 10)).entries).toEqual([]);
  });

  test('takes its turn as a batch if the account sends more than 40 at once, or 20 a second', async () => {
    const account = await newAccount();
    const send = () => sendToMany(account, { to: newPhones(1), ...text('list') }, {});
    const logged = async () => (await listLogs(account, { state: 'sent' }, 1_000)).entries.length;
    for (let count = 0; count < 50; count += 1) await send();
    expect(await logged()).toBe(40);
    vi.setSystemTime(NOW + 1_000);
    for (let count = 0; count < 30; count += 1) await send();
    expect(await logged()).toBe(60);
    const other = await newAccount();
    await sendToMany(other, { to: newPhones(1), ...text('list') }, {});
    expect((await listLogs(other, {}, 10)).entries).toHaveLength(1);
  });

  test.skipIf(process.env.DYNAMODB_ENDPOINT)(
    'costs 6 write units for each user, and at most 8 units more',
    async () => {
      const account = await newAccount();
      const { table } = await consumedBy(() =>
        sendToMany(account, { to: newPhones(25), ...text('x'.repeat(100)) }, {}),
      );
      expect(table).toBeLessThanOrEqual(25 * 6 + 8);
    },
  );
});
