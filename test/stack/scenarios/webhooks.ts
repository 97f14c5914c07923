/** Requests of the webhooks that a business manages itself. */
import { updateAccount } from '../../../infra/operator/queries/accounts-admin.ts';
import type { webhooks } from '../../../shared/api/areas/webhooks.ts';
import { timestamp } from '../../../shared/core/clock.ts';
import { addEndpoint, rotateSecret } from '../../../shared/delivery/endpoints.ts';
import { enqueueWrites, transactInOrder } from '../../../shared/outbox/entries.ts';
import type { Conversation } from '../../../shared/outbox/event.ts';
import { awaitDestination, readHead } from '../../../shared/outbox/head.ts';
import { newPhones } from '../support/world.ts';
import { consistent, inTransaction } from './kilobytes.ts';
import type { Scenarios } from './scenarios.ts';
import { DAY_MS, largestBusiness, longest } from './world.ts';

const URL = 'https://example.com/events';

/** KB of five endpoints, with the longest URLs and descriptions and three replaced secrets each; and of their ids. */
const [ENDPOINTS, IDS] = [11.5, 1];

/** Conversations that are made due, and the units of each, with its index. */
const [WOKEN, WAKING] = [2_000, 5];

const longestUrl = (path: string): string => `${URL}/${path}`.padEnd(1_000, 'x');

/** A business without a platform. */
const newBusiness = async (): Promise<string> => {
  const { account } = await largestBusiness();
  await updateAccount(account, { platform: null });
  return account;
};

const addOne = async (account: string): Promise<string> =>
  (await addEndpoint({ account, token: 'token-1' }, { url: URL })).id;

/** Five of the largest endpoints. Returns the id of the last one. */
const addAll = async (account: string, count = 5): Promise<string> => {
  let last = '';
  for (let place = 0; place < count; place += 1) {
    const draft = { url: longestUrl(String(place)), description: longest(200) };
    last = (await addEndpoint({ account, token: 'token-1' }, draft)).id;
    for (let change = 0; change < 3; change += 1) await rotateSecret({ account, token: 'token-1' }, last);
  }
  return last;
};

/** Conversations that wait for a destination. */
const addWaiting = async (account: string, count: number): Promise<void> => {
  for (const phone of newPhones(count)) {
    const conversation: Conversation = { direction: 'platform', account, phone };
    const outgoing = { type: 'user.state', user: { account, phone }, state: 'stopped' } as const;
    await transactInOrder((after) => enqueueWrites(conversation, outgoing, after));
    const head = await readHead(conversation);
    const why = { end: Date.now() + DAY_MS, since: timestamp(), cause: 'no_platform' };
    if (head !== undefined) await awaitDestination(head, why);
  }
};

const change = {
  read: 2 * consistent(ENDPOINTS) + 2,
  write: inTransaction(ENDPOINTS) + inTransaction(IDS) + 10,
};
const waking = { read: 150, write: WOKEN * WAKING };

export const webhooksScenarios: Scenarios<typeof webhooks> = {
  createWebhook: {
    prepare: async () => ({ body: { url: URL } }),
    repeatStatus: 409,
    max: {
      read: change.read + waking.read,
      write: change.write + waking.write,
      of: 'the fifth one, with 2,000 users whose events wait',
    },
    worst: {
      prepare: async () => {
        const account = await newBusiness();
        await addAll(account, 4);
        await addWaiting(account, 4);
        return { account, body: { url: longestUrl('last'), description: longest(200) } };
      },
      beyond: () => ({ body: { url: longestUrl('last'), description: longest(201) } }),
      whole: ({ read, write }) => ({ read: read + 100, write: write + (WOKEN - 4) * WAKING }),
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
    max: {
      read: change.read + waking.read,
      write: change.write + waking.write,
      of: 'one of five, with 2,000 users whose events wait',
    },
    worst: {
      prepare: async () => {
        const account = await newBusiness();
        const id = await addAll(account);
        await addWaiting(account, 4);
        return { account, path: { webhook_id: id }, body: { url: longestUrl('other') } };
      },
      beyond: () => ({ body: { url: longestUrl('other'), description: longest(201) } }),
      whole: ({ read, write }) => ({ read: read + 100, write: write + (WOKEN - 4) * WAKING }),
    },
  },
  rotateWebhookSecret: {
    prepare: async ({ account }) => ({ path: { webhook_id: await addOne(account) } }),
    repeat: 'new',
    max: { ...change, of: 'one of five' },
    worst: {
      prepare: async () => {
        const account = await newBusiness();
        return { account, path: { webhook_id: await addAll(account) } };
      },
    },
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
          await addEndpoint({ account, token: 'token-1' }, { url: `${URL}/other` });
          return { path: { webhook_id: await addOne(account) } };
        },
        repeatStatus: 404,
      },
    },
    max: { ...change, of: 'one of five' },
    worst: {
      prepare: async () => {
        const account = await newBusiness();
        return { account, path: { webhook_id: await addAll(account) } };
      },
    },
  },
};
