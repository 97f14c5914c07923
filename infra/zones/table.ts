/** The time zones of phone numbers: `shared/core/zones.ts`, made of libphonenumber's metadata and the IANA file `zone1970.tab`. */
import { readFileSync } from 'node:fs';
import metadata from 'libphonenumber-js/metadata.min.json';

/** Where a country's metadata contains a pattern of the digits after the calling code by which it differs from others. */
const LEADING_DIGITS = 10;
/** Most of these digits that the patterns of countries distinguish. */
const DIGITS = 5;

/** The zones of each country, in the order of the file: those with the most people first, as far as it can. */
const zonesByCountry = (): Map<string, string[]> => {
  const zones = new Map<string, string[]>();
  const rows = readFileSync(new URL('zone1970.tab', import.meta.url), 'utf8').split('\n');
  for (const row of rows.filter((line) => line !== '' && !line.startsWith('#'))) {
    const [countries = '', , zone = ''] = row.split('\t');
    for (const country of countries.split(',')) zones.set(country, [...(zones.get(country) ?? []), zone]);
  }
  return zones;
};

/** The shortest prefixes that a pattern matches. */
const prefixesOf = (pattern: string): string[] => {
  const whole = new RegExp(`^(?:${pattern})$`);
  const found: string[] = [];
  for (let length = 1; length <= DIGITS; length += 1) {
    for (let number = 0; number < 10 ** length; number += 1) {
      const prefix = String(number).padStart(length, '0');
      if (whole.test(prefix)) found.push(prefix);
    }
  }
  return found;
};

/** The zones by the first digits of a number: those of its calling code, or of its country where the digits after it tell. */
const zonesTable = (): Record<string, string> => {
  const byCountry = zonesByCountry();
  const zonesOf = (countries: string[]): string =>
    [...new Set(countries.flatMap((country) => byCountry.get(country) ?? []))].join(' ');
  const table: Record<string, string> = {};
  const countriesOf: Record<string, unknown[]> = metadata.countries;
  for (const [code, countries] of Object.entries(metadata.country_calling_codes)) {
    const patternOf = (country: string) => countriesOf[country]?.[LEADING_DIGITS];
    const isApart = (country: string) => country !== countries[0] && typeof patternOf(country) === 'string';
    const common = zonesOf(countries.filter((country) => !isApart(country)));
    if (common !== '') table[code] = common;
    for (const country of countries.filter(isApart)) {
      const own = zonesOf([country]);
      if (own === '' || own === common) continue;
      for (const prefix of prefixesOf(String(patternOf(country)))) table[code + prefix] = own;
    }
  }
  return table;
};

/** Zones as a text: one in the area of the zone before it, as both are in `America`, begins with `/` in place of the area. */
const shortened = (zones: string): string => {
  let area = '';
  return zones
    .split(' ')
    .map((zone) => {
      const isSame = area !== '' && zone.startsWith(`${area}/`);
      area = zone.split('/')[0] ?? '';
      return isSame ? zone.slice(area.length) : zone;
    })
    .join(' ');
};

/**
 * The table as a text, which takes less space in a bundle: a line for each prefix.
 *
 * @internal Tests use it, too.
 */
export const zonesText = (): string =>
  Object.entries(zonesTable())
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([prefix, zones]) => `${prefix} ${shortened(zones)}`)
    .join('\n');

/** The module's text. */
export const zonesModule = (): string =>
  `/**
 * \`npm run zones\` writes this file: IANA time zones by the first digits of a phone number. The longest prefix counts. A zone that
 * begins with / is in the area of the one before it.
 */
export const zonesByPrefix = \`${zonesText()}\`;
`;
