/** Texts, names and examples of users. */
import type { AreaDocs } from '../docs.ts';
import { placeholders } from '../placeholders.ts';
import { eitherContacts, userProfile, type users } from './users.ts';

const { user, userId, time } = placeholders;

export const usersDocs: AreaDocs<typeof users> = {
  name: 'Users',
  description: 'Who of your contacts uses the app.',
  endpoints: {
    matchContacts: {
      text: `Returns the contacts that are registered, as given and in the same order. With \`hashed: true\`, a contact is the SHA-256
of a phone number in upper-case hexadecimal: \`printf %s 27821234567 | sha256sum\`. A registration or a removal of the last
second may be missing. Duplicates count once.

Each contact counts against the daily allowance of your account: 100,000 phone numbers unless the operator has set another
one. Above it, the request returns 429 \`allowance_exceeded\`, and nothing is counted.`,
      names: { request: 'Contacts', 200: 'MatchedContacts' },
      body: eitherContacts,
      examples: {
        shows: 'One of two numbers is registered',
        body: { contacts: [user, '27000000000'] },
        answer: { match_list: [user] },
      },
    },
    readUser: {
      text: `By phone number, or by the id of the user in the app: a UUID. \`id\` is missing if the app network has sent none. \`properties\`
has the properties that need no approval, if the app has a value. Each release is recorded. The request counts as one phone number
against the daily allowance, also if there is no such user. If the user has stopped your account, it returns 403 \`user_opted_out\`.`,
      names: { 200: 'UserProfileDocument' },
      examples: {
        shows: 'By the id in the app',
        path: { user: userId },
        answer: {
          user_profile: {
            number: user,
            id: userId,
            contact: `${user}@users.example.com`,
            properties: { device_platform: { value: 'android', source: 'device', timestamp: time } },
          },
        },
      },
    },
  },
  schemas: { UserProfile: userProfile },
  names: { 'UserProfile.properties{}': 'PropertyValue' },
  fields: {
    'Contacts.contacts': 'Phone numbers, or their hashes: 1 to 3,000.',
    hashed: 'Whether the contacts are hashes.',
    match_list: 'The registered contacts, as given and in the same order.',
    'UserProfile.id': "The app's id of the user: a UUID.",
    'UserProfile.number': "The user's phone number.",
    'UserProfile.properties': 'By name; without the properties that have no value.',
    'readUser.user': 'A phone number, or the id of a user in the app.',
  },
  guarantees: { 'PropertyValue.timestamp': 'time', 'UserProfile.id': 'id', 'UserProfile.number': 'phone' },
};
