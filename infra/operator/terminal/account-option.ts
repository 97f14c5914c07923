/** The option `--account`, in place of the argument `account`, for every command that has this argument. */
import { type Argument, type Command, InvalidArgumentError } from 'commander';

const isAccount = (argument: Argument): boolean => argument.name() === 'account';

/** How many arguments a command needs, after they may be left out: the option can stand for one. */
const needed = new WeakMap<Command, number>();

/** Adds the option to all commands that have the argument. */
export const acceptAccountOption = (command: Command): void => {
  for (const inner of command.commands) acceptAccountOption(inner);
  const { registeredArguments } = command;
  if (!registeredArguments.some(isAccount)) return;
  const words = registeredArguments.map((argument) =>
    argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
  );
  command.usage(['[options]', ...words].join(' '));
  command.option('--account <id>', 'the account, instead of the argument');
  needed.set(command, registeredArguments.filter(({ required }) => required).length);
  for (const argument of registeredArguments) argument.required = false;
};

/** Puts the account of the option where the argument would be. Ends the command if one is missing, or both differ. */
export const settleAccount = (command: Command): void => {
  const count = needed.get(command);
  if (count === undefined) return;
  const { args, registeredArguments: all } = command;
  const { account } = command.opts<{ account?: string }>();
  const place = all.findIndex(isAccount);
  if (account !== undefined && args[place] !== account) {
    if (args.length === all.length) {
      command.error(
        `error: the account is ${args[place]} as an argument, and ${account} as --account: give one of them`,
      );
    }
    args.splice(place, 0, account);
    command.processedArgs = all.map((argument, index) => parsed(command, argument, args[index]));
  }
  if (args.length < count) command.error(`error: missing required argument '${all[args.length]?.name()}'`);
};

const parsed = (command: Command, argument: Argument, value: string | undefined): unknown => {
  if (argument.parseArg === undefined || value === undefined) return value;
  try {
    return argument.parseArg(value, undefined);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    return command.error(`error: '${value}' is no valid ${argument.name()}. ${error.message}`);
  }
};
