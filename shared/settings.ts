/** What the stack tells its functions through the environment. */

const setting = (name: string): string => {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`The environment lacks ${name}.`);
  return value;
};

/** The one table's name. */
export const tableName = (): string => setting('TABLE_NAME');

/** Address of the API host, without a slash at its end. */
export const baseUrl = (): string => setting('BASE_URL');
