/** Addresses of requests to the API. */

/**
 * The path of a request with its parameters and query: `/v1/jobs/12?limit=5`.
 *
 * @param path - with the names of its parameters: `/v1/jobs/{job_id}`
 * @param query - parameters without a value are left out
 */
export const addressOf = (path: string, values: Record<string, unknown>, query: Record<string, unknown>): string => {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const search = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString();
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => segmentOf(String(values[name] ?? '')));
  return filled + (search && `?${search}`);
};

/** Dots alone would lead to another endpoint, also encoded ones. Encoded twice, they are an id that does not exist. */
const segmentOf = (value: string): string =>
  /^\.\.?$/.test(value) ? value.replaceAll('.', '%252E') : encodeURIComponent(value);
