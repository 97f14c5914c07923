/** Messages that an account's chat platform sends to users (spec §4.11, §4.12). */

import type { PlatformName } from '../accounts/platform-settings.ts';
import { now } from '../core/clock.ts';
import { hashOf } from '../core/idempotency.ts';
import { idFromKey, newId } from '../core/ids.ts';
import { page, update } from '../table/client.ts';
import { messageKey } from '../table/keys.ts';
import { updateWrite } from '../table/transactions.ts';
import type { PlatformDraft } from './events.ts';
import type { LogItem, State } from './message.ts';
import { type Copy, type CopyState, decide, readRepeats, repeatsChange } from './repeats.ts';
import { acceptMessage, rejectForeignMedia } from './send.ts';

/** What a repeat is judged by. */
interface Arrival {
  /** When the request reached the service, in milliseconds since 1970. */
  arrived?: number;
  /** Bytes that a text has at least that can be an equal part of a longer one. */
  leastPart?: () => Promise<number>;
}

/**
 * Accepts a message of an account's chat platform to a user; the platform is notified of its states. A repeat is accepted
 * and not sent again: one with the same reference and the same content (parts of one message share their reference). An
 * equal part of the same message, and a message that is resent after it failed, are sent: `repeats.ts` tells them apart.
 * 0.5 read units and 6 write units, as a message of the API. A repeat costs 2.5 read units and 6 write units, 1 more where
 * it may be an equal part; what is sent again costs 8 write units more.
 *
 * @returns the message's id
 * @throws invalid_request: an image or file that is not the account's own, or has expired
 */
export const sendFromPlatform = async (
  account: string,
  platform: PlatformName,
  { reference, mediaAt = '#', ...draft }: PlatformDraft,
  { arrived = now(), leastPart = async () => Number.POSITIVE_INFINITY }: Arrival = {},
): Promise<string> => {
  await rejectForeignMedia(account, draft, mediaAt);
  const sending = { account, source: platform };
  if (reference === undefined) {
    const id = newId();
    await acceptMessage(draft, { ...sending, id, origin: { platform, id } });
    return id;
  }
  const idOf = ({ place, generation }: Copy): string =>
    idFromKey(
      account,
      platform,
      JSON.stringify(place === 0 && generation === 0 ? [reference, draft] : [reference, draft, place, generation]),
    );
  const originIn = (generation: number) => ({ platform, id: reference, ...(generation > 0 && { generation }) });
  const look = (copy: Copy) => stateOf(idOf(copy));

  const first = idOf({ place: 0, generation: 0 });
  const bytes = draft.type === 'text' ? Buffer.byteLength(draft.text.body) : 0;
  for (;;) {
    if (await acceptMessage(draft, { ...sending, id: first, origin: originIn(0) })) return first;
    const { repeats, version } = await readRepeats(account, reference);
    const request = { content: hashOf(draft), arrived, bytes, leastPart: await leastPart() };
    const { action, copy, repeats: next } = await decide(repeats, request, look);
    const id = idOf(copy);
    if (next === undefined) return id;
    const change = repeatsChange(account, reference, next, version);
    const isNoted =
      action === 'accept'
        ? await update(change)
        : await acceptMessage(draft, {
            ...sending,
            id,
            origin: originIn(copy.generation),
            more: [updateWrite(change)],
          });
    // Otherwise another request of the message was noted meanwhile.
    if (isNoted) return id;
  }
};

/** States that end a message's way without the user having it. */
const FAILURES: State[] = ['sending_failed', 'delivery_failed'];
/** States after which the user has it, whatever else was reported. */
const SUCCESSES: State[] = ['delivered_to_user', 'read'];

/** What became of a message. 1 read unit. */
const stateOf = async (id: string): Promise<CopyState> => {
  const { items } = await page<LogItem>({
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': messageKey(id).pk },
    ConsistentRead: true,
  });
  const since = (states: State[]): number | undefined => {
    const reached = items.find(({ state }) => states.includes(state));
    return reached && Date.parse(`${reached.created}Z`);
  };
  return { accepted: since(['sent']) ?? 0, failed: since(SUCCESSES) === undefined ? since(FAILURES) : undefined };
};
