/** Log lines as `operator tail` receives them, locally and from CloudWatch. */
import { api } from '../../../shared/api/index.ts';
import { workers } from '../../../shared/api/workers.ts';

/** A log line. */
export interface Entry {
  /** When it was written, in milliseconds since 1970. */
  time: number;
  /** The function that wrote it, or the host in whose access log it is. */
  source: string;
  /** The line as it was written. */
  text: string;
}

/** The members of a line that is a JSON object. */
export type Fields = Record<string, unknown>;

/** The hosts, which have access logs. */
const HOSTS = ['base', 'bridge'];

/** The names of all sources. */
export const SOURCES: readonly string[] = [...Object.keys(api), ...Object.keys(workers), ...HOSTS];

/** What the CDK appends to the name of a construct in the logical ids of its function and HTTP API. */
const SUFFIX = /^(Function|Api)?([0-9A-F]{8})?$/;

/** The name of a function or host by the logical id of its resource. An unknown id is its own name. */
export const sourceOf = (logicalId: string): string => {
  const found = SOURCES.filter((name) => {
    const construct = name.charAt(0).toUpperCase() + name.slice(1);
    return logicalId.startsWith(construct) && SUFFIX.test(logicalId.slice(construct.length));
  });
  return found.sort((one, other) => other.length - one.length)[0] ?? logicalId;
};

/**
 * The function or host of a line in CloudWatch. The log stream of a function has its name: `2030/01/31/STACK-Name[$LATEST]…`
 * ("Configuring CloudWatch log groups", Lambda developer guide); a line of an access log names its host.
 */
export const sourceIn = (stream: string, line: string): string => {
  const [, name] = /^[\d/]+[\w-]*?(\w+)\[/.exec(stream) ?? [];
  const host = fieldsIn({ text: line })?.host;
  return name === undefined ? (typeof host === 'string' ? host : 'unknown') : sourceOf(name);
};

/** The members of a line; undefined if it is not a JSON object, as lines of a crashed runtime. */
export const fieldsIn = ({ text }: Pick<Entry, 'text'>): Fields | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
};

/** A member with a value. API Gateway writes `-` for what a request does not have. */
export const member = (fields: Fields, name: string): string | number | undefined => {
  const value = fields[name];
  return (typeof value === 'string' && value !== '-') || typeof value === 'number' ? value : undefined;
};

/** How Lambda reports the end of a call that failed outside of the function's own code. */
const FAILED = ['error', 'failure', 'timeout'];

/** The line with which Lambda reports on a call (`platform.report` and others): its record, and whether the call failed. */
export const platformReport = (fields: Fields): { record: Fields; failed: boolean } | undefined => {
  const { type } = fields;
  if (typeof type !== 'string' || !type.startsWith('platform.')) return undefined;
  const record: Fields = { ...Object(fields.record) };
  return { record, failed: FAILED.includes(String(record.status)) };
};
