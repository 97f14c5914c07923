/** Entries of an outbox for chat platforms. */
import type { Entry, OutboxEvent, ReceivedContent } from '../../../../shared/outbox/event.ts';
import type { Message, State } from '../../../../shared/outbox/message.ts';
import { lifetime } from '../../../support/lifetime.ts';

/** A message of the API. */
export const message: Message = {
  id: 'message-1',
  account: 'acme',
  phone: '27821234567',
  job_id: 'job-1',
  payload_type: 'text',
  ...lifetime,
  reported: true,
};

export const entry = (outgoing: OutboxEvent): Entry => ({
  pk: 'OUTBOX#platform#acme#27821234567',
  sk: 'ENTRY#entry-1',
  id: 'entry-1',
  // Almost the next second: rounding up would be visible.
  created: '2030-01-01T00:00:00.999999',
  outgoing,
});

/** A message from a user. */
export const received = (content: ReceivedContent): Entry =>
  entry({ type: 'message.received', message, to: '27820000000', content });

/** A state of a message. */
export const reached = (state: State, of: Message = message): Entry =>
  entry({ type: 'message.state', message: of, state, created: '2030-01-01T00:00:01.000000' });

/** A message to a user. */
export const sent = (of: Message = message): Entry =>
  entry({ type: 'message.send', message: of, content: { type: 'text', text: { body: 'Hello' } } });
