/** Messages that an account's chat platform sends to users. */

import * as v from 'valibot';
import { findAccount } from '../accounts/accounts.ts';
import { now, timestamp } from '../core/clock.ts';
import { hashOf } from '../core/idempotency.ts';
import { idFromKey, newId } from '../core/ids.ts';
import { checkOwnMedia, isDatafreeUrl, typeByUrl } from '../media/media.ts';
import { messageKey, outcomeKey } from '../outbox/entities.ts';
import { enqueueWrites, transactInOrder } from '../outbox/entries.ts';
import { contentWith, conversationAbout, type PlatformDraft } from '../outbox/event.ts';
import { type LogItem, type Message, messageOf, type State } from '../outbox/message.ts';
import { reportOf } from '../outbox/states.ts';
import { hasExpired, page } from '../table/client.ts';
import { conditionCheckWrite, transact, updateWrite, type Write } from '../table/transactions.ts';
import { caption } from '../validation/schemas.ts';
import { hoursFromPlatform } from './hours.ts';
import { type Copy, type CopyState, decide, readRepeats, repeatsChange } from './repeats.ts';
import { acceptMessage, type Draft } from './send.ts';

/** The data of a request that tells repeats and equal parts apart. */
interface Arrival {
  /** When the request reached the service, in milliseconds since 1970. */
  arrived?: number;
  /** Returns the least number of bytes of a text that can be an equal part. Default: no text can. */
  leastPart?: () => Promise<number>;
}

/**
 * Accepts a message of an account's chat platform to a user. The platform is notified of its states. A repeat, with the
 * same reference and content, is accepted and not sent again; parts of one message share their reference. Equal parts, and
 * a Resend after a failure, are sent: `repeats.ts` tells them apart. 1 read unit and 6 write units, as for a message of the
 * API, and 1 more read unit with sending hours. A repeat costs 4 more read units, 5 with `leastPart`, and 4 more write
 * units, 8 if its state is reported again. An equal part or a Resend costs 8 more write units.
 *
 * @returns the message's id
 */
export const sendFromPlatform = async (
  account: string,
  platform: string,
  { reference, asFile, ...given }: PlatformDraft,
  { arrived = now(), leastPart = async () => Number.POSITIVE_INFINITY }: Arrival = {},
): Promise<string> => {
  const draft = await withMedia(account, given, asFile);
  const sender = await findAccount(account);
  const hours = await hoursFromPlatform(account, sender, draft.to);
  if (reference === undefined) {
    const id = newId();
    await acceptMessage(draft, { account, id, origin: { platform, id }, hours, sender });
    return id;
  }
  const idOf = ({ place, generation }: Copy): string =>
    idFromKey(
      account,
      platform,
      JSON.stringify(place === 0 && generation === 0 ? [reference, given] : [reference, given, place, generation]),
    );
  const originIn = (generation: number) => ({ platform, id: reference, ...(generation > 0 && { generation }) });
  const look = (copy: Copy) => stateOf(idOf(copy));

  const first = idOf({ place: 0, generation: 0 });
  // Media are in the last part, which is no equal part.
  const bytes = draft.type === 'text' ? Buffer.byteLength(given.text.body) : 0;
  for (;;) {
    if (await acceptMessage(draft, { account, id: first, origin: originIn(0), hours, sender })) return first;
    const { repeats, version, failureReported } = await readRepeats(account, reference);
    const request = { content: hashOf(given), arrived, bytes, leastPart: await leastPart(), failureReported };
    const { action, copy, replaces, repeats: next } = await decide(repeats, request, look);
    const id = idOf(copy);
    const replaced = replaces === undefined ? next.replaced : [...next.replaced, idOf(replaces)];
    const change = updateWrite(repeatsChange(account, reference, { ...next, replaced }, version));
    const isNoted =
      action === 'accept'
        ? await noteRepeat(id, next.generation, change)
        : await acceptMessage(draft, { account, id, origin: originIn(copy.generation), hours, sender, more: [change] });
    // Otherwise another request of the message changed the record in the meantime, or its state has changed: decide again.
    if (isNoted) return id;
  }
};

/** A text whose last line is a URL alone: what is before it, and the URL. */
const ATTACHMENT = /^(?:(.*?)\s*\n)?[ \t]*(\S+)[ \t]*$/s;

/**
 * A text that ends with a datafree URL of the account, on a line of its own, as an image, a file, a sound or a film, with the
 * text as its caption: platforms append attachments there. Other texts stay, also those that are no caption: too long, or of a
 * sound. 1 read unit for a datafree URL.
 */
const withMedia = async (account: string, given: Omit<PlatformDraft, 'reference'>, asFile?: true): Promise<Draft> => {
  const [, before = '', url = ''] = ATTACHMENT.exec(given.text.body) ?? [];
  if (!isDatafreeUrl(url)) return given;
  const own = await checkOwnMedia(account, asFile ? 'file' : typeByUrl(url), url);
  if ('error' in own) return given;
  const { to, quick_replies } = given;
  if (before.trim() === '') return { to, quick_replies, ...contentWith(own.sendAs, { url }) };
  if (own.sendAs === 'audio' || !v.is(caption, before)) return given;
  return { to, quick_replies, ...contentWith(own.sendAs, { url, caption: before }) };
};

/**
 * Notes a repeated request that sends nothing. The platform then shows the message as on its way, so the furthest state that
 * it has reached is reported again. If it has reached none, a later report follows the note.
 *
 * @returns whether it was noted; false, if the record or the state changed in the meantime
 */
const noteRepeat = async (id: string, generation: number, change: Write): Promise<boolean> => {
  const { message, furthest } = await stateOf(id);
  if (message === undefined || furthest === undefined) {
    const isPending = conditionCheckWrite(outcomeKey(id), { ConditionExpression: 'attribute_not_exists(pk)' });
    return (await transact([change, isPending])).length === 0;
  }
  if (!message.reported || message.origin === undefined) return (await transact([change])).length === 0;
  const created = timestamp();
  const origin = { ...message.origin, ...(generation > 0 && { generation }) };
  const report = reportOf({ message: { ...message, origin, accepted: created }, state: furthest, created });
  const failed = await transactInOrder((after) => [
    change,
    ...enqueueWrites(conversationAbout('platform', message), report, after),
  ]);
  return failed.length === 0;
};

/** Final states of messages that were not delivered. */
const FAILURES: State[] = ['sending_failed', 'delivery_failed'];
/** States that prove the delivery, even if a failure was reported, too. */
const SUCCESSES: State[] = ['delivered_to_user', 'read'];

/** The states of a message that are reported, the furthest first. */
const REPORTED: State[] = ['read', 'delivered_to_user', 'delivered_to_server'];

/** A message, when it was accepted, and which states it has reached. 1 read unit. */
const stateOf = async (id: string): Promise<CopyState & { message?: Message; furthest?: State | undefined }> => {
  const { items: read } = await page<LogItem>({
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': messageKey(id).pk },
    ConsistentRead: true,
  });
  const items = read.filter((item) => !hasExpired(item));
  const first = items.find(({ state }) => state === 'sent');
  const hasReached = (states: State[]): boolean => items.some(({ state }) => states.includes(state));
  return {
    accepted: first === undefined ? 0 : Date.parse(`${first.created}Z`),
    hasFailed: hasReached(FAILURES) && !hasReached(SUCCESSES),
    ...(first && { message: messageOf(first) }),
    furthest: REPORTED.find((state) => hasReached([state])),
  };
};
