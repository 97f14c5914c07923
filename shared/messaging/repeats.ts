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
import { hasExpired, page, type update } from '../table/client.ts';
import type { Key } from '../table/keys.ts';
import { isRepeatsKey, repeatsKey, statusReceiptKey } from './entities.ts';

/** A status receipt in the table: what a platform was notified of. */
export interface StatusReceiptItem extends Key {
  generation?: number;
  /** When the request that reported it began and ended, in milliseconds since 1970. */
  began?: number;
  reported?: number;
  expires_at: number;
}

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
  /** How often the message was resent. */
  generation: number;
  /** When the last request arrived that was accepted and sent nothing, in milliseconds since 1970. */
  last: number;
  /** Ids of the messages that were sent again: nothing is reported of them any more. */
  replaced: string[];
  /** By the hash of the content. */
  contents: Record<string, Requested>;
}

/** The record in the table. */
export interface RepeatsItem extends Key, Repeats {
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
  /** When the request began that reported the failure of the present generation to the platform. */
  failureReported?: number | undefined;
}

/** A copy of a content: its index among the copies, and the generation in which it was last sent. */
export interface Copy {
  place: number;
  generation: number;
}

/** The state of a copy. Times are in milliseconds since 1970. */
export interface CopyState {
  accepted: number;
  /** Whether it has failed permanently, and was not delivered in spite of that. */
  hasFailed?: boolean;
}

/** `accept` sends nothing. `repeats` is the new record, and `replaces` the copy that is sent again. */
interface Decision {
  action: 'send' | 'accept';
  copy: Copy;
  replaces?: Copy;
  repeats: Repeats;
}

/** A round ends after this many milliseconds without a request of the content. RapidPro repeats after five minutes. */
const ROUND_MS = 60_000;
/** Most bytes of all equal parts of a message. */
const MAX_MESSAGE = 65_536;

/**
 * Decides whether a repeated request is sent, and for which copy. A copy that has failed is always sent: it reaches the user
 * once at most, and otherwise nothing would be reported of the request. A long text may be an equal part, unless the failure
 * was reported to the platform: only after that, a person or a script sends again.
 *
 * @param look - returns the state of a copy
 */
export const decide = async (
  repeats: Repeats,
  { content, arrived, bytes, leastPart, failureReported }: Repeated,
  look: (copy: Copy) => Promise<CopyState>,
): Promise<Decision> => {
  const first = { place: 0, generation: 0 };
  const known = repeats.contents[content] ?? { copies: [0], requests: 1, last: (await look(first)).accepted };
  const { copies } = known;
  const copyAt = (place: number): Copy => ({ place, generation: copies[place] ?? repeats.generation });
  const noted = (copyGenerations: number[], requests: number, generation = repeats.generation): Repeats => ({
    ...repeats,
    generation,
    contents: { ...repeats.contents, [content]: { copies: copyGenerations, requests, last: arrived } },
  });
  const accept = (copy: Copy, requests: number): Decision => ({
    action: 'accept',
    copy,
    repeats: { ...noted(copies, requests), last: arrived },
  });

  let place = arrived - known.last > scaled(ROUND_MS) ? 0 : known.requests;
  if (place >= copies.length) {
    const last = copyAt(copies.length - 1);
    const { accepted, hasFailed } = await look(last);
    // Courier sends the next part only after our response. This request arrived before the response, so it is a repeat.
    if (arrived <= accepted) return accept(last, known.requests);
    const isResend = failureReported !== undefined && failureReported <= arrived;
    const mayBePart = bytes >= leastPart && bytes * (place + 1) <= MAX_MESSAGE;
    if (isResend || (hasFailed && !mayBePart)) place = 0;
    else if (!mayBePart) return accept(last, known.requests);
  }

  if (place === copies.length) {
    const { generation } = repeats;
    return { action: 'send', copy: { place, generation }, repeats: noted([...copies, generation], place + 1) };
  }
  const copy = copyAt(place);
  if (!(await look(copy)).hasFailed) return accept(copy, place + 1);
  // All parts of a Resend belong to one generation, until its failure is reported.
  const joins = copy.generation < repeats.generation && failureReported === undefined;
  const generation = joins ? repeats.generation : repeats.generation + 1;
  return {
    action: 'send',
    copy: { place, generation },
    replaces: copy,
    repeats: noted(copies.with(place, generation), place + 1, generation),
  };
};

/**
 * The record of a message's repeated requests, its version, and when the request began that reported the failure of the
 * present generation. 1 read unit.
 */
export const readRepeats = async (
  account: string,
  reference: string,
): Promise<{ repeats: Repeats; version: number | undefined; failureReported: number | undefined }> => {
  const { items } = await page<RepeatsItem | StatusReceiptItem>({
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': repeatsKey(account, reference).pk },
    ConsistentRead: true,
  });
  const present = items.filter((item) => !hasExpired(item));
  const item = present.find((one): one is RepeatsItem => isRepeatsKey(one));
  const repeats = item ?? { generation: 0, last: 0, replaced: [], contents: {} };
  const { sk } = statusReceiptKey(account, reference, repeats.generation, 'failed');
  const failure = present.find((one): one is StatusReceiptItem => one.sk === sk);
  return { repeats, version: item?.version, failureReported: failure?.began };
};

/** The change that stores the new record, on condition that the stored one still has the version that was read. */
export const repeatsChange = (
  account: string,
  reference: string,
  { generation, last, replaced, contents }: Repeats,
  version: number | undefined,
): Parameters<typeof update>[0] => ({
  Key: repeatsKey(account, reference),
  UpdateExpression:
    'SET #version = :next, generation = :generation, #last = :last, replaced = :replaced, contents = :contents, expires_at = :end',
  ConditionExpression:
    version === undefined ? 'attribute_not_exists(pk) OR expires_at <= :present' : '#version = :version',
  ExpressionAttributeNames: { '#version': 'version', '#last': 'last' },
  ExpressionAttributeValues: {
    ':next': (version ?? 0) + 1,
    ':generation': generation,
    ':last': last,
    ':replaced': replaced,
    ':contents': contents,
    ':end': secondsFromNow(messageRetention() * 86_400),
    ...(version === undefined ? { ':present': Math.floor(now() / 1000) } : { ':version': version }),
  },
});
