/**
 * Whether the command names a deployment in AWS, instead of using the local stack. Runs before the arguments are parsed,
 * because the result decides which modules are loaded. In doubt, it returns true.
 */
export const namesDeployment = (args: string[], environment: NodeJS.ProcessEnv): boolean =>
  Boolean(environment.TABLE_NAME || environment.STACK_NAME) ||
  args.some((arg) => arg.startsWith('--table') || arg.startsWith('--stack'));
