/** Parsers for arguments, and examples for help texts. */
import { InvalidArgumentError } from 'commander';
import * as v from 'valibot';
import { now } from '../../shared/core/clock.ts';
import { displayName, phoneNumber } from '../../shared/validation/schemas.ts';
import { sendingHours } from '../../shared/validation/sending-hours.ts';
import { strong } from './output.ts';

/** A parser for an argument. Commander's error names the argument; the schema's message gives the reason. */
export const readBy =
  <Output>(schema: v.GenericSchema<string, Output>) =>
  (argument: string): Output => {
    const { success, output, issues } = v.safeParse(schema, argument);
    if (!success) throw new InvalidArgumentError(`It ${issues[0].message}.`);
    return output;
  };

export const readPhoneNumber = readBy(phoneNumber);

/** A number of requests. */
export const readRequests = readBy(
  v.pipe(v.string(), v.regex(/^[1-9][0-9]{0,5}$/, 'must be a whole number from 1 to 999999'), v.transform(Number)),
);

export const readName = readBy(displayName);

/** Sending hours: `08:00-20:00 Africa/Johannesburg`. */
export const readHours = readBy(
  v.pipe(
    v.string(),
    v.regex(/^[^\s-]+-[^\s-]+ \S+$/, 'must be like "08:00-20:00 Africa/Johannesburg" or "08:00-20:00 recipient"'),
    v.transform((value) => {
      const [times = '', time_zone] = value.split(' ');
      return { between: times.split('-'), time_zone };
    }),
    sendingHours,
  ),
);

/** Rejects days such as 31 February, which `Date.parse` reads as 3 March. */
const isRealDate = (text: string): boolean => {
  const [date = ''] = text.split('T');
  return !Number.isNaN(Date.parse(date)) && new Date(date).toISOString().startsWith(date);
};

/** A day (00:00 UTC) or a full ISO time, as milliseconds since 1970. */
export const moment = v.pipe(
  v.union([v.pipe(v.string(), v.isoDate()), v.pipe(v.string(), v.isoTimestamp())]),
  v.check(isRealDate),
  v.transform(Date.parse),
  v.finite(),
);

const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

const ago = v.pipe(
  v.string(),
  v.regex(/^[1-9][0-9]{0,5}[smhd]$/),
  v.transform((text) => now() - Number.parseInt(text, 10) * UNITS[text.at(-1) as keyof typeof UNITS]),
);

/** A time, or how long ago it was. Returns milliseconds since 1970. */
export const readSince = readBy(
  v.union([ago, moment], 'must be like 30s, 10m, 2h, 1d, 2027-01-31 or 2027-01-31T12:00:00Z'),
);

/** The examples at the end of a command's help. */
export const examples = (...commands: string[]): string =>
  ['', strong('Examples:'), ...commands.map((command) => `  npm run operator -- ${command}`)].join('\n');
