/** How long the latest messages took, by their log. */
import { Skeleton } from '../../web/parts.tsx';
import { instant, median, milliseconds, percentile, Time } from '../../web/text.tsx';
import type { BodyFrom } from '../client.ts';
import { Failure } from '../shell/failure.tsx';
import { Section } from '../shell/page.tsx';
import { useCall } from '../use-call.ts';
import { home } from '../words/home.ts';
import { shell } from '../words/shell.ts';
import { EVERY, errorToShow } from './refresh.ts';

const words = home.times;

/** Entries of the log that are read: those of about a hundred messages. */
const ENTRIES = '400';

const steps = [
  { state: 'delivered_to_server', label: words.server },
  { state: 'delivered_to_user', label: words.user },
  { state: 'read', label: words.read },
] as const;

interface Measured {
  /** How many messages were sent in the part of the log that was read, and when the first of them was. */
  messages: number;
  since: string;
  /** For each step, the milliseconds that messages took since they were sent. */
  durations: { label: string; values: number[] }[];
}

/** Measures messages whose sending is in the part of the log that was read; of others, the beginning is not known. */
export const measure = (entries: NonNullable<BodyFrom<'listLogs'>>): Measured => {
  const sent = new Map<string, string>();
  for (const { id, state, created } of entries) if (state === 'sent') sent.set(id, created);
  return {
    messages: sent.size,
    since: [...sent.values()].sort()[0] ?? '',
    durations: steps.map(({ state, label }) => ({
      label,
      values: entries.flatMap((entry) => {
        const start = sent.get(entry.id);
        if (entry.state !== state || start === undefined) return [];
        return [Math.max(instant(entry.created).getTime() - instant(start).getTime(), 0)];
      }),
    })),
  };
};

export const DeliveryTimes = () => {
  const log = useCall('listLogs', { query: { limit: ENTRIES } }, EVERY);
  const { messages, since, durations } = measure(log.data ?? []);
  return (
    <Section title={words.title}>
      <Failure error={errorToShow(log)} onRetry={log.reload} title={shell.notLoaded} />
      {!log.ready ? (
        log.error === undefined && <Skeleton rows={3} />
      ) : durations.every(({ values }) => values.length === 0) ? (
        <p class="quiet">{words.none}</p>
      ) : (
        <>
          <dl class="times">
            {durations.map(({ label, values }) => (
              <div key={label}>
                <dt>{label}</dt>
                {values.length === 0 ? (
                  <dd class="quiet">{words.notYet}</dd>
                ) : (
                  <dd>
                    <span class="quiet">{words.half}</span> <strong>{milliseconds(median(values))}</strong>
                    <span class="quiet">{words.most(milliseconds(percentile(values, 90)), values.length)}</span>
                  </dd>
                )}
              </div>
            ))}
          </dl>
          <p class="quiet">
            {words.about(messages)} <Time at={since} as="when" />. {words.wait}
          </p>
        </>
      )}
    </Section>
  );
};
