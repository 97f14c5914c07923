/** Settling a claimed event by the response of the listener's program: as `deliver` settles it for a webhook. */
import { now, timestamp, timestampOf } from '../../core/clock.ts';
import type { AttemptResult } from '../../destinations/attempt-result.ts';
import { type Destination, destinationNameOf, type Exchange } from '../../destinations/destination.ts';
import { interpretWebhook } from '../../destinations/webhook.ts';
import { conversationName, entryKey, type NamedConversation } from '../../outbox/entities.ts';
import { oldestEntries } from '../../outbox/entries.ts';
import type { Entry } from '../../outbox/event.ts';
import {
  type ClaimedHead,
  endConversation,
  needsRefresh,
  release,
  releaseForSecondTry,
  renewClaim,
  resume,
  triesBefore,
} from '../../outbox/head.ts';
import { getConsistent } from '../../table/client.ts';
import { traced } from '../../telemetry/trace.ts';
import { applyResult, attemptsOf } from '../apply-result.ts';
import { waitForSecondTry } from '../attempt.ts';
import { breakerOf } from '../breaker.ts';
import { recordAttempts } from '../history/record.ts';
import type { ListenerError, SettlementStatus } from '../history/statuses.ts';
import { isExpired } from '../retry-policy.ts';
import { claimNotFound, decodeClaim } from './claims.ts';

/** What the listener's program returned. */
interface Outcome {
  /** The status of the response; missing if there was none. */
  status_code?: number | undefined;
  /** Why there was no response. */
  error?: ListenerError | undefined;
  /** The header `Retry-After` of the response. */
  retry_after?: string | undefined;
  /** The beginning of the body of the response. */
  response?: string | undefined;
  duration_ms?: number | undefined;
}

/** What became of the event, and when it can be claimed again. */
interface Settlement {
  status: SettlementStatus;
  next_attempt?: string;
}

/**
 * Settles a claimed event by the response, with the rules of a webhook: retries, permanent failures, history. Then the
 * conversation can be claimed again. 4 read units, and for an accepted event 6 write units.
 *
 * @throws claim_not_found — no such claim of the account, or it has run out; nothing is changed
 */
export const settleClaim = async (account: string, text: string, outcome: Outcome): Promise<Settlement> => {
  const { direction, user, entry: id, id: claim } = decodeClaim(text);
  const conversation: NamedConversation = { direction, account, user };
  const name = conversationName(conversation);
  const head = await renewClaim(conversation, claim);
  if (head === undefined) throw claimNotFound();
  const entry = await getConsistent<Entry>(entryKey(name, id));
  if (entry === undefined) {
    await releaseForNext(conversation, head);
    return { status: 'gone' };
  }
  return traced(entry.trace_id, () => settleEntry(conversation, head, entry, outcome));
};

const settleEntry = async (
  conversation: NamedConversation,
  head: ClaimedHead,
  entry: Entry,
  outcome: Outcome,
): Promise<Settlement> => {
  const exchange = exchangeOf(outcome);
  const context = {
    destination: listenerAs(conversation),
    breaker: breakerOf(conversation),
    circuit: 'closed' as const,
    head,
    entry,
    exchanges: [exchange],
  };
  const result = resultOf(exchange);
  if (result.status === 'retry' && !result.isRefusal && head.attempted !== entry.id && !isExpired(entry)) {
    const wait = waitForSecondTry(result, exchange.started);
    if (wait !== undefined) {
      const due = now() + wait;
      await recordAttempts(attemptsOf(context, { next: due }));
      await releaseForSecondTry(head, { entry: entry.id, due, tries: triesBefore(head, entry) + 1 });
      return { status: 'pending', next_attempt: timestampOf(due) };
    }
  }
  const applied = await applyResult(context, result);
  // The retry was scheduled, and the claim released, in one write.
  if ('at' in applied) return { status: 'pending', next_attempt: timestampOf(applied.at) };
  await releaseForNext(conversation, head);
  if (applied.type !== 'settled') return { status: 'gone' };
  return { status: result.status === 'delivered' ? 'delivered' : 'failed' };
};

/** Releases a claim after its entry has left the outbox: the next entry can be claimed, or the conversation ends. */
const releaseForNext = async (conversation: NamedConversation, head: ClaimedHead): Promise<void> => {
  const [next] = (await oldestEntries(conversation, 1)).entries;
  if (next === undefined && (await endConversation(head))) return;
  if (needsRefresh(head)) await resume(head, next?.created ?? timestamp());
  await release(head, 'listeners');
};

/** The listener in place of the webhook. It needs no secret: the request was built when it was claimed. */
const listenerAs = (conversation: NamedConversation): Destination => ({
  name: destinationNameOf(conversation),
  buildRequest: () => undefined,
  hasHistory: true,
  isPull: true,
});

const exchangeOf = ({ status_code, error, retry_after, response, duration_ms = 0 }: Outcome): Exchange => {
  const ended = now();
  const times = { started: ended - duration_ms, ended };
  if (status_code === undefined) return { ...times, error: error ?? 'no_connection' };
  const headers = retry_after === undefined ? {} : { 'retry-after': retry_after };
  return { ...times, response: { status: status_code, headers, ...(response !== undefined && { body: response }) } };
};

const resultOf = ({ response, error = 'no_connection' }: Exchange): AttemptResult => {
  if (response === undefined) return { status: 'retry', cause: error };
  const result = interpretWebhook(response);
  // A listener that wants no more requests ends.
  return result.status === 'disabled' ? { status: 'retry', cause: result.cause } : result;
};
