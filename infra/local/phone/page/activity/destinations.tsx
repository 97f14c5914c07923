/** The destinations: the last calls of each as bars, and their median time. */
import type { ComponentChildren } from 'preact';
import type { DestinationStats } from '../../traces/views.ts';
import { Icon, type IconName } from '../icons.tsx';
import { median, milliseconds } from '../text.tsx';

interface DestinationsProps {
  destinations: DestinationStats[];
  /** What follows each destination, such as a control. */
  after?: (destination: DestinationStats) => ComponentChildren;
}

const icons: Record<DestinationStats['server'], IconName> = { app: 'phone', rapidpro: 'plug', turn: 'plug' };

export const Destinations = ({ destinations, after }: DestinationsProps) => (
  <section class="block">
    <header class="block-head">
      <h3>Destinations</h3>
      <span class="quiet">Last 30 calls, median</span>
    </header>
    <ul class="destinations">
      {destinations.map((destination) => (
        <li key={destination.server}>
          <span class="row-icon plain">
            <Icon name={icons[destination.server]} />
          </span>
          <span class="destination-name">
            {destination.name}
            <code title={destination.url}>{destination.url.replace(/^https?:\/\//, '')}</code>
          </span>
          <Bars calls={destination.calls} />
          <span class="destination-median">{medianOf(destination)}</span>
          {after?.(destination)}
        </li>
      ))}
    </ul>
  </section>
);

const medianOf = ({ calls }: DestinationStats): string => {
  if (calls.length === 0) return 'no calls yet';
  if (calls.slice(-3).every(({ ok }) => !ok)) return 'failing';
  return milliseconds(median(calls.filter(({ ok }) => ok).map(({ ms }) => ms)));
};

const Bars = ({ calls }: Pick<DestinationStats, 'calls'>) => {
  const most = Math.max(1, ...calls.map(({ ms }) => ms));
  const failed = calls.filter(({ ok }) => !ok).length;
  const label = calls.length === 0 ? 'No calls yet' : `${calls.length} calls, ${failed} failed`;
  return (
    <span class="spark" role="img" aria-label={label}>
      {calls.map(({ ms, ok }, place) => (
        <span
          key={place}
          class={ok ? '' : 'bad'}
          style={{ height: ok ? `${25 + 75 * Math.sqrt(ms / most)}%` : '100%' }}
        />
      ))}
    </span>
  );
};
