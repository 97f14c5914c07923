/** Requests of users. */
import { randomUUID } from 'node:crypto';
import type { users } from '../../../shared/api/areas/users.ts';
import { updateUser } from '../../../shared/users/users.ts';
import { newUser } from '../in-process/failing-calls/world.ts';
import { newPhone, newPhones } from '../support/world.ts';
import { consistent, PROFILE } from './kilobytes.ts';
import type { Scenarios } from './scenarios.ts';
import { longestProfile } from './world.ts';

export const usersScenarios: Scenarios<typeof users> = {
  matchContacts: {
    prepare: async () => ({ body: { contacts: [await newUser(), newPhone()] } }),
    chargesOnly: true,
    max: { read: 1_500, write: 1, of: '3,000 contacts' },
    worst: {
      prepare: async () => ({ body: { contacts: newPhones(3_000) } }),
      beyond: () => ({ body: { contacts: newPhones(3_001) } }),
    },
  },
  readUser: {
    prepare: async () => {
      const id = randomUUID();
      await newUser(id);
      return { path: { user: id } };
    },
    // Each release creates a consent receipt.
    repeat: 'new',
    max: { read: 2 + consistent(PROFILE), write: 2, of: 'by id' },
    worst: {
      prepare: async () => {
        const [phone, id] = [newPhone(), randomUUID()];
        await updateUser(randomUUID(), { phone_number: phone, id, properties: longestProfile() });
        return { path: { user: id } };
      },
    },
  },
};
