/** What many messages and events of the past leave of a user: log entries, and attempts in a webhook's delivery history. */
import { timestampOf } from '../../../shared/core/clock.ts';
import { newId } from '../../../shared/core/ids.ts';
import { attemptKey, deliveriesAbout, deliverySlotOf } from '../../../shared/delivery/entities.ts';
import { logItem } from '../../../shared/outbox/message.ts';
import { lifetime } from '../../support/lifetime.ts';

/** Whose messages, how many, and when they were, in milliseconds since 1970. */
interface Past {
  account: string;
  phone: string;
  count: number;
  at: number;
}

export const logOf = ({ account, phone, count, at }: Past) =>
  Array.from({ length: count }, () => {
    const message = { id: newId(), account, phone, job_id: newId(), payload_type: 'text', ...lifetime };
    return logItem(message, 'sent', timestampOf(at));
  });

export const historyOf = ({ account, phone, count, at }: Past) =>
  Array.from({ length: count }, (_, index) => {
    const created = timestampOf(at);
    const reference = {
      slot: deliverySlotOf(phone),
      outcome: 'succeeded' as const,
      event: newId(),
      started: at + index,
    };
    return { ...attemptKey(account, reference), phone, created, gsi2pk: deliveriesAbout(phone), gsi2sk: created };
  });
