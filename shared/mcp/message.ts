/** A message to users as the arguments of a tool, and as the body of a request. */
import { unkeyedHash } from '../core/keyed-hashes.ts';
import { ToolError } from './call.ts';

/** The arguments of each type of content. */
const contents = {
  text: ['text'],
  image: ['url', 'caption'],
  file: ['url', 'caption'],
  audio: ['url'],
  video: ['url', 'caption'],
} as const;

export const contentTypes = Object.keys(contents) as (keyof typeof contents)[];

/** Further arguments, which are fields of the body. */
export const messageOptions = ['quick_replies', 'reference', 'send_at', 'valid_for', 'between', 'time_zone'] as const;

/** Arguments of a tool, which any program may have written. */
export type Arguments = Readonly<Record<string, unknown>>;

/** A message to many users, without what confirms it. */
export interface Message {
  body: Record<string, unknown>;
  /** How many users get it: a number that is in the list twice counts once. */
  count: number;
  /** What the first users get. */
  samples: { to: string; text?: unknown; url?: unknown; caption?: unknown }[];
}

const SAMPLES = 3;

/**
 * Reads the arguments of a message. The API checks all that is not needed here.
 *
 * @throws ToolError — the recipients are no list of numbers, or arguments do not belong to the type
 */
export const messageOf = (given: Arguments): Message => {
  const { to, type = 'text' } = given;
  const isList = Array.isArray(to) && to.length > 0 && to.every((one) => typeof one === 'string' && /^\d+$/.test(one));
  if (!isList) throw new ToolError('"to" must be a list of phone numbers: strings of digits without "+".');
  const kind = contentTypes.find((one) => one === type);
  if (kind === undefined) throw new ToolError(`"type" must be one of ${contentTypes.join(', ')}.`);
  const own: readonly string[] = contents[kind];
  const other = ['text', 'url', 'caption'].find((name) => given[name] !== undefined && !own.includes(name));
  if (other !== undefined) throw new ToolError(`"${other}" is no argument of a message of the type "${kind}".`);
  const { text, url, caption } = given;
  const numbers = [...new Set<string>(to)];
  return {
    body: {
      ...{ to, type: kind, [kind]: kind === 'text' ? { body: text } : { url, caption } },
      ...Object.fromEntries(messageOptions.map((name) => [name, given[name]])),
    },
    count: numbers.length,
    samples: numbers.slice(0, SAMPLES).map((number) => ({ to: number, text, url, caption })),
  };
};

/**
 * The id of the job of a message: it follows from the idempotency key. A plan is about a job, so a plan can only be sent with
 * the key for which it was made, and the API does that once.
 */
export const jobOf = (idempotencyKey: string): string => {
  const hash = unkeyedHash(`mcp ${idempotencyKey}`);
  // A UUID of version 8 (RFC 9562, 5.8): its bits are our own.
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(12, 15)}`,
    `8${hash.slice(15, 18)}`,
    hash.slice(18, 30),
  ].join('-');
};
