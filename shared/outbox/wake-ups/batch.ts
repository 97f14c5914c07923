/** A batch of wake-ups, which Lambda removes from the queue when the whole batch is handled. */
import type { SQSRecord } from 'aws-lambda';
import { describeError, log } from '../../telemetry/log.ts';
import { RETURN_DELAY_S, removeAll, returnIn } from './queue.ts';

/** Milliseconds after which wake-ups that are handled do not wait for the others: their groups continue. */
const PATIENCE_MS = 500;

/** Handles a wake-up, of which `isFirst` is the first one of its group. Returns whether it stays on the queue. */
type Handle = (record: SQSRecord, isFirst: boolean) => Promise<'handled' | 'left'>;

/**
 * Handles a batch: wake-ups of one group in turn, and groups at the same time. A slow one delays only its own group: after
 * half a second, those that are handled are removed from the queue. One that fails returns after 5 s, and neither delays nor
 * repeats the others.
 *
 * @throws the first error, after all others were handled and removed; further errors are logged
 */
export const handleBatch = async (url: string, records: SQSRecord[], handle: Handle): Promise<void> => {
  const errors: unknown[] = [];
  const handled: string[] = [];
  let removing: Promise<void> = Promise.resolve();
  const remove = (): void => {
    const handles = handled.splice(0);
    if (handles.length > 0) removing = Promise.all([removing, removeOrLog(url, handles)]).then(() => undefined);
  };
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    remove();
  }, PATIENCE_MS);

  const inTurn = async (group: SQSRecord[]): Promise<void> => {
    for (const [index, record] of group.entries()) {
      try {
        if ((await handle(record, index === 0)) === 'handled') handled.push(record.receiptHandle);
      } catch (error) {
        errors.push(error);
        // If this fails too, the wake-up returns when its visibility time-out ends.
        await returnIn(url, record.receiptHandle, RETURN_DELAY_S).catch((again) =>
          log('error', 'wake-up not returned early', describeError(again)),
        );
      }
      if (isLate) remove();
    }
  };
  const groups = Map.groupBy(records, ({ attributes, messageId }) => attributes?.MessageGroupId ?? messageId);
  await Promise.all([...groups.values()].map(inTurn));
  clearTimeout(timer);
  // A batch that fails returns to the queue as a whole, except what was removed.
  if (errors.length > 0) remove();
  await removing;
  const [first, ...others] = errors;
  // The worker logs the first one.
  for (const error of others) log('error', 'wake-up failed', describeError(error));
  if (errors.length > 0) throw first;
};

/** Removes wake-ups. If this fails, they are removed with the batch, or handled again, which finds nothing to do. */
const removeOrLog = async (url: string, handles: string[]): Promise<void> => {
  try {
    await removeAll(url, handles);
  } catch (error) {
    log('warn', 'wake-ups not removed early', describeError(error));
  }
};
