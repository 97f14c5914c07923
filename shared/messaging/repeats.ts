/**
 * Repeated requests of a chat platform, with the same id and content. Such a request is one of three:
 *
 * - a repeat: the platform did not receive our response. It is accepted, and nothing is sent.
 * - an equal part: a long text has two parts of the same content. It is sent.
 * - a Resend: a person sends a failed message again. It is sent, and has statuses of its own.
 *
 * The parts of a message follow each other within seconds, each after the response to the previous one. Repeats arrive
 * at once, or minutes later. So requests are counted in rounds: the nth request of a round belongs to the nth copy of
 * the content. An example is a text whose two parts are both `x`, and a repeat of all parts after five minutes:
 *
 *     round 1:  x → copy 0: sent        x → copy 1: an equal part, sent
 *     round 2:  x → copy 0: a repeat    x → copy 1: a repeat, or sent if it did not reach us in round 1
 *
 * The first request of a content needs no record, and has no further costs.
 */
import { now, scaled, secondsFromNow } from '../core/clock.ts';
import { messageRetention } from '../core/settings.ts';
import { getConsistent, type update } from '../table/client.ts';
import { type Key, repeatsKey } from '../table/keys.ts';

/** The requests of one content within a message of a platform. */
interface Requested {
  /** For each copy, the generation in which it was last sent. */
  copies: number[];
  /** Requests in the current round, and when the last one arrived, in milliseconds since 1970. */
  requests: number;
  last: number;
}

/** The record of a message's repeated requests. */
export interface Repeats {
  /** How often the message was resent, and when last, in milliseconds since 1970. */
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

/** A repeated request. Times are in milliseconds since 1970. */
export interface Repeated {
  /** The hash of the content. */
  content: string;
  arrived: number;
  /** Bytes of its text, and the least number of bytes of a text that can be an equal part. */
  bytes: number;
  leastPart: number;
}

/** A copy of a content: its index among the copies, and the generation in which it was last sent. */
export interface Copy {
  place: number;
  generation: number;
}

/** The state of a copy. Times are in milliseconds since 1970. */
export interface CopyState {
  accepted: number;
  /** When it failed permanently. Undefined if it was delivered in spite of that. */
  failed?: number | undefined;
}

/** `accept` sends nothing. `repeats` is the new record, if it changes. */
interface Decision {
  action: 'send' | 'accept';
  copy: Copy;
  repeats?: Repeats;
}

/** A round ends after this many milliseconds without a request of the content. RapidPro repeats after five minutes. */
const ROUND_MS = 60_000;
/** Least milliseconds from a failure to a Resend: a person must see the failure first. */
const NOTICE_MS = 5_000;
/** Most bytes of all equal parts of a message. */
const MAX_MESSAGE = 65_536;

/**
 * Decides whether a repeated request is sent, and for which copy.
 *
 * @param look - returns the state of a copy
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
    // Courier sends the next part only after our response. This request arrived before the response, so it is a repeat.
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
    // Requests are counted only for texts that can be equal parts.
    return { action: 'accept', copy, ...(bytes >= leastPart && { repeats: noted(copies) }) };
  }
  // All parts of a Resend belong to one generation.
  const joins = copy.generation < repeats.generation && arrived - repeats.resent <= scaled(ROUND_MS);
  const generation = joins ? repeats.generation : repeats.generation + 1;
  return {
    action: 'send',
    copy: { place, generation },
    repeats: noted(copies.with(place, generation), generation),
  };
};

/** The record of a message's repeated requests, and the version of the record. 1 read unit. */
export const readRepeats = async (
  account: string,
  reference: string,
): Promise<{ repeats: Repeats; version: number | undefined }> => {
  const item = await getConsistent<RepeatsItem>(repeatsKey(account, reference));
  return { repeats: item ?? { generation: 0, resent: 0, contents: {} }, version: item?.version };
};

/** The change that stores the new record, on condition that the stored one still has the version that was read. */
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
