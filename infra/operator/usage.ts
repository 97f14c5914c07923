/** Parsers for arguments, and examples for help texts. */
import { InvalidArgumentError } from 'commander';
import * as v from 'valibot';
import { phoneNumber, visibleText } from '../../shared/validation/schemas.ts';
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

export const readName = readBy(v.pipe(visibleText, v.trim()));

/** The examples at the end of a command's help. */
export const examples = (...commands: string[]): string =>
  ['', strong('Examples:'), ...commands.map((command) => `  npm run operator -- ${command}`)].join('\n');
