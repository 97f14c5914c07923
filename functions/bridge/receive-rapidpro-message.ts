/** POST /v1/webhook/rapidpro/: receives a message, or a part of one, that RapidPro sends to a user. */
import { bridge as api } from '../../shared/api/areas/bridge.ts';
import { withHashes } from '../../shared/core/hash-secret.ts';
import { findHook } from '../../shared/destinations/inbound-secret.ts';
import { fromRapidpro, leastPartOf } from '../../shared/destinations/rapidpro.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';
import { sendFromPlatform } from '../../shared/messaging/platform-messages.ts';
import { withWakeUps } from '../../shared/outbox/wake-ups/at-once.ts';

export const handler = endpoint(
  api.receiveRapidproMessage,
  withHashes(
    withWakeUps(async ({ account, body, arrived }) => {
      const draft = fromRapidpro(body);
      // A blank part of a longer text: nothing is sent.
      if (draft === undefined) return ok({ message: 'success' });
      const leastPart = async () => leastPartOf(await findHook(account));
      return ok({ message: 'success', id: await sendFromPlatform(account, 'rapidpro', draft, { arrived, leastPart }) });
    }),
  ),
);
