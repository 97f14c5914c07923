/** Requests of the webhooks that a business manages itself. */
import { updateAccount } from '../../../infra/operator/queries/accounts-admin.ts';
import type { webhooks } from '../../../shared/api/areas/webhooks.ts';
import { timestamp } from '../../../shared/core/clock.ts';
import { addEndpoint, rotateSecret } from '../../../shared/delivery/endpoints.ts';
import { enqueueWrites, transactInOrder } from '../../../shared/outbox/entries.ts';
import type { Conversation } from '../../../shared/outbox/event.ts';
import { awaitDestination, readHead, scheduleRetry } from '../../../shared/outbox/head.ts';
import type { Units } from '../support/consumed.ts';
import { authorOf, newPhones } from '../support/world.ts';
import { consistent, inTransaction } from './kilobytes.ts';
import type { Scenarios } from './scenarios.ts';
import { DAY_MS, largestBusiness, longest } from './world.ts';

const URL = 'https://example.com/events';

/** KB of five endpoints, with the longest URLs and descriptions and three replaced secrets each; and of their ids. */
const [ENDPOINTS, IDS] = [11.5, 1];

/** Conversations that are made due, those that a test adds, and the units of each, with its indexes. */
const [WOKEN, ADDED, WAKING] = [2_000, 4, 7];

const longestUrl = (path: string): string => `${URL}/${path}`.padEnd(1_000, 'x');

/** A business without a platform. */
const newBusiness = async (): Promise<string> => {
  const { account } = await largestBusiness();
  await updateAccount(account, { platform: null });
  return account;
};

const addOne = async (account: string): Promise<string> => (await addEndpoint(authorOf(account), { url: URL })).id;

/** Five of the largest endpoints. Returns the id of the last one. */
const addAll = async (account: string, count = 5): Promise<string> => {
  let last = '';
  for (let place = 0; place < count; place += 1) {
    const draft = { url: longestUrl(String(place)), description: longest(200) };
    last = (await addEndpoint(authorOf(account), draft)).id;
    for (let change = 0; change < 3; change += 1) await rotateSecret(authorOf(account), last);
  }
  return last;
};

/** Conversations that wait for a destination, and as many that have failed at the fifth endpoint. */
const addPending = async (account: string, count: number): Promise<void> => {
  for (const phone of newPhones(count)) {
    const outgoing = { type: 'user.state', user: { account, phone }, state: 'stopped' } as const;
    const waiting: Conversation = { direction: 'platform', account, phone };
    const failing: Conversation = { ...waiting, endpoint: 5 };
    for (const one of [waiting, failing]) await transactInOrder((after) => enqueueWrites(one, outgoing, after));
    const since = timestamp();
    const [waits, fails] = [await readHead(waiting), await readHead(failing)];
    if (waits) await awaitDestination(waits, { end: Date.now() + DAY_MS, since, cause: 'no_platform' });
    const why = { until: Date.now() + DAY_MS, since, failed: 'x', cause: 'status_500', attempts: 1 };
    if (fails) await scheduleRetry(fails, why);
  }
};

const change = {
  read: 2 * consistent(ENDPOINTS) + 2,
  write: inTransaction(ENDPOINTS) + inTransaction(IDS) + 10,
};
const waking = { read: 2 * 150, write: 2 * WOKEN * WAKING };

/** The most expensive change of the last one of five. */
const worst = {
  prepare: async () => {
    const account = await newBusiness();
    const id = await addAll(account);
    await addPending(account, ADDED);
    return { account, path: { webhook_id: id } };
  },
  whole: ({ read, write }: Units) => ({ read: read + 2 * 100, write: write + 2 * (WOKEN - ADDED) * WAKING }),
};

const MOST = 'one of five, with 2,000 users whose events wait, and 2,000 for whom they have failed';

export const webhooksScenarios: Scenarios<typeof webhooks> = {
  createWebhook: {
    prepare: async () => ({ body: { url: URL } }),
    repeatStatus: 409,
    max: {
      read: change.read + waking.read,
      write: change.write + waking.write,
      of: 'the fifth one, with 2,000 users whose events wait, and 2,000 for whom they have failed',
    },
    worst: {
      prepare: async () => {
        const account = await newBusiness();
        await addAll(account, 4);
        await addPending(account, ADDED);
        return { account, body: { url: longestUrl('last'), description: longest(200) } };
      },
      beyond: () => ({ body: { url: longestUrl('last'), description: longest(201) } }),
      whole: worst.whole,
    },
  },
  listWebhooks: {
    prepare: async ({ account }) => {
      await addOne(account);
      return {};
    },
    readsOnly: true,
    max: { read: consistent(ENDPOINTS) + 1 + 5, write: 0, of: 'five of the largest' },
    worst: {
      prepare: async () => {
        const account = await newBusiness();
        await addAll(account);
        return { account };
      },
    },
  },
  updateWebhook: {
    prepare: async ({ account }) => ({ path: { webhook_id: await addOne(account) }, body: { description: 'New' } }),
    repeat: 'new',
    max: { read: change.read + waking.read, write: change.write + waking.write, of: MOST },
    worst: {
      prepare: async () => ({ ...(await worst.prepare()), body: { url: longestUrl('other') } }),
      beyond: () => ({ body: { url: longestUrl('other'), description: longest(201) } }),
      whole: worst.whole,
    },
  },
  rotateWebhookSecret: {
    prepare: async ({ account }) => ({ path: { webhook_id: await addOne(account) } }),
    repeat: 'new',
    max: { ...change, of: 'one of five' },
    worst: { prepare: worst.prepare },
  },
  testWebhook: {
    prepare: async ({ account }) => ({ path: { webhook_id: await addOne(account) } }),
    repeat: 'new',
    max: { read: consistent(ENDPOINTS) + 1, write: 8, of: 'one of five' },
    worst: {
      prepare: async () => {
        const account = await newBusiness();
        return { account, path: { webhook_id: await addAll(account) } };
      },
    },
  },
  deleteWebhook: {
    calls: {
      'the only one': {
        prepare: async ({ account }) => ({ path: { webhook_id: await addOne(account) } }),
        repeatStatus: 404,
      },
      'one of two': {
        prepare: async ({ account }) => {
          await addEndpoint(authorOf(account), { url: `${URL}/other` });
          return { path: { webhook_id: await addOne(account) } };
        },
        repeatStatus: 404,
      },
    },
    max: { ...change, of: 'one of five' },
    worst: { prepare: worst.prepare },
  },
};
