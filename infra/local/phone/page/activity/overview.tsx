/** The overview: today's messages, the destinations, the clock, and how long deliveries take. */

import { median, milliseconds, percentile } from '../../../../web/figures.ts';
import { Icon, type IconName } from '../../../../web/icons.tsx';
import { Skeleton } from '../../../../web/parts.tsx';
import type { DestinationStats, TraceList } from '../../traces/views.ts';
import type { JobCounts } from '../../views.ts';
import { ClockSection } from '../clock/clock.tsx';
import type { StackClock } from '../clock/use-clock.ts';
import { ModeSelect } from '../destinations/switch.tsx';
import type { Switches } from '../destinations/use-switches.ts';
import { KeyHints } from '../keys.tsx';
import { Funnel } from './funnel.tsx';

interface OverviewProps {
  jobs: JobCounts[] | undefined;
  list: TraceList | undefined;
  switches: Switches;
  clock: StackClock;
  online: boolean;
}

export const Overview = ({ jobs, list, switches, clock, online }: OverviewProps) => (
  <div class="overview">
    {jobs === undefined ? <Skeleton rows={3} /> : <Funnel jobs={jobs} />}
    {list === undefined ? (
      <Skeleton rows={3} />
    ) : (
      <>
        <Destinations destinations={list.destinations} {...{ switches, online }} />
        <ClockSection {...{ clock, online }} />
        <DeliveryTime times={list.deliveryMs} />
      </>
    )}
    <KeyHints />
  </div>
);

interface DestinationsProps {
  destinations: DestinationStats[];
  switches: Switches;
  online: boolean;
}

const icons: Record<DestinationStats['server'], IconName> = { app: 'phone', rapidpro: 'plug', turn: 'plug' };

/** The last calls of each destination as bars, their median time, and its switch. */
const Destinations = ({ destinations, switches, online }: DestinationsProps) => (
  <section class="block">
    <header class="block-head">
      <h3>Destinations</h3>
      <span class="quiet">Last 30 calls, median</span>
    </header>
    <ul class="destinations">
      {destinations.map((stats) => {
        const destination = switches.destinations?.find(({ server }) => server === stats.server);
        return (
          <li key={stats.server}>
            <span class="row-icon plain">
              <Icon name={icons[stats.server]} />
            </span>
            <span class="destination-name">
              {stats.name}
              <code class="one-line" title={stats.url}>
                {stats.url.replace(/^https?:\/\//, '')}
              </code>
            </span>
            <Bars calls={stats.calls} />
            <span class="destination-median">{medianOf(stats)}</span>
            {destination && <ModeSelect {...{ destination, set: switches.set }} disabled={!online} />}
          </li>
        );
      })}
    </ul>
  </section>
);

const medianOf = ({ calls }: DestinationStats): string => {
  if (calls.length === 0) return 'no calls yet';
  if (calls.slice(-3).every(({ ok }) => !ok)) return 'failing';
  return milliseconds(median(calls.filter(({ ok }) => ok).map(({ ms }) => ms)));
};

const Bars = ({ calls }: Pick<DestinationStats, 'calls'>) => {
  const max = Math.max(1, ...calls.map(({ ms }) => ms));
  const failed = calls.filter(({ ok }) => !ok).length;
  const label = calls.length === 0 ? 'No calls yet' : `${calls.length} calls, ${failed} failed`;
  return (
    <span class="spark" role="img" aria-label={label}>
      {calls.map(({ ms, ok }, place) => (
        <span
          key={place}
          class={ok ? '' : 'bad'}
          style={{ height: ok ? `${25 + 75 * Math.sqrt(ms / max)}%` : '100%' }}
        />
      ))}
    </span>
  );
};

/** How long the last messages took from acceptance to delivery. */
const DeliveryTime = ({ times }: { times: number[] }) => {
  const max = Math.max(1, ...times);
  const slow = percentile(times, 95);
  return (
    <section class="block">
      <header class="block-head">
        <h3>Delivery time</h3>
        <span class="quiet">
          Accepted to delivered, {times.length === 1 ? 'last message' : `last ${times.length || 40} messages`}
        </span>
      </header>
      {times.length === 0 ? (
        <p class="quiet">It is measured of single messages whose traces are kept. Campaigns send at a limited pace.</p>
      ) : (
        <div class="delivery-time">
          <p>
            <strong>{milliseconds(median(times))}</strong>
            <span class="quiet">median</span>
          </p>
          <p>
            <strong>{milliseconds(slow)}</strong>
            <span class="quiet">95th percentile</span>
          </p>
          <span class="spark tall" aria-hidden="true">
            {times.map((ms, place) => (
              <span
                key={place}
                class={ms > slow ? 'slow' : 'plain'}
                style={{ height: `${15 + 85 * Math.sqrt(ms / max)}%` }}
              />
            ))}
          </span>
        </div>
      )}
    </section>
  );
};
