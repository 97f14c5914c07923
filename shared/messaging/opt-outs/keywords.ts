/**
 * Opt-out keywords: a user who writes STOP to a bot, as in a text message, wants no more of the business. The account decides
 * what follows. The message itself is delivered in any case, so that a chat platform can handle it, too.
 */
import { findAccount } from '../../accounts/accounts.ts';
import { idOf } from '../../core/ids.ts';
import { enqueueWrites, transactInOrder } from '../../outbox/entries.ts';
import type { OptOutState, OutboxEvent, ReceivedContent } from '../../outbox/event.ts';
import { eventReceiptWrite } from '../../users/event-receipts.ts';
import { isNotified } from '../platform-events.ts';
import { messageWrites } from '../send.ts';
import { changeOptOut } from './changes.ts';

/** The whole texts that stop and start a business, in lower case and without accents. The guide for businesses lists them. */
const KEYWORDS: Readonly<Record<string, OptOutState>> = {
  stop: 'stopped',
  'stop all': 'stopped',
  stopall: 'stopped',
  unsubscribe: 'stopped',
  'opt out': 'stopped',
  optout: 'stopped',
  arret: 'stopped',
  desabonner: 'stopped',
  baja: 'stopped',
  parar: 'stopped',
  start: 'started',
  unstop: 'started',
};

/**
 * What a text asks for, if the whole text is a keyword; undefined otherwise. Marks around the word do not count.
 *
 * @internal Tests use it, too.
 */
export const keywordIn = (content: ReceivedContent): OptOutState | undefined => {
  if (content.type !== 'text' || content.text.body.length > MAX_LENGTH) return undefined;
  const words = content.text.body
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .join(' ');
  return Object.hasOwn(KEYWORDS, words) ? KEYWORDS[words] : undefined;
};

/** Characters of the longest text that is taken for a keyword. */
const MAX_LENGTH = 40;

/**
 * Does what an account has set for a user's message that is a keyword. A repeat of the message changes nothing. Costs nothing
 * for other messages; else 1 read unit, and 3 read units and at most 14 write units if the account has set something.
 *
 * - `tell`: the platform is notified as if the user had stopped or started the business in the app. Nothing else happens.
 * - `opt_out`: the user is opted out, and receives the confirmation. A start ends only an opt-out by such a message: whoever
 *   has stopped the business in the app starts it there.
 */
export const applyKeyword = async (
  { account, phone, message }: { account: string; phone: string; message: string },
  content: ReceivedContent,
): Promise<void> => {
  const state = keywordIn(content);
  if (state === undefined) return;
  const owner = await findAccount(account);
  const { action, confirmation } = owner?.opt_out_keywords ?? {};
  const event = idOf(account, 'keyword', message);
  if (action === 'tell') {
    if (!isNotified(owner?.platform, state)) return;
    const outgoing: OutboxEvent = { type: 'user.state', user: { account, phone }, state, by: 'message' };
    await transactInOrder((after) => [
      eventReceiptWrite(event),
      ...enqueueWrites({ direction: 'platform', account, phone }, outgoing, after),
    ]);
  }
  if (action !== 'opt_out') return;
  const draft = { to: phone, type: 'text', text: { body: confirmation ?? '' } } as const;
  const sending = { id: idOf(account, 'confirmation', message), account, confirmsStop: true } as const;
  await changeOptOut({
    ...{ event, account, phone, state, by: 'message' },
    more: (after) =>
      state === 'stopped' && confirmation !== undefined ? messageWrites(draft, sending, owner, after) : [],
  });
};
