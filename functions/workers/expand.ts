/** From the queue of expansions: turns the recipients of an account's batches into messages. */
import type { SQSEvent } from 'aws-lambda';
import { expand } from '../../shared/campaigns/expand.ts';
import { continueExpansion, isSuperseded } from '../../shared/campaigns/recover.ts';
import { now, scaled } from '../../shared/core/clock.ts';
import { withHashes } from '../../shared/core/hash-secret.ts';
import { readExpansionWakeUp, returnExpansionSoon } from '../../shared/outbox/wake-ups/expansions.ts';
import { describeError, log } from '../../shared/telemetry/log.ts';
import { traced } from '../../shared/telemetry/trace.ts';
import { worker } from '../../shared/telemetry/worker.ts';

/** Milliseconds of a run at most, so that other accounts have their turns, and that remain for the step under way. */
const RUN_MS = 5_000;
const RESERVE_MS = 12_000;

/**
 * Handles one wake-up at a time. If batches are left, it sends the next one itself. Lambda does not stop this loop
 * (`RecursiveLoop` in the stack): each run expands at least one message, or a failure ends it, and `sweep` begins again.
 */
export const handler = worker<SQSEvent>(
  'expand',
  withHashes(async ({ Records }, remaining) => {
    const done = { expanded: 0, unfinished: 0, superseded: 0 };
    for (const { body, receiptHandle } of Records) {
      try {
        const { account, batch, rate, at, trace_id } = readExpansionWakeUp(body);
        if (await isSuperseded(account, at)) {
          done.superseded += 1;
          continue;
        }
        const end = now() + Math.min(scaled(RUN_MS), remaining() - RESERVE_MS);
        const run = await traced(trace_id, () => expand(account, batch, end, rate));
        if (run.unfinished) await continueExpansion(account, run.rate);
        done.expanded += run.expanded;
        done.unfinished += run.unfinished ? 1 : 0;
      } catch (error) {
        // If this fails too, the wake-up returns when its visibility time-out ends.
        await returnExpansionSoon(receiptHandle).catch((again) =>
          log('error', 'wake-up not returned early', describeError(again)),
        );
        throw error;
      }
    }
    return done;
  }),
);
