/** Contacts: phone numbers with the service's domain. */
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { newPseudonym } from '../../../shared/core/ids.ts';
import { contactOf, personOf } from '../../../shared/messaging/contacts.ts';

beforeEach(() => void vi.stubEnv('JID_DOMAIN', 'users.example.com'));

afterEach(() => void vi.unstubAllEnvs());

test('a contact is the number at the domain of the service', () => {
  expect(contactOf('27821234567')).toBe('27821234567@users.example.com');
});

test('the number of every contact, and every bare number, is found again', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[0-9]{7,15}$/), (phone) => {
      expect(personOf(contactOf(phone))).toBe(phone);
      expect(personOf(phone)).toBe(phone);
    }),
  );
});

test.each(['', '@users.example.com', '@Users.EXAMPLE.com'])(
  'the pseudonym of an erased user is found again: %j',
  (domain) => {
    const pseudonym = newPseudonym();
    expect(personOf(`${pseudonym}${domain}`)).toBe(pseudonym);
    expect(personOf(`${pseudonym.toUpperCase()}${domain}`)).toBe(pseudonym);
  },
);

test('the domain may be written in capitals', () => {
  expect(personOf('27821234567@Users.EXAMPLE.com')).toBe('27821234567');
});

test.each([
  ['nothing', ''],
  ['a domain alone', '@users.example.com'],
  ['no domain after the @', '27821234567@'],
  ['the domain of others', '27821234567@example.com'],
  ['a domain below ours', '27821234567@more.users.example.com'],
  ['two domains', '27821234567@users.example.com@users.example.com'],
  ['a resource of a jid', '27821234567@users.example.com/phone'],
  ['a plus', '+27821234567@users.example.com'],
  ['a space', ' 27821234567'],
  ['a line break', '27821234567\n'],
  ['too few digits', '123456'],
  ['too many digits', '1234567890123456'],
  ['digits of another script', '٢٧٨٢١٢٣٤٥٦٧'],
  ['a name', 'thandi@users.example.com'],
  ['a pseudonym at the domain of others', 'erased-0190f3a0-7b1c-4d3e-8f00-00112233aabb@example.com'],
  ['half of a pseudonym', 'erased-0190f3a0@users.example.com'],
  ['a pseudonym with a prefix', 'x-erased-0190f3a0-7b1c-4d3e-8f00-00112233aabb'],
])('there is no number in %s', (_, contact) => {
  expect(personOf(contact)).toBeUndefined();
});
