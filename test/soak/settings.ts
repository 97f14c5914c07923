/** The size and speed of a soak, from the environment. */

const numberFrom = (name: string, fallback: number): number => {
  const given = process.env[name];
  if (given === undefined || given === '') return fallback;
  const number = Number(given);
  if (!(number > 0)) throw new Error(`${name} must be a number above 0, not "${given}".`);
  return number;
};

export const settings = {
  messages: numberFrom('SOAK_MESSAGES', 50_000),
  conversations: numberFrom('SOAK_CONVERSATIONS', 1_000),
  accounts: numberFrom('SOAK_ACCOUNTS', 10),
  /** The number of simultaneous clients. */
  clients: numberFrom('SOAK_CLIENTS', 8),
  /** The maximum number of messages per second of all clients. */
  rate: numberFrom('SOAK_RATE', 60),
  /** The maximum number of messages in progress, at which clients wait. Excludes those for the failed destination. */
  window: numberFrom('SOAK_WINDOW', 200),
  /**
   * The length of a minute of the service in milliseconds. An attempt times out after a sixth of it, and an open
   * circuit is probed after one, two and ten minutes.
   */
  minute: numberFrom('SOAK_MINUTE', 10_000),
  /** Real minutes after which the soak ends even if messages are missing. */
  deadline: numberFrom('SOAK_DEADLINE', 120),
};
