/** Requests of the delivery history and listeners. */

import { vi } from 'vitest';
import { exampleDelivery } from '../../../infra/local/documentation/example-delivery.ts';
import { updateAccount } from '../../../infra/operator/queries/accounts-admin.ts';
import type { deliveries } from '../../../shared/api/areas/deliveries.ts';
import { now, sortableTime, timestamp } from '../../../shared/core/clock.ts';
import { newId } from '../../../shared/core/ids.ts';
import { attemptIdOf } from '../../../shared/delivery/entities.ts';
import { listenerOf } from '../../../shared/delivery/listeners/claim.ts';
import { encodeClaim } from '../../../shared/delivery/listeners/claims.ts';
import { conversationName, headKey, named, offeredTo } from '../../../shared/outbox/entities.ts';
import { oldestEntries } from '../../../shared/outbox/entries.ts';
import type { Conversation } from '../../../shared/outbox/event.ts';
import { claimOffer, offer, readHead } from '../../../shared/outbox/head.ts';
import { put, putAll, update } from '../../../shared/table/client.ts';
import { addOffer } from '../../support/example-offer.ts';
import { failedAttempt } from '../support/failed-attempt.ts';
import { newPhone, newPhones } from '../support/world.ts';
import { ATTEMPT, consistent, eventual, inTransaction, PAGE, POLLS, RECEIVED, SLOTS } from './kilobytes.ts';
import type { Business, Scenarios } from './scenarios.ts';
import { DAY_MS, largestBusiness, NOISE, receive, secret } from './world.ts';

/** A delivery that the webhook of a business has rejected: the id of its attempt. */
const failDelivery = async ({ account, phone }: Business): Promise<string> => {
  const failed = exampleDelivery(account, phone);
  await putAll([failed]);
  return attemptIdOf(failed);
};

/** The last attempts of events of a user, as large as may be. */
const putAttempts = async (account: string, phone: string, count: number) => {
  const conversation: Conversation = { direction: 'platform', account, phone };
  const items = Array.from({ length: count }, () => failedAttempt(conversation, newId(), NOISE));
  for (const item of items) await put(item);
  return items;
};

/** Heads of conversations that listeners may claim, without an entry: `claimDeliveries` hands them back. */
const putOffers = (account: string, count: number): Promise<void> =>
  putAll(
    newPhones(count).map((phone) => ({
      ...headKey(conversationName({ direction: 'platform', account, phone })),
      ...{ phone, generation: 1, newest: newId(), since: timestamp() },
      ...{ gsi1pk: 'DUE#conversations#0', gsi1sk: `${account}#${sortableTime(now() + DAY_MS)}` },
      ...{ gsi3pk: offeredTo(account), gsi3sk: sortableTime(now() - 1_000) },
    })),
  );

/** A conversation with so many of the longest messages, which is offered to listeners. */
const newOffer = async ({ account, bot }: { account: string; bot: string }, entries: number): Promise<Conversation> => {
  const conversation: Conversation = { direction: 'platform', account, phone: newPhone() };
  await receive({ bot }, conversation.phone, entries);
  const head = await readHead(conversation);
  if (head !== undefined) await offer(head, now() + DAY_MS);
  return conversation;
};

/** Claims an event of a user. */
const claimEvent = async ({ account, phone }: Business): Promise<string | undefined> => {
  await addOffer(account, phone);
  const [event] = await (await listenerOf(account))(1);
  return event?.claim;
};

/** A business whose events listeners may claim. */
const newListener = async () => {
  const business = await largestBusiness();
  await updateAccount(business.account, {
    platform: { name: 'webhook', settings: { secret }, listening: timestamp() },
  });
  return business;
};

export const deliveriesScenarios: Scenarios<typeof deliveries> = {
  listDeliveries: {
    prepare: async (business) => {
      await failDelivery(business);
      return {};
    },
    readsOnly: true,
    max: { read: (32 + 40) * eventual(PAGE), write: 0, of: 'of long events' },
    worst: {
      // One of 72 pages of 1 MB, and 31 empty ones.
      prepare: async ({ account }) => {
        await putAttempts(account, newPhone(), 6);
        return { query: { limit: '500' } };
      },
      beyond: () => ({ query: { limit: '501' } }),
      whole: ({ read, write }) => ({ read: (read - 31 * 0.5) * 72, write }),
    },
  },
  readDelivery: {
    prepare: async (business) => ({ path: { delivery_id: await failDelivery(business) } }),
    readsOnly: true,
    max: { read: 0.5 + consistent(ATTEMPT), write: 0, of: 'of a long event' },
    worst: {
      prepare: async ({ account }) => {
        const [attempt] = await putAttempts(account, newPhone(), 1);
        return { path: { delivery_id: attempt ? attemptIdOf(attempt) : '' } };
      },
    },
  },
  replayDelivery: {
    prepare: async (business) => ({ path: { delivery_id: await failDelivery(business) } }),
    tellsRepeats: true,
    max: {
      read: 2 * consistent(PAGE) + consistent(RECEIVED) + 1,
      write: inTransaction(RECEIVED) + inTransaction(ATTEMPT) + 6,
      of: 'a long event, whose attempts fill 1 MB',
    },
    worst: {
      // An event that has been replayed and has failed so often that its attempts fill a page of 1 MB.
      prepare: async ({ account }) => {
        const conversation: Conversation = { direction: 'platform', account, phone: newPhone() };
        const event = newId();
        const attempts = [];
        const present = Date.now();
        for (let place = 0; place < 6; place += 1) {
          vi.useFakeTimers({ toFake: ['Date'], now: present - place });
          attempts.push(failedAttempt(conversation, event, NOISE));
        }
        vi.useRealTimers();
        for (const attempt of attempts) await put(attempt);
        const [last] = attempts;
        return { path: { delivery_id: last ? attemptIdOf(last) : '' } };
      },
    },
  },
  recoverDeliveries: {
    prepare: async (business) => {
      await failDelivery(business);
      return { body: { since: 0 } };
    },
    tellsRepeats: true,
    max: {
      read: 1 + 40 * consistent(PAGE) + 21 * 2 * consistent(ATTEMPT) + 700 * 3,
      write: 21 * (inTransaction(RECEIVED) + inTransaction(ATTEMPT) + 6),
      of: '5 MB of events, among 40 MB of attempts',
    },
    worst: {
      // A quarter of 5 MB of events, which are handled, after 34 pages of attempts that are not.
      prepare: async ({ account }) => {
        await putAttempts(account, newPhone(), 5);
        return { body: { since: 0 } };
      },
      whole: ({ read, write }) => ({ read: read * 4 + 34 * 256, write: write * 4 }),
    },
  },
  claimDeliveries: {
    prepare: async ({ account, phone }) => {
      await addOffer(account, phone);
      return {};
    },
    // Each claim has another id, and each signature another time.
    shown: (body) => (Array.isArray(body) ? body.map(({ type }) => type) : body),
    repeatStatus: 204,
    max: {
      read: 2 + 20 * (consistent(RECEIVED) + 2) + POLLS * (20 * 2 + 3),
      write: POLLS * 20 * 7 + SLOTS,
      of: 'a long poll; 20 long events, or none that may be claimed',
    },
    worst: [
      {
        // One read of a long poll that claims the longest events.
        prepare: async () => {
          const business = await newListener();
          for (let place = 0; place < 20; place += 1) await newOffer(business, 1);
          return { account: business.account, query: { limit: '20' } };
        },
        beyond: () => ({ query: { limit: '21' } }),
        whole: ({ read, write }) => ({ read: read + (POLLS - 1) * (20 * 2 + 2), write: write + 42 }),
      },
      {
        // One read of a long poll that finds only events that no listener may receive.
        prepare: async () => {
          const { account } = await newListener();
          await putOffers(account, 20);
          return { account, query: { limit: '20' } };
        },
        whole: ({ read, write }) => ({ read: read * POLLS, write: write * POLLS + 42 }),
      },
    ],
  },
  settleDelivery: {
    calls: {
      'of an event that the program accepts': {
        prepare: async (business) => ({ body: { claim: await claimEvent(business), status_code: 204 } }),
        // The event leaves the outbox, and then the conversation ends.
        parts: 2,
        tellsRepeats: true,
        repeatStatus: 404,
      },
      'of an event that the program rejects for the first time': {
        prepare: async (business) => ({ body: { claim: await claimEvent(business), status_code: 400 } }),
        repeatStatus: 404,
      },
      'of an event that the program rejects': {
        prepare: async ({ account, bot, phone }) => {
          const claim = await claimEvent({ account, bot, phone });
          // The program refused it an hour ago for the first time, so this is the last attempt.
          await update({
            Key: headKey(conversationName({ direction: 'platform', account, phone })),
            UpdateExpression: 'SET failed = newest, refused = :before',
            ExpressionAttributeValues: { ':before': sortableTime(Date.now() - 3_600_000) },
          });
          return { body: { claim, status_code: 400 } };
        },
        // The event leaves the outbox, and then the conversation ends.
        parts: 2,
        tellsRepeats: true,
        repeatStatus: 404,
      },
    },
    max: {
      read: 2 * consistent(RECEIVED) + 4,
      write: inTransaction(RECEIVED) + ATTEMPT + 20,
      of: 'a long event before another one',
    },
    worst: {
      prepare: async () => {
        const business = await newListener();
        const conversation = await newOffer(business, 2);
        const { direction, user } = named(conversation);
        const claimed = await claimOffer(named(conversation), newId());
        const [entry] = (await oldestEntries(conversation, 1)).entries;
        if (claimed === undefined || entry === undefined) throw new Error('There is no claim.');
        const claim = encodeClaim({ direction, user, entry: entry.id, id: claimed.claim });
        return { account: business.account, body: { claim, status_code: 200, response: 'x'.repeat(10_000) } };
      },
      beyond: ({ body }) => ({ body: { ...(body as object), response: 'x'.repeat(10_001) } }),
    },
  },
};
