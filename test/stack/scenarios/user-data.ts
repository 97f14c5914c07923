/** Requests of user data requests. */
import { vi } from 'vitest';
import type { userDataRequests } from '../../../shared/api/areas/user-data.ts';
import { withdrawConsent } from '../../../shared/user-data/consent-ends.ts';
import { startRequest } from '../../../shared/user-data/requests.ts';
import { isAutomatic, propertyNames } from '../../../shared/users/profile-properties.ts';
import { minutesAgo, newUser } from '../in-process/failing-calls/world.ts';
import { consistent, eventual, inTransaction, LOGGED, POLLS, PROFILE, RECEIPT, REQUEST, SLOTS } from './kilobytes.ts';
import type { Scenarios } from './scenarios.ts';
import { asked, asking, DAY_MS, key, largestRequest, largestUser, longest, longestKey, newReleased } from './world.ts';

export const userDataScenarios: Scenarios<typeof userDataRequests> = {
  startUserDataRequest: {
    calls: {
      'properties that need approval': {
        prepare: async () => {
          const body = { reason: 'Why not?', data: asked };
          return {
            path: { phone_number: await newUser() },
            headers: key,
            body,
          };
        },
      },
      'properties that need no approval': {
        prepare: async () => {
          const body = { reason: 'Why not?', data: asked.slice(1) };
          return {
            path: { phone_number: await newUser() },
            headers: key,
            body,
          };
        },
      },
    },
    max: {
      read: 6 + consistent(PROFILE),
      write: inTransaction(76) + inTransaction(52) + inTransaction(PROFILE) + 40,
      of: 'all properties, with the longest reasons',
    },
    worst: {
      prepare: async () => ({ path: { phone_number: await largestUser() }, headers: longestKey, body: asking() }),
      beyond: ({ body }) => ({ body: { ...(body as object), reason: longest(1_001) } }),
    },
  },
  fetchUserData: {
    prepare: async ({ account }) => {
      const data = asked.slice(1);
      const { id } = await startRequest(account, await newUser(), { reason: 'Why not?', data }, undefined);
      return { path: { id } };
    },
    readsOnly: true,
    max: {
      read: 2 * consistent(REQUEST) + (POLLS - 2) * eventual(REQUEST),
      write: SLOTS,
      of: 'a long poll of a request for all properties',
    },
    worst: {
      // One read of a request that stays pending.
      prepare: async ({ account }) => ({ path: { id: (await largestRequest(account)).id } }),
      // Its slot is one of the account, found after ten attempts at most, and one of three groups.
      whole: ({ read, write }) => ({ read: 2 * read + ((POLLS - 2) * read) / 2, write: write + 42 }),
    },
  },
  listUserDataRequests: {
    prepare: async ({ account }) => {
      await newReleased(account, await newUser());
      return {};
    },
    readsOnly: true,
    max: {
      read: 100 * eventual(REQUEST) + 2 * eventual(102 * LOGGED),
      write: 0,
      of: '100 requests for all properties',
    },
    worst: {
      // A tenth of them.
      prepare: async ({ account }) => {
        for (let count = 0; count < 10; count += 1) await largestRequest(account, count % 2 === 0);
        return { query: { limit: '100' } };
      },
      beyond: () => ({ query: { limit: '101' } }),
      whole: ({ read, write }) => ({ read: read * 10, write }),
    },
  },
  listReceipts: {
    prepare: async ({ account }) => {
      await newReleased(account, await newUser());
      return {};
    },
    readsOnly: true,
    max: {
      read: 1 + 100 * eventual(RECEIPT) + eventual(102 * LOGGED),
      write: 0,
      of: '100 receipts for all properties, with the longest reasons',
    },
    worst: {
      // A tenth of them.
      prepare: async ({ account }) => {
        for (let count = 0; count < 5; count += 1) await largestRequest(account, true);
        return { query: { limit: '100' } };
      },
      beyond: () => ({ query: { limit: '101' } }),
      // The account is read once.
      whole: ({ read, write }) => ({ read: 1 + (read - 1) * 10, write }),
    },
  },
  retrieveUserData: {
    prepare: async () => {
      const body = { data: [{ property: 'device_make' }] };
      return { path: { id: await newUser() }, body };
    },
    // Each release creates a consent receipt.
    repeat: 'new',
    max: { read: 2 + consistent(PROFILE), write: 1, of: 'all properties' },
    worst: {
      prepare: async () => {
        const data = propertyNames.filter(isAutomatic).map((property) => ({ property }));
        return { path: { id: await largestUser() }, body: { data } };
      },
    },
  },
  acknowledgeDeletion: {
    calls: {
      'after a withdrawal': {
        prepare: async ({ account }) => {
          const request_id = await newReleased(account, await newUser());
          await withdrawConsent(request_id, ['first_name']);
          return { path: { request_id } };
        },
      },
      'of a consent that has just expired': {
        prepare: async ({ account }) => {
          const request_id = await minutesAgo(1_441, async () => newReleased(account, await newUser(), 1));
          return { path: { request_id } };
        },
        // The end of the consent, and the acknowledgement.
        parts: 2,
      },
    },
    max: {
      read: 3 * consistent(REQUEST),
      write: inTransaction(REQUEST) + 80,
      of: 'an expired consent to all properties',
    },
    worst: {
      // The consent has expired, and `erase` has not ended it yet.
      prepare: async ({ account }) => {
        const { id } = await largestRequest(account, true);
        vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * DAY_MS });
        return { path: { request_id: id } };
      },
    },
  },
};
