/** Who receives what waits in a conversation. */
import { appNetwork } from './app-network.ts';
import type { Conversation } from './outbox.ts';
import { platformOf } from './platforms/platforms.ts';
import type { Receiver } from './receiver.ts';

/** Who a conversation leads to. An account without a platform has one that wants to know nothing. */
export const receiverOf = async ({ direction, account }: Conversation): Promise<Receiver> =>
  direction === 'app' ? appNetwork() : platformOf(account);
