/** The clock of the stack: a chip for the top bar, and a section with the time. */
import { Announced } from '../announced.tsx';
import { Icon } from '../icons.tsx';
import { usePresent } from '../parts.tsx';
import { Menu } from '../shell/menu.tsx';
import { ClockControls } from './controls.tsx';
import { isMoved, type StackClock } from './use-clock.ts';
import { newsOf, stateOf, workOf } from './words.ts';

interface ClockProps {
  clock: StackClock;
  online: boolean;
}

const calendar = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short' });
const clockOf = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const exactClockOf = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const wholeDate = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZoneName: 'short',
});

export const ClockChip = ({ clock, online }: ClockProps) => {
  const present = usePresent();
  const { view } = clock;
  if (view === undefined) return null;
  const isOther = isMoved(view);
  return (
    <div class="clock-chip">
      <Menu
        label={`Clock: ${stateOf(view)}`}
        look={`destination-chip ${isOther ? 'warn' : ''}`}
        face={
          <>
            <Icon name="clock" />
            <span class="unseen">Clock of the stack: </span>
            <span>
              <span class="clock-day">{calendar.format(present).replace(',', '')}, </span>
              {clockOf.format(present)}
            </span>
            {isOther ? <strong>{stateOf(view)}</strong> : <span class="clock-real quiet">Real time</span>}
            <Icon name="chevron" />
          </>
        }
      >
        {() => <ClockControls id="chip" {...{ clock, online }} />}
      </Menu>
    </div>
  );
};

/** Announces changes, once on the page. */
export const ClockNews = ({ clock: { view } }: Pick<ClockProps, 'clock'>) => (
  <Announced news={view ? newsOf(view) : ''} />
);

export const ClockSection = ({ clock, online }: ClockProps) => {
  const present = usePresent();
  const { view } = clock;
  if (view === undefined) return null;
  return (
    <section class="block clock" aria-label="Clock">
      <header class="block-head">
        <h3>
          Clock <span class={`chip ${isMoved(view) ? 'warn' : ''}`}>{stateOf(view)}</span>
        </h3>
        <span class="quiet">{workOf(view)}</span>
      </header>
      <div class="clock-line">
        <p>
          <time class="clock-time" dateTime={new Date(present).toISOString()}>
            {exactClockOf.format(present)}
          </time>
          <span class="quiet">{wholeDate.format(present)}</span>
        </p>
        <ClockControls id="section" {...{ clock, online }} />
      </div>
    </section>
  );
};
