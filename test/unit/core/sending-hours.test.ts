/** When sending hours begin, in zones whose clocks change. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { zonesText } from '../../../infra/zones/table.ts';
import {
  endWithin,
  hasOpening,
  nextOpening,
  prefixOf,
  type SendingHours,
  zonesOf,
} from '../../../shared/core/sending-hours.ts';
import { isTimeZone } from '../../../shared/core/time-zones.ts';
import { zonesByPrefix } from '../../../shared/core/zones.ts';

const opening = (between: [string, string], zone: string, at: string, phone = '27820000001'): string =>
  new Date(nextOpening({ between, time_zone: zone }, phone, Date.parse(at))).toISOString().replace(':00.000Z', 'Z');

describe('the hours of a zone begin', () => {
  const DAY: [string, string] = ['08:00', '20:00'];
  const NIGHT: [string, string] = ['22:00', '06:00'];
  test.each<[string, [string, string], string, string, string]>([
    ['at once within them', DAY, 'Africa/Johannesburg', '2030-01-01T06:00Z', '2030-01-01T06:00Z'],
    ['in the morning', DAY, 'Africa/Johannesburg', '2030-01-01T05:59Z', '2030-01-01T06:00Z'],
    ['at once in their last minute', DAY, 'Africa/Johannesburg', '2030-01-01T17:59Z', '2030-01-01T17:59Z'],
    ['on the next day after their end', DAY, 'Africa/Johannesburg', '2030-01-01T18:00Z', '2030-01-02T06:00Z'],
    ['at once before midnight, if they cross it', NIGHT, 'Asia/Kolkata', '2030-01-01T18:00Z', '2030-01-01T18:00Z'],
    ['at once after midnight, if they cross it', NIGHT, 'Asia/Kolkata', '2030-01-02T00:29Z', '2030-01-02T00:29Z'],
    ['in the evening, if they cross midnight', NIGHT, 'Asia/Kolkata', '2030-01-02T00:30Z', '2030-01-02T16:30Z'],
    ['until midnight', ['08:00', '00:00'], 'UTC', '2030-01-01T23:59Z', '2030-01-01T23:59Z'],
    ['not at midnight, if they end there', ['08:00', '00:00'], 'UTC', '2030-01-02T00:00Z', '2030-01-02T08:00Z'],
    ['an hour earlier after the change to summer time', DAY, 'Europe/Berlin', '2027-03-27T20:00Z', '2027-03-28T06:00Z'],
    ['an hour later after its end', DAY, 'Europe/Berlin', '2027-10-30T20:00Z', '2027-10-31T07:00Z'],
    [
      'after a gap that contains their beginning',
      ['02:30', '05:00'],
      'Europe/Berlin',
      '2027-03-27T23:00Z',
      '2027-03-28T01:00Z',
    ],
    [
      'a day later if a gap contains them',
      ['02:10', '02:50'],
      'Europe/Berlin',
      '2027-03-28T00:00Z',
      '2027-03-29T00:10Z',
    ],
    ['at the first of two equal times', ['02:30', '05:00'], 'Europe/Berlin', '2027-10-30T23:00Z', '2027-10-31T00:30Z'],
    [
      'again at the second of two equal times',
      ['02:30', '05:00'],
      'Europe/Berlin',
      '2027-10-31T01:00Z',
      '2027-10-31T01:30Z',
    ],
    ['by half an hour of summer time', DAY, 'Australia/Lord_Howe', '2027-10-02T12:00Z', '2027-10-02T21:00Z'],
    ['by half an hour at its end', DAY, 'Australia/Lord_Howe', '2027-04-03T12:00Z', '2027-04-03T21:30Z'],
    ['after a day that a zone left out', DAY, 'Pacific/Apia', '2011-12-30T08:00Z', '2011-12-30T18:00Z'],
    ['by quarters of an hour', DAY, 'Pacific/Chatham', '2030-06-01T12:00Z', '2030-06-01T19:15Z'],
  ])('%s', (_, between, zone, at, expected) => {
    expect(opening(between, zone, at)).toBe(expected);
  });
});

test('a moment of a second is within the hours, too', () => {
  const hours: SendingHours = { between: ['08:00', '20:00'], time_zone: 'UTC' };
  expect(nextOpening(hours, '', Date.parse('2030-01-01T07:59:59.999Z'))).toBe(Date.parse('2030-01-01T08:00Z'));
  expect(nextOpening(hours, '', Date.parse('2030-01-01T19:59:59.999Z'))).toBe(Date.parse('2030-01-01T19:59:59.999Z'));
});

describe('with the zone of the recipient', () => {
  const NOON: [string, string] = ['12:00', '13:00'];
  test.each<[string, [string, string], string, string, string]>([
    [
      'a country with one zone has its hours',
      ['08:00', '20:00'],
      '27820000001',
      '2030-01-01T20:00Z',
      '2030-01-02T06:00Z',
    ],
    [
      'a country with several has those of all',
      ['08:00', '20:00'],
      '12125550100',
      '2030-01-01T13:00Z',
      '2030-01-01T18:00Z',
    ],
    [
      'an island of the same calling code has its own',
      ['08:00', '20:00'],
      '16715550100',
      '2030-01-01T13:00Z',
      '2030-01-01T22:00Z',
    ],
    [
      'a country without common hours has those of its first zone',
      NOON,
      '79161234567',
      '2030-01-01T12:00Z',
      '2030-01-02T10:00Z',
    ],
    ['a number of no country has those of UTC', NOON, '8835100000', '2030-01-01T14:00Z', '2030-01-02T12:00Z'],
  ])('%s', (_, between, phone, at, expected) => {
    expect(opening(between, 'recipient', at, phone)).toBe(expected);
  });

  test('another zone can be given for countries without common hours', () => {
    const hours: SendingHours = { between: NOON, time_zone: 'recipient', otherwise: 'Asia/Tokyo' };
    const at = Date.parse('2030-01-01T12:00Z');
    expect(nextOpening(hours, '79161234567', at)).toBe(Date.parse('2030-01-02T03:00Z'));
    expect(nextOpening(hours, '27820000001', at)).toBe(Date.parse('2030-01-02T10:00Z'));
    expect([hasOpening(hours, '79161234567', at), hasOpening(hours, '8835100000', at)]).toEqual([true, true]);
  });

  test.each([
    ['27820000001', true],
    ['79161234567', false],
    ['8835100000', false],
  ])('%s has hours of its own: %s', (phone, expected) => {
    expect(hasOpening({ between: NOON, time_zone: 'recipient' }, phone, Date.UTC(2030, 0))).toBe(expected);
  });
});

test('hours begin at a time within them, and at no earlier one', { tags: 'long' }, () => {
  const minute = fc.integer({ min: 0, max: 1_439 });
  const text = (minutes: number) =>
    `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
  const zone = fc.constantFrom('Europe/Berlin', 'Australia/Lord_Howe', 'America/St_Johns', 'Africa/Casablanca', 'UTC');
  const at = fc.integer({ min: Date.UTC(2027, 0) / 60_000, max: Date.UTC(2028, 0) / 60_000 });
  const shown = (time_zone: string, minutes: number): string =>
    new Date(minutes * 60_000).toLocaleTimeString('en-GB', { timeZone: time_zone, hour: '2-digit', minute: '2-digit' });
  fc.assert(
    fc.property(minute, minute, zone, at, (from, to, time_zone, start) => {
      fc.pre(from !== to);
      const between: [string, string] = [text(from), text(to)];
      const isOpen = (minutes: number): boolean => {
        const time = shown(time_zone, minutes);
        return from < to ? time >= between[0] && time < between[1] : time >= between[0] || time < between[1];
      };
      let expected = start;
      while (!isOpen(expected)) expected += 1;
      expect(nextOpening({ between, time_zone }, '', start * 60_000)).toBe(expected * 60_000);
    }),
    { numRuns: 60 },
  );
});

test.each([
  ['Africa/Johannesburg', true],
  ['America/Argentina/Buenos_Aires', true],
  ['Etc/GMT+5', true],
  ['UTC', true],
  ['+02:00', false],
  ['02:00', false],
  ['recipient', false],
  ['Africa/Nowhere', false],
  ['../../etc/passwd', false],
  ['', false],
])('%j is the name of a zone: %s', (name, expected) => {
  expect(isTimeZone(name)).toBe(expected);
});

test('many spellings of names use a bounded memory', () => {
  const spelled = (bits: number): string =>
    [...'america/argentina/buenos_aires']
      .map((letter, index) => ((bits >> index) & 1 ? letter.toUpperCase() : letter))
      .join('');
  for (let bits = 0; bits < 1_100; bits += 1) expect(isTimeZone(spelled(bits))).toBe(true);
  expect(opening(['08:00', '20:00'], spelled(3), '2030-01-01T00:00Z')).toBe('2030-01-01T11:00Z');
});

describe('the end of work within hours', () => {
  const HOUR = 3_600_000;

  test.each<[string, [string, string], string, string, number, string]>([
    ['is in the same hours', ['08:00', '20:00'], 'UTC', '2030-01-01T10:00Z', 3, '2030-01-01T13:00Z'],
    ['may be when they close', ['08:00', '20:00'], 'UTC', '2030-01-01T10:00Z', 10, '2030-01-01T20:00Z'],
    ['counts from when they begin', ['08:00', '20:00'], 'UTC', '2030-01-01T02:00Z', 3, '2030-01-01T11:00Z'],
    ['goes on after the night', ['08:00', '20:00'], 'UTC', '2030-01-01T18:00Z', 3, '2030-01-02T09:00Z'],
    ['goes on for days', ['08:00', '20:00'], 'Africa/Johannesburg', '2030-01-01T06:00Z', 30, '2030-01-03T12:00Z'],
    ['goes on over midnight', ['22:00', '06:00'], 'UTC', '2030-01-01T12:00Z', 10, '2030-01-02T24:00Z'],
    [
      'counts the hour that is left out',
      ['00:00', '06:00'],
      'Europe/Berlin',
      '2030-03-30T23:00Z',
      6,
      '2030-03-31T23:00Z',
    ],
    [
      'counts the hour that is repeated',
      ['00:00', '06:00'],
      'Europe/Berlin',
      '2030-10-26T22:00Z',
      7,
      '2030-10-27T05:00Z',
    ],
  ])('%s', (_, between, time_zone, from, hours, end) => {
    expect(endWithin({ between, time_zone }, Date.parse(from), hours * HOUR)).toBe(Date.parse(end));
  });

  test('is unknown if that takes more than a year', () => {
    const hours: SendingHours = { between: ['08:00', '08:01'], time_zone: 'UTC' };
    expect(endWithin(hours, Date.UTC(2030, 0, 1), 366 * 60_000)).toBe(Date.parse('2031-01-01T08:01Z'));
    expect(endWithin(hours, Date.UTC(2030, 0, 1), 367 * 60_000)).toBeUndefined();
  });
});

test('a number and its prefix have the same zones', () => {
  for (const number of ['27820000001', '18091234567', '12424567890', '447700900001', '8835100000']) {
    expect(zonesOf(prefixOf(number))).toEqual(zonesOf(number));
  }
  expect([prefixOf('27820000001'), prefixOf('8835100000')]).toEqual(['27', '']);
});

describe('the zones of numbers', () => {
  test('are those of the metadata of phone numbers and the file of the IANA: else run npm run zones', () => {
    expect(zonesByPrefix).toBe(zonesText());
  });

  const prefixes = zonesByPrefix.split('\n').map((line) => line.split(' ')[0] ?? '');

  test('are found by each prefix, the longest one first, and known to this Node.js', () => {
    expect(prefixes.length).toBeGreaterThan(200);
    expect(Math.max(...prefixes.map(({ length }) => length))).toBe(5);
    for (const prefix of prefixes) {
      const names = zonesOf(`${prefix}0000000`);
      expect(names, prefix).not.toEqual([]);
      expect(names.filter((name) => !isTimeZone(name))).toEqual([]);
    }
    expect(zonesOf('18091234567')).toEqual(['America/Santo_Domingo']);
    // The longest prefix.
    expect(zonesOf('18001234567')).toEqual(['America/Santo_Domingo']);
  });

  test.each([
    ['27820000001', ['Africa/Johannesburg']],
    ['447700900002', ['Europe/London']],
    ['77011234567', expect.arrayContaining(['Asia/Almaty'])],
    ['79161234567', expect.not.arrayContaining(['Asia/Almaty'])],
    ['17875550100', ['America/Puerto_Rico']],
    ['8835100000', []],
    ['', []],
  ])('%s: %j', (phone, zones) => {
    expect(zonesOf(phone)).toEqual(zones);
  });
});
