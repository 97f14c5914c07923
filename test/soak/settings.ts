/** How large a soak is, and how fast: from the environment. */

const numberFrom = (name: string, usual: number): number => {
  const given = process.env[name];
  if (given === undefined || given === '') return usual;
  const number = Number(given);
  if (!(number > 0)) throw new Error(`${name} must be a number above 0, not "${given}".`);
  return number;
};

export const settings = {
  messages: numberFrom('SOAK_MESSAGES', 50_000),
  conversations: numberFrom('SOAK_CONVERSATIONS', 1_000),
  accounts: numberFrom('SOAK_ACCOUNTS', 10),
  /** Who sends at the same time. */
  clients: numberFrom('SOAK_CLIENTS', 8),
  /** Messages that are begun in a second at most, by all clients. */
  rate: numberFrom('SOAK_RATE', 60),
  /** Messages that may be under way at a time, besides those to the dead receiver: clients wait before there are more. */
  window: numberFrom('SOAK_WINDOW', 200),
  /**
   * Milliseconds that count as a minute of the service. An attempt to deliver may take a sixth of it, and a receiver that
   * fails is tried again after one, two, and ten.
   */
  minute: numberFrom('SOAK_MINUTE', 10_000),
  /** Minutes, real ones, after which the soak ends, whatever is still missing. */
  deadline: numberFrom('SOAK_DEADLINE', 120),
};
