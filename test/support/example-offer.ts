/** What the examples of listeners need: an account whose events wait for listeners, and one of them. */
import { updateAccount } from '../../infra/operator/queries/accounts-admin.ts';
import { now, timestamp } from '../../shared/core/clock.ts';
import { offer } from '../../shared/delivery/listeners/offers.ts';
import type { Conversation } from '../../shared/outbox/event.ts';
import { enqueueWrites, pendingEntries, readHead, transactInOrder } from '../../shared/outbox/outbox.ts';
import { remove } from '../../shared/table/client.ts';

const settings = { secret: `whsec_${Buffer.alloc(32).toString('base64')}` };

/** Directs the events of an account to listeners, and adds one that can be claimed: a user has stopped the account. */
export const addOffer = async (account: string, phone: string): Promise<void> => {
  await updateAccount(account, { platform: { name: 'webhook', settings, listening: timestamp() } });
  const conversation: Conversation = { direction: 'platform', account, phone };
  // Events of earlier examples would come first.
  for await (const entries of pendingEntries(conversation)) for (const { pk, sk } of entries) await remove({ pk, sk });
  const outgoing = { type: 'user.state', user: { account, phone }, state: 'stopped' } as const;
  await transactInOrder((after) => enqueueWrites(conversation, outgoing, after));
  // On a served stack, `deliver` offers it, too.
  const head = await readHead(conversation);
  if (head !== undefined) await offer(head, now() + 86_400_000);
};
