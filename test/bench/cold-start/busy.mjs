/** A busy loop with a known amount of processor time, to measure the precision of the limit. */
export const handler = async (milliseconds) => {
  const start = process.cpuUsage();
  for (;;) {
    const { user, system } = process.cpuUsage(start);
    if (user + system >= milliseconds * 1_000) return { statusCode: 200 };
  }
};
