/** An event in the delivery history that has failed permanently. */
import { newId } from '../../../shared/core/ids.ts';
import { attemptItem } from '../../../shared/delivery/history/attempt-item.ts';
import { conversationName, entryKey } from '../../../shared/outbox/entities.ts';
import type { Conversation, Entry } from '../../../shared/outbox/event.ts';
import { lifetime } from '../../support/lifetime.ts';

/** The last attempt of an event that the webhook has rejected. */
export const failedAttempt = ({ account, phone, direction }: Conversation, id: string, body = 'Hi') => {
  const message = { id: newId(), account, phone, job_id: newId(), payload_type: 'text', ...lifetime };
  const entry: Entry = {
    ...entryKey(conversationName({ direction, account, phone }), id),
    id,
    created: lifetime.accepted,
    outgoing: { type: 'message.received', message, to: '', content: { type: 'text', text: { body } } },
  };
  const attempt = { entry, number: 1, hasSucceeded: false, cause: 'circuit_open', at: Date.now(), isFinal: true };
  return attemptItem(attempt, Math.floor(Date.now() / 1_000) + 86_400);
};
