/** The clock of the stack: a chip for the top bar, and a section with the time. */
import type { ClockView } from '../../../../operator/local-stack/clock-view.ts';
import { Icon } from '../../../../web/icons.tsx';
import { Announced } from '../announced.tsx';
import { usePresent } from '../data/use-present.ts';
import { Menu } from '../shell/menu.tsx';
import { ClockControls } from './controls.tsx';
import { isMoved, type StackClock } from './use-clock.ts';

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
            <span>{`${calendar.format(present).replace(',', '')}, ${clockOf.format(present)}`}</span>
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

const MINUTE_S = 60;
const HOUR_S = 3_600;
const DAY_S = 86_400;

/** `3 d 12 h`, `1 h 5 min`, `40 s`: the two largest units. */
const distance = (exact: number): string => {
  const seconds = exact < HOUR_S ? exact : Math.round(exact / MINUTE_S) * MINUTE_S;
  const parts: [number, string][] = [
    [Math.floor(seconds / DAY_S), 'd'],
    [Math.floor(seconds / HOUR_S) % 24, 'h'],
    [Math.floor(seconds / MINUTE_S) % 60, 'min'],
    [seconds % MINUTE_S, 's'],
  ];
  const first = parts.findIndex(([count]) => count > 0);
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map((part) => part.join(' '))
    .join(' ');
};

/** `Real time`, `Moving ahead …`, `×600`, or `3 d ahead` */
const stateOf = (view: ClockView): string => {
  if (!isMoved(view)) return 'Real time';
  if (view.moving) return 'Moving ahead …';
  return view.rate === 1 ? `${distance(view.ahead_s)} ahead` : `×${view.rate}`;
};

/** For screen readers; empty at real time. */
const newsOf = (view: ClockView): string => {
  if (!isMoved(view)) return '';
  if (view.moving) return 'The clock of the stack is moving ahead.';
  return view.rate === 1
    ? `The clock of the stack is ${distance(view.ahead_s)} ahead of real time.`
    : `The clock of the stack runs ${view.rate} times as fast.`;
};

/** What the last way ahead did; empty before the first one. */
const workOf = ({ last_advance }: ClockView): string => {
  if (last_advance === undefined) return '';
  const { stops, ms } = last_advance;
  if (stops === 0) return 'Nothing was due on the way';
  return `Work was due at ${stops} ${stops === 1 ? 'time' : 'times'}, and took ${(ms / 1_000).toFixed(1)} s`;
};
