/** What the rehearsal prints. */

/** Prints a line. */
export const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** Does a step, and prints its result and duration. */
export const step = async <Result>(title: string, work: () => Promise<Result>): Promise<Result> => {
  const start = Date.now();
  const seconds = () => `${((Date.now() - start) / 1_000).toFixed(1).padStart(6)} s`;
  try {
    const result = await work();
    say(`passed ${seconds()}  ${title}`);
    return result;
  } catch (error) {
    say(`FAILED ${seconds()}  ${title}`);
    throw error;
  }
};
