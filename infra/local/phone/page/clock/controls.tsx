/** What sets the clock: steps ahead, a speed, a time or a duration, and the way back to real time. */
import { useRef, useState } from 'preact/hooks';
import { present } from '../data/present.ts';
import { Icon } from '../icons.tsx';
import { SetForm } from './set-form.tsx';
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
