/**
 * Whether a command works on a table that is named, rather than on the local stack's. This decides which modules the command
 * loads, so it comes before the arguments are parsed. In doubt, a table is named.
 */
export const namesTable = (args: string[], environment: NodeJS.ProcessEnv): boolean =>
  Boolean(environment.TABLE_NAME) || args.some((arg) => arg.startsWith('--table'));
