/** Environment variables of a process that runs many test files. */

const kept = globalThis as { firstEnvironment?: NodeJS.ProcessEnv };

/** Changes variables in place, because threads start with the variables of the original object `process.env`. */
export const replaceEnvironment = (variables: NodeJS.ProcessEnv): void => {
  const { env } = process;
  for (const name of Object.keys(env)) if (!(name in variables)) delete env[name];
  for (const [name, value] of Object.entries(variables)) if (value !== undefined) env[name] = value;
};

/** Gives all variables the values that they had at the first call in this process. */
export const restoreEnvironment = (): void => {
  kept.firstEnvironment ??= { ...process.env };
  replaceEnvironment(kept.firstEnvironment);
};
