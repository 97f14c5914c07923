/** POST /v1/webhook/turn/{encoded_token}: receives a message that Turn sends to a user. */

import { bridge as api } from '../../shared/api/areas/bridge.ts';
import { withHashes } from '../../shared/core/hash-secret.ts';
import { Problem } from '../../shared/core/problems.ts';
import { findHook } from '../../shared/destinations/inbound-secret.ts';
import { fromTurn, isOrdinaryWebhook, isSigned, turnMessage } from '../../shared/destinations/turn.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';
import { sendFromPlatform } from '../../shared/messaging/platform-messages.ts';
import { withWakeUps } from '../../shared/outbox/wake-ups/at-once.ts';
import { validBody } from '../../shared/validation/validation-errors.ts';

export const handler = endpoint(
  api.receiveTurnMessage,
  withHashes(
    withWakeUps(async ({ account, headers, body, bytes }) => {
      if (isOrdinaryWebhook(headers, body)) return ok({ messages: [] });
      if (!isSigned(bytes(), headers['x-turn-hook-signature'], await findHook(account))) throw notSigned();
      const id = await sendFromPlatform(account, 'turn', fromTurn(validBody(turnMessage, body)));
      return ok({ messages: [{ id }] });
    }),
  ),
);

const notSigned = (): Problem =>
  new Problem(
    'signature_invalid',
    "X-Turn-Hook-Signature is missing, or was not made with the channel's hmac_secret that the operator has set.",
  );
