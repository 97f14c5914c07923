/** The overview: today's messages, the destinations, the clock, and how long deliveries take. */
import type { TraceList } from '../../traces/views.ts';
import type { JobCounts } from '../../views.ts';
import { ClockSection } from '../clock/clock.tsx';
import type { StackClock } from '../clock/use-clock.ts';
import { ModeSelect } from '../destinations/switch.tsx';
import type { Switches } from '../destinations/use-switches.ts';
import { KeyHints } from '../keys/key-hints.tsx';
import { Skeleton } from '../parts.tsx';
import { DeliveryTime } from './delivery-time.tsx';
import { Destinations } from './destinations.tsx';
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
        <Destinations
          destinations={list.destinations}
          after={({ server }) => {
            const destination = switches.destinations?.find((one) => one.server === server);
            return destination && <ModeSelect {...{ destination, set: switches.set }} disabled={!online} />;
          }}
        />
        <ClockSection {...{ clock, online }} />
        <DeliveryTime times={list.deliveryMs} />
      </>
    )}
    <KeyHints />
  </div>
);
