/** The texts by which listeners name their claims. */
import * as v from 'valibot';
import { Problem } from '../../core/problems.ts';
import type { NamedConversation } from '../../outbox/entities.ts';
import { directions } from '../../outbox/event.ts';

/** A claim of the oldest entry of a conversation. */
export interface Claim {
  /** The conversation: its account is the listener's. */
  direction: NamedConversation['direction'];
  user: string;
  /** Id of the entry. */
  entry: string;
  id: string;
}

const parts = v.tuple([
  v.picklist(directions),
  // Also with what sets a conversation apart from others of its user.
  v.pipe(v.string(), v.regex(/^[\w-]{22}(\.\w{1,10})?$/)),
  v.pipe(v.string(), v.uuid()),
  v.pipe(v.string(), v.uuid()),
]);

/** The text of a claim, in base64url. */
export const encodeClaim = ({ direction, user, entry, id }: Claim): string =>
  Buffer.from([direction, user, entry, id].join(' ')).toString('base64url');

/** @throws claim_not_found — the text is not that of a claim */
export const decodeClaim = (text: string): Claim => {
  const { success, output } = v.safeParse(parts, Buffer.from(text, 'base64url').toString().split(' '));
  if (!success) throw claimNotFound();
  const [direction, user, entry, id] = output;
  return { direction, user, entry, id };
};

/** The same for claims that never existed, have run out, were settled, or belong to another account. */
export const claimNotFound = (): Problem =>
  new Problem(
    'claim_not_found',
    'You have no such claim, or it has run out. Nothing was changed: an event whose claim ran out can be claimed again, with the same id.',
  );
