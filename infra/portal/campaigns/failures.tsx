/** Why messages of a campaign failed. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { figure } from '../../web/figures.ts';
import { Skeleton } from '../../web/parts.tsx';
import { type BodyFrom, call, callNext, type Reply } from '../client.ts';
import { linkTo } from '../router.ts';
import { Failure } from '../shell/failure.tsx';
import { campaigns } from '../words/campaigns.ts';
import { explainReason } from '../words/outcomes.ts';
import { shell } from '../words/shell.ts';

const words = campaigns.one;

/** How many failed for each reason. */
type Reasons = ReadonlyMap<string, number>;

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

export interface ReasonsState {
  reasons: Reasons | undefined;
  error: unknown;
  reload: () => void;
}

/** Counts the failures of a campaign by reason, again when there are more of them. */
export const useReasons = (id: string, { since, failed, enabled }: ReasonsRequest): ReasonsState => {
  const [reasons, setReasons] = useState<Reasons>();
  const [error, setError] = useState<unknown>();
  const [round, setRound] = useState(0);
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
      read().then(
        () => setError(undefined),
        (failure: unknown) => !isOver && setError(failure),
      );
    }, wait);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [id, since, failed, enabled, round]);
  return { reasons, error, reload: () => setRound(round + 1) };
};

interface FailuresProps extends ReasonsState {
  id: string;
  /** Messages by the states that they reached. */
  states: Partial<Record<string, number>>;
}

export const Failures = ({ id, states, reasons, error, reload }: FailuresProps) => {
  if (error !== undefined) return <Failure error={error} onRetry={reload} title={shell.notLoaded} />;
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
                <span>{cause}</span>
                <span class="quiet">{fix}</span>
              </span>
            </li>
          );
        })}
      </ul>
      <p class="show-failed">
        {FAILED.filter((state) => states[state]).map((state) => (
          <a key={state} href={linkTo('messages', { job_id: id, state })}>
            {words.showFailed[state]}
          </a>
        ))}
      </p>
    </>
  );
};
