/**
 * Whether the command names a table, instead of using the local stack's. Runs before the arguments are parsed, because
 * the result decides which modules are loaded. In doubt, it returns true.
 */
export const namesTable = (args: string[], environment: NodeJS.ProcessEnv): boolean =>
  Boolean(environment.TABLE_NAME) || args.some((arg) => arg.startsWith('--table'));
