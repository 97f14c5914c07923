/** What became of the messages of a period. */
import { BarTable } from '../../web/bars.tsx';
import { figure, percent } from '../../web/figures.ts';
import { linkTo } from '../router.ts';
import { Section } from '../shell/page.tsx';
import { startOfToday } from '../times.ts';
import { home } from '../words/home.ts';
import { stepLabel } from '../words/outcomes.ts';
import { type Counts, failures } from './counts.ts';

const words = home.funnel;

interface FunnelProps {
  counts: Counts;
  isMonth: boolean;
}

export const Funnel = ({ counts, isMonth }: FunnelProps) => {
  const { sent, received } = counts;
  const steps = [
    { label: words.first, count: sent },
    { label: words.server, count: counts.delivered_to_server },
    { label: words.user, count: counts.delivered_to_user },
    { label: words.read, count: counts.read },
  ];
  // Messages of an earlier day may take a step in this period: then a share says nothing.
  const shareOf = (count: number) => (count > sent ? '–' : percent(count, sent));
  const max = Math.max(...steps.map(({ count }) => count));
  const failed = failures.filter((state) => counts[state] > 0);
  const period = isMonth ? {} : { start: startOfToday() };
  return (
    <Section title={words.title} actions={<Periods isMonth={isMonth} />}>
      <p class="heroes">
        <span>
          <strong>{figure(sent)}</strong> {words.sent(sent)}
        </span>
        <span>
          <strong>{figure(received)}</strong> {words.received(received)}
        </span>
      </p>
      <BarTable
        caption={words.caption}
        rows={steps.map((step) => ({ ...step, share: shareOf(step.count) }))}
        max={max}
      />
      <h3 class="failed-title">{words.failed}</h3>
      {failed.length === 0 ? (
        <p class="quiet">{words.none}</p>
      ) : (
        <BarTable
          caption={words.failures}
          rows={failed.map((state) => ({
            label: stepLabel(state),
            href: linkTo('messages', { state, ...period }),
            count: counts[state],
            share: state === 'reception_failed_http' ? '' : shareOf(counts[state]),
            kind: 'bad',
          }))}
          max={Math.max(max, received)}
        />
      )}
      <p class="quiet">{words.note}</p>
    </Section>
  );
};

const Periods = ({ isMonth }: { isMonth: boolean }) => (
  <nav class="periods" aria-label={home.period.label}>
    <a href={linkTo('home')} aria-current={isMonth ? undefined : 'true'}>
      {home.period.today}
    </a>
    <a href={linkTo('home', { period: 'month' })} aria-current={isMonth ? 'true' : undefined}>
      {home.period.month}
    </a>
  </nav>
);
