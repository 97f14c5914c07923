/** Why messages of a campaign failed. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Skeleton } from '../../web/parts.tsx';
import { figure } from '../../web/text.tsx';
import { type BodyFrom, call, callNext, type Reply } from '../client.ts';
import { linkTo } from '../router.ts';
import { campaigns } from '../words/campaigns.ts';
import { explainReason } from '../words/outcomes.ts';

const words = campaigns.one;

/** How many failed for each reason. */
export type Reasons = ReadonlyMap<string, number>;

const FAILED = ['sending_failed', 'delivery_failed'] as const;
/** Entries of a page. */
const LIMIT = '1000';
/** Milliseconds between two readings of all failures. */
const PAUSE_MS = 6_000;

interface ReasonsRequest {
  /** When the campaign was made. */
  since: string | undefined;
  failed: number;
  enabled: boolean;
}

/** Counts the failures of a campaign by reason, again when there are more of them. */
export const useReasons = (id: string, { since, failed, enabled }: ReasonsRequest): Reasons | undefined => {
  const [reasons, setReasons] = useState<Reasons>();
  const last = useRef(0);
  useEffect(() => {
    if (!enabled || failed === 0 || since === undefined) return;
    let isOver = false;
    const read = async () => {
      const found = new Map<string, number>();
      for (const state of FAILED) {
        const query = { job_id: id, state, limit: LIMIT, start: since };
        let page: Reply<BodyFrom<'listLogs'>> | undefined = await call('listLogs', { query });
        while (page !== undefined) {
          for (const { reason = 'unknown' } of page.body ?? []) found.set(reason, (found.get(reason) ?? 0) + 1);
          page = page.next === undefined || isOver ? undefined : await callNext('listLogs', page.next);
        }
      }
      if (!isOver) setReasons(found);
    };
    const wait = Math.max(last.current + PAUSE_MS - Date.now(), 0);
    const timer = setTimeout(() => {
      last.current = Date.now();
      // The counts stay as they were: the next change reads them again.
      read().catch(() => undefined);
    }, wait);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [id, since, failed, enabled]);
  return reasons;
};

export const Failures = ({ id, reasons }: { id: string; reasons: Reasons | undefined }) => {
  if (reasons === undefined) return <Skeleton rows={2} />;
  const shown = [...reasons].filter(([reason]) => reason !== 'cancelled').sort(([, a], [, b]) => b - a);
  return (
    <>
      <ul class="fail-reasons">
        {shown.map(([code, count]) => {
          const { cause, fix } = explainReason('sending_failed', code);
          return (
            <li key={code}>
              <strong>{figure(count)}</strong>
              <span>
                {cause}
                <span class="quiet">{fix}</span>
              </span>
            </li>
          );
        })}
      </ul>
      <p class="show-failed">
        {FAILED.map((state) => (
          <a key={state} href={linkTo('messages', { job_id: id, state })}>
            {words.showFailed[state]}
          </a>
        ))}
      </p>
    </>
  );
};
