/**
 * Requests of a chat platform that come again with the same id and content. Such a request is one of three:
 *
 * - a repeat: the platform did not receive our response. It is accepted, and nothing is sent.
 * - an equal part: a long text has two parts of the same content. It is sent.
 * - a Resend: a person has a failed message sent once more. It is sent, and has statuses of its own.
 *
 * Parts follow within seconds, each after the response to the one before. Repeats come minutes later, or at once. So
 * requests are counted in rounds: the nth request of a round is about the nth copy of the content. A text whose two parts
 * are both `x`, and a repeat of all parts after five minutes:
 *
 *     round 1:  x → copy 0: sent        x → copy 1: an equal part, sent
 *     round 2:  x → copy 0: a repeat    x → copy 1: a repeat, or sent if it did not reach us in round 1
 *
 * The first request of a content is accepted without any of this, and costs nothing more.
 */
import { now, scaled, secondsFromNow } from '../core/clock.ts';
import { messageRetention } from '../core/settings.ts';
import { getConsistent, type update } from '../table/client.ts';
import { type Key, repeatsKey } from '../table/keys.ts';

/** What is known of one content within a message of a platform. */
interface Requested {
  /** The generation in which each copy was sent last. */
  copies: number[];
  /** Requests in the current round, and when the last one arrived, in milliseconds since 1970. */
  requests: number;
  last: number;
}

/** The repeats of a message of a platform, besides its first copies. */
export interface Repeats {
  /** How often it was resent, and when last, in milliseconds since 1970. */
  generation: number;
  resent: number;
  /** By the hash of the content. */
  contents: Record<string, Requested>;
}

interface RepeatsItem extends Key, Repeats {
  /** Counts changes. */
  version: number;
  expires_at: number;
}

/** A request that is not the first one of its content. Times are milliseconds since 1970. */
export interface Repeated {
  /** The hash of the content. */
  content: string;
  arrived: number;
  /** Bytes of its text, and how many a text has at least that can be an equal part. */
  bytes: number;
  leastPart: number;
}

/** One copy of a content, by its place among the copies, and the generation in which it was sent. */
export interface Copy {
  place: number;
  generation: number;
}

/** What became of a copy. Times are milliseconds since 1970. */
export interface CopyState {
  accepted: number;
  /** Since when it has failed permanently, unless it was delivered after all. */
  failed?: number | undefined;
}

/** What is to be done with a request, and what is known afterwards, unless nothing changes. */
interface Decision {
  action: 'send' | 'accept';
  copy: Copy;
  repeats?: Repeats;
}

/** A round ends when so many milliseconds pass without a request of the content. Repeats come after five minutes. */
const ROUND_MS = 60_000;
/** A person who resends a message needs so many milliseconds at least to see that it has failed. */
const NOTICE_MS = 5_000;
/** Bytes that the equal parts of one message have together at most. */
const MAX_MESSAGE = 65_536;

/**
 * Decides what a request is that is not the first one of its content.
 *
 * @param look - what became of a copy
 */
export const decide = async (
  repeats: Repeats,
  { content, arrived, bytes, leastPart }: Repeated,
  look: (copy: Copy) => Promise<CopyState>,
): Promise<Decision> => {
  const first = { place: 0, generation: 0 };
  const known = repeats.contents[content] ?? { copies: [0], requests: 1, last: (await look(first)).accepted };
  const { copies } = known;
  const copyAt = (place: number): Copy => ({ place, generation: copies[place] ?? repeats.generation });

  let place = arrived - known.last > scaled(ROUND_MS) ? 0 : known.requests;
  if (place >= copies.length) {
    const last = copyAt(copies.length - 1);
    const { accepted, failed } = await look(last);
    // Sent before the response to the copy can have arrived: courier waits for that before it sends the next part.
    if (arrived <= accepted) return { action: 'accept', copy: last };
    if (failed !== undefined && arrived - failed >= scaled(NOTICE_MS)) place = 0;
    else if (bytes < leastPart || bytes * (place + 1) > MAX_MESSAGE) return { action: 'accept', copy: last };
  }

  const noted = (copyGenerations: number[], generation = repeats.generation): Repeats => ({
    generation,
    resent: generation > repeats.generation ? arrived : repeats.resent,
    contents: { ...repeats.contents, [content]: { copies: copyGenerations, requests: place + 1, last: arrived } },
  });
  if (place === copies.length) {
    const { generation } = repeats;
    return { action: 'send', copy: { place, generation }, repeats: noted([...copies, generation]) };
  }
  const copy = copyAt(place);
  if ((await look(copy)).failed === undefined) {
    // A text that cannot be an equal part need not be counted.
    return { action: 'accept', copy, ...(bytes >= leastPart && { repeats: noted(copies) }) };
  }
  // All parts of a message that is resent are of one generation.
  const joins = copy.generation < repeats.generation && arrived - repeats.resent <= scaled(ROUND_MS);
  const generation = joins ? repeats.generation : repeats.generation + 1;
  return {
    action: 'send',
    copy: { place, generation },
    repeats: noted(copies.with(place, generation), generation),
  };
};

/** What is known of a message of a platform, and the version of that. 1 read unit. */
export const readRepeats = async (
  account: string,
  reference: string,
): Promise<{ repeats: Repeats; version: number | undefined }> => {
  const item = await getConsistent<RepeatsItem>(repeatsKey(account, reference));
  return { repeats: item ?? { generation: 0, resent: 0, contents: {} }, version: item?.version };
};

/** The change that notes what is known next, on condition that it still has the version that was read. */
export const repeatsChange = (
  account: string,
  reference: string,
  { generation, resent, contents }: Repeats,
  version: number | undefined,
): Parameters<typeof update>[0] => ({
  Key: repeatsKey(account, reference),
  UpdateExpression:
    'SET #version = :next, generation = :generation, resent = :resent, contents = :contents, expires_at = :end',
  ConditionExpression:
    version === undefined ? 'attribute_not_exists(pk) OR expires_at <= :present' : '#version = :version',
  ExpressionAttributeNames: { '#version': 'version' },
  ExpressionAttributeValues: {
    ':next': (version ?? 0) + 1,
    ':generation': generation,
    ':resent': resent,
    ':contents': contents,
    ':end': secondsFromNow(messageRetention() * 86_400),
    ...(version === undefined ? { ':present': Math.floor(now() / 1000) } : { ':version': version }),
  },
});
