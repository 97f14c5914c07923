/** Who receives what waits in a conversation. */
import { appNetwork } from '../app-network/destination.ts';
import type { Conversation } from '../messaging/events.ts';
import type { Receiver } from '../outbound/destination.ts';
import { platformOf } from '../platforms/registry.ts';

/** Who a conversation leads to. An account without a platform has one that wants to know nothing. */
export const receiverOf = async ({ direction, account }: Conversation): Promise<Receiver> =>
  direction === 'app' ? appNetwork() : platformOf(account);
