/** Parsers for arguments, and examples for help texts. */
import { InvalidArgumentError } from 'commander';
import * as v from 'valibot';
import { displayName, phoneNumber } from '../../shared/validation/schemas.ts';
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

/** The examples at the end of a command's help. */
export const examples = (...commands: string[]): string =>
  ['', strong('Examples:'), ...commands.map((command) => `  npm run operator -- ${command}`)].join('\n');
