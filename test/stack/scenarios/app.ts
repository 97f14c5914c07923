/** Requests of events of the app network. */

import { randomUUID } from 'node:crypto';
import type { app } from '../../../shared/api/areas/app.ts';
import { changeOptOut } from '../../../shared/messaging/opt-outs/changes.ts';
import { sendMessage } from '../../../shared/messaging/send.ts';
import { startRequest } from '../../../shared/user-data/requests.ts';
import { propertyNames } from '../../../shared/users/profile-properties.ts';
import { newUser, textTo } from '../in-process/failing-calls/world.ts';
import { newPhone } from '../support/world.ts';
import { consistent, inTransaction, PROFILE, REQUEST } from './kilobytes.ts';
import type { Business, Call, Scenarios } from './scenarios.ts';
import { asked, largestRequest, newReleased, scaled } from './world.ts';

const reporting = (events: (business: Business) => Promise<object>): Call => ({
  prepare: async (business) => ({
    account: 'app-network',
    body: await events({ ...business, phone: await newUser() }),
  }),
});

const received = (from: string, to: string, id: string = randomUUID()) => ({
  id,
  type: 'message.received',
  data: { from, ...textTo(to) },
});

const MAX_EVENTS = 100;

export const appScenarios: Scenarios<typeof app> = {
  receiveAppEvents: {
    calls: {
      'a message from a user': {
        ...reporting(async ({ bot, phone }) => received(phone, bot)),
        // The time of the user's last message, and the message.
        parts: 2,
      },
      'a state of a message': reporting(async ({ account, phone }) => {
        const id = await sendMessage(account, textTo(phone), {});
        return { id: 'event-1', type: 'message.state', data: { id, state: 'read' } };
      }),
      'a profile update': reporting(async ({ phone }) => {
        const properties = { first_name: { value: 'Ann', source: 'self' }, last_name: { value: null } };
        return { id: 'event-1', type: 'user.updated', data: { phone_number: phone, panelist: true, properties } };
      }),
      'an answer that completes a request': {
        ...reporting(async ({ account, phone }) => {
          const { id } = await startRequest(account, phone, { reason: 'Why not?', data: asked }, undefined);
          return { id: 'event-1', type: 'user_data.answered', data: { id, answers: { first_name: 'approved' } } };
        }),
        // The answer, and the record that its event was processed.
        parts: 2,
      },
      'a withdrawal': {
        ...reporting(async ({ account, phone }) => {
          const id = await newReleased(account, phone);
          return {
            id: 'event-1',
            type: 'user_data.withdrawn',
            data: { id, properties: ['first_name', 'device_make'] },
          };
        }),
        // The withdrawal, and the record that its event was processed.
        parts: 2,
      },
      'states of several messages': reporting(async ({ account, phone }) => {
        const ids = [await sendMessage(account, textTo(phone), {}), await sendMessage(account, textTo(phone), {})];
        return ids.map((id) => ({ id: `event-${id}`, type: 'message.state', data: { id, state: 'read' } }));
      }),
      'a profile update with a timestamp': reporting(async ({ phone }) => {
        const properties = { first_name: { value: 'Ann', source: 'self' } };
        const timestamp = new Date(Date.now() + 1_000).toISOString();
        return { id: 'event-1', type: 'user.updated', timestamp, data: { phone_number: phone, properties } };
      }),
      'a registration with a timestamp': reporting(async () => ({
        id: 'event-1',
        type: 'user.updated',
        timestamp: '2026-11-20T09:58:10Z',
        data: { phone_number: newPhone(), panelist: true },
      })),
      'an id of a user': reporting(async ({ phone }) => ({
        id: 'event-1',
        type: 'user.updated',
        data: { phone_number: phone, id: randomUUID() },
      })),
      'an id that replaces the one of its user, who has another number now': {
        prepare: async () => {
          const id = randomUUID();
          await newUser(id);
          const phone = await newUser(randomUUID());
          const body = { id: 'event-1', type: 'user.updated', data: { phone_number: phone, id } };
          return { account: 'app-network', body };
        },
        // The removal of the previous number, and the change.
        parts: 2,
      },
      'a removal of a user with an id': {
        prepare: async () => {
          const phone = await newUser(randomUUID());
          const body = { id: 'event-1', type: 'user.removed', data: { phone_number: phone } };
          return { account: 'app-network', body };
        },
      },
      'a removal': reporting(async ({ phone }) => ({
        id: 'event-1',
        type: 'user.removed',
        data: { phone_number: phone },
      })),
      'a removal with a timestamp': reporting(async ({ phone }) => ({
        id: 'event-1',
        type: 'user.removed',
        timestamp: new Date(Date.now() + 1_000).toISOString(),
        data: { phone_number: phone },
      })),
      'a stop': reporting(async ({ bot, phone }) => ({
        id: 'event-1',
        type: 'user.stopped',
        data: { from: phone, to: bot },
      })),
      'a start with a timestamp': reporting(async ({ account, bot, phone }) => {
        await changeOptOut({ event: 'event-0', account, phone, state: 'stopped' });
        const timestamp = new Date(Date.now() + 1_000).toISOString();
        return { id: 'event-1', type: 'user.started', timestamp, data: { from: phone, to: bot } };
      }),
      'two messages from a user': {
        ...reporting(async ({ bot, phone }) => [received(phone, bot, 'event-1'), received(phone, bot, 'event-2')]),
        // For each, the time of the user's last message, and the message.
        parts: 4,
      },
    },
    max: {
      read: 100 * 4 * consistent(REQUEST),
      write: 100 * (2 * inTransaction(REQUEST) + inTransaction(PROFILE) + 60),
      of: '100 withdrawals of all properties',
    },
    worst: {
      // One in 25 of 100 withdrawals, each of another request, which denies a property and ends the consent to all others.
      prepare: async ({ account }) => {
        const events = [];
        for (let index = 0; index < MAX_EVENTS / 25; index += 1) {
          const { id } = await largestRequest(account);
          events.push({ id: randomUUID(), type: 'user_data.withdrawn', data: { id, properties: propertyNames } });
        }
        return { account: 'app-network', body: events };
      },
      beyond: () => ({ body: Array.from({ length: MAX_EVENTS + 1 }, () => ({})) }),
      whole: scaled(25),
    },
  },
};
