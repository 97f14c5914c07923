/** Today's messages by state: a table with bars. The bars are hidden from screen readers. */
import { useState } from 'preact/hooks';
import { BarTable } from '../../../../web/bars.tsx';
import type { JobCounts } from '../../views.ts';

/** The states of a delivered message in order, and the states of failures. */
const steps = [
  { state: 'sent', label: 'Sent' },
  { state: 'delivered_to_server', label: 'Delivered to server' },
  { state: 'delivered_to_user', label: 'Delivered to user' },
  { state: 'read', label: 'Read' },
];
const failures = [
  { state: 'sending_failed', label: 'Sending failed' },
  { state: 'delivery_failed', label: 'Delivery failed' },
  { state: 'reception_failed_http', label: 'Reception failed' },
];
const received = [{ state: 'received', label: 'Received' }];

const kindOf = (state: string) => {
  if (state === 'received') return 'received';
  return failures.some((failure) => failure.state === state) ? 'bad' : undefined;
};

const ALL = 'all';

export const Funnel = ({ jobs }: { jobs: JobCounts[] }) => {
  const [chosen, setChosen] = useState(ALL);
  const counted = jobs.filter(({ id }) => chosen === ALL || chosen === id);
  const countOf = (state: string) => counted.reduce((sum, { counts }) => sum + (counts[state] ?? 0), 0);
  const rows = [...steps, ...received, ...failures.filter(({ state }) => countOf(state) > 0)];
  const max = Math.max(1, ...rows.map(({ state }) => countOf(state)));
  return (
    <section class="funnel">
      <label class="line">
        <span class="title">Messages today</span>
        <select value={chosen} onChange={({ currentTarget }) => setChosen(currentTarget.value)}>
          <option value={ALL}>All jobs</option>
          {jobs.map(({ id, account, name }) => (
            <option key={id} value={id}>
              {account}: {name}
            </option>
          ))}
        </select>
      </label>
      <BarTable
        caption="How many messages reached each state"
        max={max}
        rows={rows.map(({ state, label }) => ({ label, count: countOf(state), kind: kindOf(state) }))}
      />
    </section>
  );
};
