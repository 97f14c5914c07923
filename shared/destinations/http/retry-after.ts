/** The response header `Retry-After` (RFC 9110, 10.2.3), in the forms that servers send. */
import { now } from '../../core/clock.ts';
import type { OutboundResponse } from './request.ts';

/** Seconds, or a date in one of the forms that RFC 9110 lists or in that of ISO 8601. */
const DELAY = [
  String.raw`[A-Z][a-z]{2,8}, ?\d\d[ -][A-Z][a-z]{2}[ -]\d{2,4} \d\d:\d\d:\d\d GMT`,
  String.raw`[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}`,
  String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)`,
  String.raw`\d+(?:\.\d+)?`,
].join('|');

/** One delay, or several where proxies joined repeated headers. */
const DELAYS = new RegExp(`^(?:${DELAY})(?:, *(?:${DELAY}))*$`);

/** The longest pause that a server may ask for, in milliseconds. */
const LONGEST_DELAY = 86_400_000;

/**
 * The pause of `Retry-After`, in milliseconds from now, from 0 to one day; the longest of several delays. Undefined if
 * the header is missing or malformed.
 */
export const retryAfterIn = ({ headers }: OutboundResponse): number | undefined => {
  const value = headers['retry-after']?.trim() ?? '';
  if (!DELAYS.test(value)) return undefined;
  const delays = Array.from(value.matchAll(new RegExp(DELAY, 'g')), ([delay]) => millisecondsOf(delay));
  const longest = Math.max(...delays.filter((delay) => !Number.isNaN(delay)));
  return longest === Number.NEGATIVE_INFINITY ? undefined : Math.min(Math.max(longest, 0), LONGEST_DELAY);
};

const millisecondsOf = (delay: string): number => {
  if (/^[\d.]+$/.test(delay)) return Math.ceil(Number(delay) * 1000);
  // The asctime form has no zone: the time is in UTC.
  return Date.parse(/^\w+ \w+ .* \d{4}$/.test(delay) ? `${delay} GMT` : delay) - now();
};
