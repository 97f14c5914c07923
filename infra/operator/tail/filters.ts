/** The filters of `operator tail`. A line must pass all of them. */
import { type Entry, type Fields, member, platformReport } from './entry.ts';

export interface Filters {
  account?: string;
  /** A message's id. */
  message?: string;
  /** The trace id of a request, as problems contain it. */
  trace?: string;
  /** A status such as `500`, or a class such as `5xx`. */
  status?: string;
  /** The name of a function, or of a host. */
  function?: string;
}

/**
 * Whether a line passes. A line without a value passes no filter for that value. Lambda's reports on calls that did not
 * fail never pass: each call has several, and the function's own line says more.
 *
 * @param fields - the line's members; undefined if it is not a JSON object
 */
export const passes = (filters: Filters, { source }: Entry, fields: Fields | undefined): boolean => {
  if (fields && platformReport(fields)?.failed === false) return false;
  const { account, message, trace, status, function: name } = filters;
  const is = (field: string, wanted: string | undefined) =>
    wanted === undefined || (fields !== undefined && member(fields, field) === wanted);
  return (
    (name === undefined || name === source) &&
    is('account', account) &&
    is('message_id', message) &&
    is('trace_id', trace) &&
    (status === undefined || hasStatus(status, fields && member(fields, 'status')))
  );
};

/** `5xx` has all from 500 to 599. */
const hasStatus = (wanted: string, status: string | number | undefined): boolean =>
  status !== undefined && new RegExp(`^${wanted.replaceAll('x', '[0-9]')}$`).test(String(status));

/**
 * The filters as a pattern of CloudWatch, so that it sends fewer lines; undefined without a filter that it can apply. It
 * leaves out statuses, which access logs contain as text.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html
 */
export const patternOf = ({ account, message, trace }: Filters): string | undefined => {
  const terms = [
    ...(account === undefined ? [] : [`($.account = "${account}")`]),
    ...(message === undefined ? [] : [`($.message_id = "${message}")`]),
    ...(trace === undefined ? [] : [`($.trace_id = "${trace}")`]),
  ];
  return terms.length === 0 ? undefined : `{ ${terms.join(' && ')} }`;
};
