/** The attempts of the service to deliver messages to phones. */
import type { Call, Inbox } from '../simulators/app-network/inbox.ts';
import type { Outcome } from '../simulators/calls.ts';
import type { Attempts } from './views.ts';

/** The attempts to deliver some messages, by message id. */
export const attemptsOf = (inbox: Inbox, messages: { id: string; webhook_id: string }[]): Map<string, Attempts> => {
  const ids = new Map(messages.map(({ id, webhook_id }) => [webhook_id, id]));
  const calls = inbox.calls.filter(({ webhook_id }) => ids.has(webhook_id));
  return new Map(
    [...Map.groupBy(calls, ({ webhook_id }) => ids.get(webhook_id) ?? '')].map(([id, some]) => [id, some.map(attempt)]),
  );
};

const attempt = ({ time, status }: Call): Attempts[number] => ({ time, ...outcomeOf(status) });

/** An outcome as text, and whether the call was accepted. */
const outcomeOf = (status: Outcome): { outcome: string; taken: boolean } => ({
  outcome: status === null ? 'waiting' : String(status),
  taken: typeof status === 'number' && status < 300,
});
