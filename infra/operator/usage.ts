/** How the commands are called: what they take as an argument, and the examples in their help. */
import { InvalidArgumentError } from 'commander';
import * as v from 'valibot';
import { phoneNumber, visibleText } from '../../shared/validation/schemas.ts';
import { strong } from './output.ts';

/** Reads an argument by a schema; commander says which argument is wrong, the schema why. */
export const readBy =
  <Output>(schema: v.GenericSchema<string, Output>) =>
  (argument: string): Output => {
    const { success, output, issues } = v.safeParse(schema, argument);
    if (!success) throw new InvalidArgumentError(`It ${issues[0].message}.`);
    return output;
  };

export const readPhoneNumber = readBy(phoneNumber);

export const readName = readBy(v.pipe(visibleText, v.trim()));

/** Examples for the end of a command's help. */
export const examples = (...commands: string[]): string =>
  ['', strong('Examples:'), ...commands.map((command) => `  npm run operator -- ${command}`)].join('\n');
