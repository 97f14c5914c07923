/** Who uses the app: contacts of businesses, and single users. */
import * as v from 'valibot';
import { listOf, responseList, responseRecord } from '../../validation/bounded.ts';
import { numberOrId, phoneNumber } from '../../validation/schemas.ts';

import { define } from '../endpoint.ts';

/** Most contacts of a request. */
const MAX_CONTACTS = 3_000;

const contactsOf = <Contact extends v.GenericSchema>(contact: Contact) =>
  listOf(contact, { min: 1, tooFew: 'must name at least one contact', max: MAX_CONTACTS, of: 'contacts' });

const hash = v.pipe(
  v.string(),
  v.regex(/^[0-9A-F]{64}$/, 'must be the SHA-256 of a phone number in upper-case hexadecimal: 64 of 0-9 and A-F'),
);

const plainContacts = v.object({ contacts: contactsOf(phoneNumber), hashed: v.optional(v.boolean(), false) });
const hashedContacts = v.object({ contacts: contactsOf(hash), hashed: v.literal(true) });

/** Both forms of the body in one, for the API description. `hashed` decides which one a body must have. */
export const eitherContacts = v.object({
  contacts: contactsOf(v.pipe(v.string(), v.regex(/^(?:[1-9][0-9]{6,14}|[0-9A-F]{64})$/))),
  hashed: plainContacts.entries.hashed,
});

export const userProfile = v.object({
  number: v.string(),
  id: v.optional(v.string()),
  contact: v.string(),
  properties: responseRecord(v.string(), v.object({ source: v.string(), value: v.string(), timestamp: v.string() })),
});

export const users = {
  matchContacts: define({
    area: 'users',
    summary: 'Find out which of your contacts use the app.',
    routes: [{ host: 'base', method: 'POST', path: '/v1/contacts' }],
    token: 'header',
    permission: 'contacts',
    mostErrors: 100,
    body: {
      type: 'json',
      schema: v.lazy((input) => (Object(input).hashed === true ? hashedContacts : plainContacts)),
    },
    responses: { 200: v.object({ match_list: responseList(v.string()) }) },
    problems: ['allowance_exceeded'],
    hashes: true,
    table: ['chargeAllowance', 'findContacts'],
  }),

  readUser: define({
    area: 'users',
    summary: 'Read one user, with the properties that need no approval.',
    routes: [{ host: 'base', method: 'GET', path: '/v1/users/{user}' }],
    token: 'header',
    permission: 'contacts',
    path: v.object({ user: numberOrId }),
    responses: { 200: v.object({ user_profile: userProfile }) },
    problems: ['user_not_found', 'user_opted_out', 'allowance_exceeded'],
    table: ['chargeAllowance', 'findAppUser', 'findUser', 'findOptOut', 'putConsentReceipt'],
  }),
} as const;
