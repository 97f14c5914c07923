/** What sets the clock: steps ahead, a speed, a time or a duration, and the way back to real time. */
import { useRef, useState } from 'preact/hooks';
import { present } from '../../../../web/clock.ts';
import { Icon } from '../../../../web/icons.tsx';
import { type Change, isMoved, type StackClock } from './use-clock.ts';

const STEPS = [
  { advance: '1h', label: '+1 hour' },
  { advance: '1d', label: '+1 day' },
  { advance: '3d', label: '+3 days' },
  { advance: '30d', label: '+30 days' },
];

const RATES = [60, 600];

interface ControlsProps {
  clock: StackClock;
  online: boolean;
  /** Distinguishes the fields of several controls on the page. */
  id: string;
}

export const ClockControls = ({ clock: { view, change }, online, id }: ControlsProps) => {
  const [problem, setProblem] = useState('');
  const [form, setForm] = useState(false);
  const sending = useRef(false);
  if (view === undefined) return null;
  const send = async (wanted: Change): Promise<boolean> => {
    // The buttons stay enabled while the clock moves, so that they keep the focus.
    if (view.moving || sending.current) return false;
    sending.current = true;
    setProblem('');
    const reason = await change(wanted);
    sending.current = false;
    setProblem(reason ?? '');
    return reason === undefined;
  };
  return (
    <fieldset class="clock-controls" aria-label="Clock of the stack" aria-busy={view.moving} disabled={!online}>
      <div class="clock-buttons">
        {STEPS.map(({ advance, label }) => (
          <button type="button" key={advance} onClick={() => void send({ advance })}>
            {label}
          </button>
        ))}
        {RATES.map((rate) => (
          <button
            type="button"
            key={rate}
            class="with-icon"
            title={`${rate} times as fast as real time`}
            aria-pressed={view.rate === rate}
            onClick={() => void send({ run: view.rate === rate ? 1 : rate })}
          >
            <Icon name="fast" />×{rate}
          </button>
        ))}
        <button type="button" aria-expanded={form} onClick={() => setForm(!form)}>
          Set…
        </button>
        <button type="button" aria-pressed={!isMoved(view)} onClick={() => void send({ real: true })}>
          Real time
        </button>
      </div>
      {form && <SetForm id={id} start={present()} send={send} />}
      <p class="problem" role="alert">
        {problem}
      </p>
    </fieldset>
  );
};

interface SetFormProps {
  id: string;
  /** The time that is entered at first, in milliseconds since 1970. */
  start: number;
  /** Returns whether the clock was set. */
  send: (change: Change) => Promise<boolean>;
}

const MINUTE_MS = 60_000;

/** `2027-01-31T09:00`, in the zone of the browser, as fields of times have it. */
const localTime = (milliseconds: number): string =>
  new Date(milliseconds - new Date(milliseconds).getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 16);

/** Two fields: a time to set the clock to, and a duration by which it moves ahead. */
const SetForm = ({ id, start, send }: SetFormProps) => {
  const [time, setTime] = useState(() => localTime(Math.ceil(start / MINUTE_MS) * MINUTE_MS));
  const [duration, setDuration] = useState('');
  return (
    <div class="clock-forms">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void send({ set: new Date(time).toISOString() });
        }}
      >
        <label for={`${id}-time`}>Time</label>
        <input
          id={`${id}-time`}
          type="datetime-local"
          required
          value={time}
          onInput={({ currentTarget }) => setTime(currentTarget.value)}
        />
        <button type="submit">Set the time</button>
      </form>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void send({ advance: duration.trim() }).then((done) => done && setDuration(''));
        }}
      >
        <label for={`${id}-duration`}>Duration</label>
        <input
          id={`${id}-duration`}
          placeholder="1d12h or 90m"
          required
          autocomplete="off"
          value={duration}
          onInput={({ currentTarget }) => setDuration(currentTarget.value)}
        />
        <button type="submit">Advance</button>
      </form>
    </div>
  );
};
