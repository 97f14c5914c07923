/** Requests of the customer's own account. */

import { vi } from 'vitest';
import { setAvatar as storeAvatar } from '../../../shared/accounts/avatar.ts';
import { accountTokenKey } from '../../../shared/accounts/entities.ts';
import type { account } from '../../../shared/api/areas/account.ts';
import { now, timestamp } from '../../../shared/core/clock.ts';
import type { Conversation } from '../../../shared/outbox/event.ts';
import { readHead, scheduleRetry } from '../../../shared/outbox/head.ts';
import { putAll } from '../../../shared/table/client.ts';
import { fileOf, jpeg, png } from '../support/files.ts';
import { authorOf, newPhone } from '../support/world.ts';
import { eventual, PAGE } from './kilobytes.ts';
import type { Scenarios } from './scenarios.ts';
import { DAY_MS, longest, receive, scaled, uploading } from './world.ts';

export const accountScenarios: Scenarios<typeof account> = {
  readTokenInfo: {
    prepare: async ({ account }) => {
      const record = { label: 'test', permissions: ['stats'], created: '2026-11-20T09:58:09.118000' };
      await putAll([{ ...accountTokenKey(account, 'token-1'), ...record }]);
      return {};
    },
    readsOnly: true,
    max: { read: 1.5, write: 0, of: 'any' },
  },
  readConfiguration: {
    prepare: async () => ({}),
    readsOnly: true,
    max: { read: 8 + 50 * eventual(PAGE), write: 0, of: '50 users with 21 long messages that failed' },
    worst: {
      // One of 50 conversations whose entries fill a page of 1 MB.
      prepare: async (business) => {
        const conversation: Conversation = { direction: 'platform', account: business.account, phone: newPhone() };
        await receive(business, conversation.phone, 6);
        const head = await readHead(conversation);
        const why = { until: now() + DAY_MS, since: timestamp(), failed: 'x', cause: 'status_500', attempts: 1 };
        if (head !== undefined) await scheduleRetry(head, why);
        return {};
      },
      whole: scaled(50),
    },
  },
  updateAccount: {
    calls: {
      'another name': { prepare: async () => ({ body: { name: 'Another name' } }) },
      'sending hours': {
        prepare: async () => ({ body: { sending_hours: { between: ['08:00', '20:00'], time_zone: 'UTC' } } }),
      },
    },
    max: { read: 2, write: 18, of: 'and sending hours, without approval' },
    worst: {
      prepare: async () => {
        vi.stubEnv('APPROVE_NAMES', 'false');
        const sending_hours = { between: ['08:00', '20:00'], time_zone: 'UTC' };
        return { body: { name: longest(100, 'B'), sending_hours } };
      },
      beyond: () => ({ body: { name: longest(101, 'B') } }),
    },
  },
  setAvatar: {
    calls: {
      'the first one': {
        prepare: async () => ({ ...(await uploading(fileOf(png))) }),
      },
      'another one': {
        prepare: async ({ account }) => {
          await storeAvatar(authorOf(account), fileOf(png));
          return { ...(await uploading(fileOf(jpeg))) };
        },
      },
    },
    max: { read: 2, write: 20, of: 'instead of another one' },
    worst: {
      prepare: async ({ account }) => {
        await storeAvatar(authorOf(account), fileOf(new Uint8Array([...png, 1])));
        return { ...(await uploading(fileOf(png))) };
      },
    },
  },
  readAvatar: {
    prepare: async ({ account }) => {
      await storeAvatar(authorOf(account), fileOf(png));
      return {};
    },
    readsOnly: true,
    max: { read: 2, write: 0, of: 'replaced meanwhile' },
  },
};
