/** A failed delivery for the examples of the API description: no example can wait until an event has failed. */

import { now, secondsFromNow, timestamp } from '../../../shared/core/clock.ts';
import { newId } from '../../../shared/core/ids.ts';
import { HISTORY_DAYS } from '../../../shared/core/lifetimes.ts';
import { type AttemptItem, attemptItem } from '../../../shared/delivery/history/attempt-item.ts';
import { conversationName, entryKey } from '../../../shared/outbox/entities.ts';

const TEXT = 'The examples of the documentation refer to this message.';

/** An attempt that the webhook of an account rejected: it has a user's message. */
export const exampleDelivery = (account: string, phone: string): AttemptItem => {
  const [id, created, started] = [newId(), timestamp(), now()];
  const expires_at = secondsFromNow(HISTORY_DAYS * 86_400);
  const message = { id: newId(), account, phone, job_id: newId(), payload_type: 'text', accepted: created, expires_at };
  return attemptItem(
    {
      entry: {
        ...entryKey(conversationName({ direction: 'platform', account, phone }), id),
        id,
        created,
        outgoing: { type: 'message.received', message, to: '', content: { type: 'text', text: { body: TEXT } } },
      },
      number: 1,
      hasSucceeded: false,
      exchange: {
        started,
        ended: started + 85,
        url: 'https://example.com/hook',
        response: { status: 404, headers: {}, body: '{"error":"There is no such path."}' },
      },
      at: started,
      isFinal: true,
    },
    expires_at,
  );
};
