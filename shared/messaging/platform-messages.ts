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
import { acceptMessage, withOwnMedia } from './send.ts';

/** The data of a request that tells repeats and equal parts apart. */
interface Arrival {
  /** When the request reached the service, in milliseconds since 1970. */
  arrived?: number;
  /** Returns the least number of bytes of a text that can be an equal part. Default: no text can. */
  leastPart?: () => Promise<number>;
}

/**
 * Accepts a message of an account's chat platform to a user. The platform is notified of its states. A repeat, with the
 * same reference and content, is accepted and not sent again; parts of one message share their reference. Equal parts,
 * and a Resend after a failure, are sent: `repeats.ts` tells them apart. 1 read unit and 6 write units, as for a
 * message of the API. A repeat costs 3 more read units, 4 with `leastPart`, and 1 more write unit if it may be an equal
 * part. An equal part or a Resend costs 8 more write units.
 *
 * @returns the message's id
 * @throws invalid_request — an image or file that is not the account's own, or has expired
 */
export const sendFromPlatform = async (
  account: string,
  platform: PlatformName,
  { reference, mediaAt = '#', ...given }: PlatformDraft,
  { arrived = now(), leastPart = async () => Number.POSITIVE_INFINITY }: Arrival = {},
): Promise<string> => {
  const draft = await withOwnMedia(account, given, mediaAt);
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
    // Otherwise another request of the message changed the record in the meantime: decide again.
    if (isNoted) return id;
  }
};

/** Final states of messages that were not delivered. */
const FAILURES: State[] = ['sending_failed', 'delivery_failed'];
/** States that prove the delivery, even if a failure was reported, too. */
const SUCCESSES: State[] = ['delivered_to_user', 'read'];

/** When a message was accepted, and when it failed. 1 read unit. */
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
