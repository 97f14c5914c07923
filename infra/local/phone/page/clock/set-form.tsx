/** Two fields: a time to set the clock to, and a duration by which it moves ahead. */
import { useState } from 'preact/hooks';
import type { Change } from './use-clock.ts';

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

export const SetForm = ({ id, start, send }: SetFormProps) => {
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
