/** The life of a trace as a line of steps; calls open. */
import { useState } from 'preact/hooks';
import { countdown, milliseconds } from '../../../../web/figures.ts';
import { Icon, type IconName } from '../../../../web/icons.tsx';
import type { RetryScale, Step } from '../../traces/views.ts';
import { usePresent } from '../data/use-present.ts';
import { CallPanel } from './call-panel.tsx';

interface TimelineProps {
  steps: Step[];
  showValues: boolean;
  onOpen: (id: string) => void;
  /** What can be done about a scheduled attempt. */
  retry: { canRetry: boolean; busy: boolean; onRetry: () => void; onAdvance: (at: number) => void };
}

export const Timeline = ({ steps, showValues, onOpen, retry }: TimelineProps) => {
  const start = steps[0]?.time ?? 0;
  const last = lastAttempt(steps);
  return (
    <ol class="timeline" aria-label="Life">
      {steps.map((step, place) => (
        <Entry
          key={`${step.title} ${place}`}
          {...{ step, start, showValues, onOpen, retry }}
          opensAtFirst={step === last}
        />
      ))}
    </ol>
  );
};

/** The call that is open at first: the last failed one, or the last attempt. */
const lastAttempt = (steps: Step[]): Step | undefined => {
  const calls = steps.filter(({ call }) => call !== undefined);
  return (
    calls.findLast(({ state }) => state === 'failed') ??
    calls.findLast(({ title }) => title.startsWith('Attempt')) ??
    calls[0]
  );
};

const icons: Record<Step['state'], IconName> = {
  done: 'check',
  failed: 'close',
  scheduled: 'hourglass',
  expected: 'check',
  circuit: 'unplugged',
};

const words: Record<Step['state'], string> = {
  done: 'done',
  failed: 'failed',
  scheduled: 'scheduled',
  expected: 'expected',
  circuit: 'circuit open',
};

interface EntryProps extends Omit<TimelineProps, 'steps'> {
  step: Step;
  /** The time of the first step. */
  start: number;
  opensAtFirst: boolean;
}

const Entry = ({ step, start, showValues, onOpen, retry, opensAtFirst }: EntryProps) => {
  const [toggled, setToggled] = useState<boolean>();
  const open = toggled ?? opensAtFirst;
  const { state, title, detail, note, code, status, ms, time, call, trace, retry: scale } = step;
  const head = (
    <>
      <span class="step-title">{title}</span>
      <span class="unseen">: {words[state]}</span> {detail && <span class="step-detail">{detail}</span>}{' '}
      {code && <code>{code}</code>}{' '}
      {status !== undefined && (
        <span class={`chip ${typeof status === 'number' && status < 400 ? 'ok' : 'bad'}`}>{status}</span>
      )}{' '}
      {ms !== undefined && <span class="quiet">{milliseconds(ms)}</span>}
      {state === 'scheduled' && time !== undefined && <Due at={time} />}
    </>
  );
  return (
    <li class={`step ${state}`}>
      <span class="step-icon">
        <Icon name={icons[state]} />
      </span>
      <div class="step-body">
        <div class="step-line">
          {call ? (
            <button type="button" class="step-head" aria-expanded={open} onClick={() => setToggled(!open)}>
              {head}
            </button>
          ) : (
            <p class="step-head">{head}</p>
          )}
          {time !== undefined && <span class="step-time">{offset(step, start)}</span>}
        </div>
        {note && (
          <p class="step-note">
            {note}{' '}
            {trace && (
              <button type="button" class="text-button" onClick={() => onOpen(trace)}>
                Open that trace
              </button>
            )}
          </p>
        )}
        {scale && <Scale scale={scale} />}
        {scale && (
          <p class="row">
            {retry.canRetry && (
              <button type="button" class="with-icon" disabled={retry.busy} onClick={retry.onRetry}>
                <Icon name="retry" />
                Retry now
              </button>
            )}
            <button type="button" class="with-icon" disabled={retry.busy} onClick={() => retry.onAdvance(scale.at)}>
              <Icon name="fast" />
              Advance the clock to it
            </button>
          </p>
        )}
        {call && open && (
          <CallPanel
            call={call}
            showValues={showValues}
            first={state === 'failed' && call.response ? 'response' : 'request'}
          />
        )}
      </div>
    </li>
  );
};

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });

/** The first step has its time, later ones the time since; a scheduled one, when it is due. */
const offset = ({ state, time = 0 }: Step, start: number): string => {
  if (state === 'scheduled') return `at ${clock.format(time)}`;
  return time <= start ? clock.format(time) : `+${milliseconds(time - start)}`;
};

const Due = ({ at }: { at: number }) => <span class="step-due">in {countdown(at - usePresent())}</span>;

const pauseInWords = (ms: number): string => {
  const minutes = ms / 60_000;
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${minutes} min`;
};

const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });

/** Where the next attempt is on the scale of retries. */
const Scale = ({ scale: { failed, until, steps } }: { scale: RetryScale }) => {
  const pauses = steps.map((ms, place) => `${pauseInWords(ms)}${place === steps.length - 1 ? ' …' : ''}`);
  const present = Math.min(Math.max(failed, 1), pauses.length) - 1;
  return (
    <>
      <p class="step-note">Retried until {day.format(until)}.</p>
      <ol class="retry-scale" aria-label={`Pauses between attempts; now ${pauses[present]}`}>
        {pauses.map((pause, place) => (
          <li key={pause} class={place < present ? 'past' : place === present ? 'present' : ''}>
            {pause}
          </li>
        ))}
      </ol>
    </>
  );
};
