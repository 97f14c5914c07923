/** The failures of a job by reason, with the attempts to deliver the latest ones. */
import { messageIdOf } from '../../../../shared/outbox/entities.ts';
import { failuresOf } from '../../../operator/queries/jobs-admin.ts';
import type { Call, Inbox } from '../../simulators/app-network/inbox.ts';
import type { Outcome } from '../../simulators/calls.ts';
import { isoOf } from '../times.ts';
import type { Attempts } from '../views.ts';
import type { FailureView } from './views.ts';

/** Failures of each reason that are kept with their attempts. */
const LATEST = 20;

/** The number of failures with a reason, and the latest of them. */
export interface Failures {
  count: number;
  latest: Omit<FailureView, 'attempts'>[];
}

/** All failures of a job by reason code, the most frequent reason first. */
export const readFailures = async (account: string, job: string): Promise<Map<string, Failures>> => {
  const found = new Map<string, Failures>();
  for await (const { reason_code = 'unknown', phone, created, ...key } of failuresOf(account, job)) {
    const failures = found.get(reason_code) ?? { count: 0, latest: [] };
    found.set(reason_code, failures);
    failures.count += 1;
    failures.latest.unshift({ id: messageIdOf(key), phone, time: isoOf(created) });
    failures.latest.splice(LATEST);
  }
  return new Map([...found].sort(([, a], [, b]) => b.count - a.count));
};

/** Failed messages with the calls of the app network. */
export const withAttempts = ({ latest }: Failures, inbox: Inbox): FailureView[] => {
  const calls = attemptsOf(
    inbox,
    latest.flatMap(({ id, phone }) =>
      inbox
        .sentTo(phone)
        .filter(({ data }) => data.id === id)
        .map(({ webhook_id }) => ({ id, webhook_id })),
    ),
  );
  return latest.map((failure) => ({ ...failure, attempts: calls.get(failure.id) ?? [] }));
};

/** The attempts to deliver some messages, by message id. */
const attemptsOf = (inbox: Inbox, messages: { id: string; webhook_id: string }[]): Map<string, Attempts> => {
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
