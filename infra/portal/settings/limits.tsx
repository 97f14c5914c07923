/** Limits and allowances, which an operator sets. */
import { BarTable } from '../../web/bars.tsx';
import { Time } from '../../web/text.tsx';
import { Facts, Section } from '../shell/page.tsx';
import { settings } from '../words/settings.ts';
import type { Configuration } from './appearance.tsx';

const words = settings.limits;

export const Limits = ({ configuration: { limits, allowances } }: { configuration: Configuration }) => {
  const { requests_per_second: rate, requests_at_once: burst, long_polls } = limits;
  const { contacts, audiences } = allowances;
  const rows = [
    { label: words.contacts, ...contacts },
    { label: words.audiences, ...audiences },
  ];
  return (
    <Section title={words.title}>
      <div class="stack">
        <p>{words.text}</p>
        <Facts
          facts={[
            [words.rate, rate === undefined ? words.unlimited : words.rateValue(rate, burst)],
            [words.longPolls, words.atOnce(long_polls)],
            [words.resets, <Time key="resets" at={contacts.resets_at} as="when" />],
          ]}
        />
        <h3>{words.allowances}</h3>
        {/* Each has an allowance of its own, so each bar has a whole of its own. */}
        <BarTable
          caption={words.allowances}
          max={1}
          rows={rows.map(({ label, used, limit }) => ({
            label,
            count: limit === 0 ? 0 : used / limit,
            shown: words.used(used, limit),
          }))}
        />
      </div>
    </Section>
  );
};
