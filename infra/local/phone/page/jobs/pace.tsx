/** How many messages the app network accepted per second, over the last 30 seconds. */
import type { PaceCurve } from '../../jobs/views.ts';

/** Size of the drawing, and its margin for points at the edge. */
const WIDTH = 480;
const HEIGHT = 76;
const MARGIN = 5;

export const Pace = ({ curve: { values, notes } }: { curve: PaceCurve }) => {
  const top = roundAbove(Math.max(...values, 1));
  const x = (index: number) => (index / Math.max(values.length - 1, 1)) * (WIDTH - 2 * MARGIN) + MARGIN;
  const y = (value: number) => HEIGHT - MARGIN - (value / top) * (HEIGHT - 2 * MARGIN);
  const points = values.map((value, index) => `${x(index).toFixed(1)} ${y(value).toFixed(1)}`);
  const disturbed = Object.keys(notes).map(Number);
  const lowest = disturbed.toSorted((a, b) => (values[a] ?? 0) - (values[b] ?? 0))[0];
  const note = lowest === undefined ? undefined : notes[lowest];
  const now = values.at(-1) ?? 0;
  return (
    <section class="block">
      <header class="block-head">
        <h3>Pace</h3>
        <span class="quiet">Sent a second</span>
      </header>
      <div class="chart">
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`Sent a second over the last 30 s: now ${now}, at most ${Math.max(...values)}${note ? `. ${note}` : ''}`}
        >
          {[top, top / 2, 0].map((value) => (
            <path key={value} class="grid" d={`M0 ${y(value)}H${WIDTH}`} />
          ))}
          <path class="area" d={`M${x(0)} ${y(0)}L${points.join('L')}L${x(values.length - 1)} ${y(0)}Z`} />
          <path class="curve" d={`M${points.join('L')}`} />
        </svg>
        <Point className="now" left={x(values.length - 1) / WIDTH} top={y(now) / HEIGHT} />
        {lowest !== undefined && (
          <Point className="low" left={x(lowest) / WIDTH} top={y(values[lowest] ?? 0) / HEIGHT} />
        )}
        {note && <p class="note">{note}</p>}
        <ol class="scale" aria-hidden="true">
          {[top, top / 2, 0].map((value) => (
            <li key={value}>{value}</li>
          ))}
        </ol>
      </div>
      <p class="axis" aria-hidden="true">
        <span>30 s ago</span>
        <span>now</span>
      </p>
    </section>
  );
};

/** A point of the curve. The drawing is stretched, so a circle in it would be an ellipse. */
const Point = ({ className, left, top }: { className: string; left: number; top: number }) => (
  <span class={`point ${className}`} aria-hidden="true" style={{ left: `${left * 100}%`, top: `${top * 100}%` }} />
);

/** The next number above that is easy to halve: 2, 4, 10, 20, 40, 100, … */
const roundAbove = (value: number): number => {
  const power = 10 ** Math.floor(Math.log10(value));
  return [2, 4, 10, 20].map((one) => one * power).find((one) => one >= value) ?? value;
};
