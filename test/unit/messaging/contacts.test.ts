/** Contacts: phone numbers with the service's domain. */
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { newPseudonym } from '../../../shared/core/ids.ts';
import { contactError, contactOf, personOf } from '../../../shared/messaging/jids.ts';

beforeEach(() => void vi.stubEnv('JID_DOMAIN', 'users.example.com'));

afterEach(() => void vi.unstubAllEnvs());

test('a contact is the phone number at the domain of the service', () => {
  expect(contactOf('27821234567')).toBe('27821234567@users.example.com');
});

test('personOf returns the phone number of every contact and every bare phone number', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[1-9][0-9]{6,14}$/), (phone) => {
      expect(personOf(contactOf(phone))).toBe(phone);
      expect(personOf(phone)).toBe(phone);
    }),
  );
});

test.each(['', '@users.example.com', '@Users.EXAMPLE.com'])(
  'personOf returns the pseudonym of an erased user: %j',
  (domain) => {
    const pseudonym = newPseudonym();
    expect(personOf(`${pseudonym}${domain}`)).toBe(pseudonym);
    expect(personOf(`${pseudonym.toUpperCase()}${domain}`)).toBe(pseudonym);
  },
);

test('the domain of a contact may be in capitals', () => {
  expect(personOf('27821234567@Users.EXAMPLE.com')).toBe('27821234567');
});

test.each([
  ['nothing', ''],
  ['a domain alone', '@users.example.com'],
  ['no domain after the @', '27821234567@'],
  ['another domain', '27821234567@example.com'],
  ["a subdomain of the service's domain", '27821234567@more.users.example.com'],
  ['two domains', '27821234567@users.example.com@users.example.com'],
  ['a resource of a jid', '27821234567@users.example.com/phone'],
  ['a plus', '+27821234567@users.example.com'],
  ['a space', ' 27821234567'],
  ['a line break', '27821234567\n'],
  ['too few digits', '123456'],
  ['too many digits', '1234567890123456'],
  ['digits of another script', '٢٧٨٢١٢٣٤٥٦٧'],
  ['a name', 'thandi@users.example.com'],
  ['a pseudonym at another domain', 'erased-0190f3a0-7b1c-4d3e-8f00-00112233aabb@example.com'],
  ['an incomplete pseudonym', 'erased-0190f3a0@users.example.com'],
  ['a pseudonym with a prefix', 'x-erased-0190f3a0-7b1c-4d3e-8f00-00112233aabb'],
])('personOf returns undefined for %s', (_, contact) => {
  expect(personOf(contact)).toBeUndefined();
});

test.each([
  ['+27821234567', 'contains +'],
  [' 27821234567', 'which + means in queries and forms'],
  ['+27821234567@users.example.com', 'contains +'],
  ['0821234567', 'begins with 0: replace this zero by the country code'],
  ['0821234567@users.example.com', 'begins with 0: replace this zero by the country code'],
])('the error of a contact with a number in another format says what is wrong: %j', (contact, fault) => {
  expect(personOf(contact)).toBeUndefined();
  expect(contactError(contact)).toContain(fault);
});

test.each(['nobody', 'nobody@users.example.com', '27821234567@elsewhere.example.com'])(
  'the error of another text names the rule: %j',
  (contact) => {
    expect(contactError(contact)).toBe('must be a contact as the logs show it, or its phone number');
  },
);
