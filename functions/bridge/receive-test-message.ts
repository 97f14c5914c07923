/** POST /webhook/{bot_phone_number}, also below /v1: receives a test message to one of the caller's bots, as if from a user. */
import { bridge as api } from '../../shared/api/areas/bridge.ts';
import { withHashes } from '../../shared/core/hash-secret.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';
import { receiveTestMessage } from '../../shared/messaging/receive.ts';
import { withWakeUps } from '../../shared/outbox/wake-ups/at-once.ts';

export const handler = endpoint(
  api.receiveTestMessage,
  withHashes(
    withWakeUps(async ({ account, path, body }) => {
      await receiveTestMessage(account, { ...body.message, to: path.bot_phone_number });
      return ok({ message: 'success' });
    }),
  ),
);
