/** The rows of Activity: a trace with its five stages, or a call. */
import type { ComponentChildren } from 'preact';
import { countdown } from '../../../../web/figures.ts';
import { Icon, type IconName } from '../../../../web/icons.tsx';
import { Time } from '../../../../web/text.tsx';
import type { SwitchRow } from '../../destinations/views.ts';
import type { CallRow, Server, StageState, TraceRow } from '../../traces/views.ts';
import { usePresent } from '../data/use-present.ts';
import { modeEffects, modeWords, scopeOf } from '../destinations/words.ts';
import { ifChanged } from '../if-changed.ts';

interface EntryProps<Row> {
  row: Row;
  isOpen: boolean;
  onOpen: (id: string) => void;
}

interface LinesProps {
  time: number;
  icon: IconName;
  iconClass: string;
  title: string;
  /** The second line. */
  children: ComponentChildren;
}

const Lines = ({ time, icon, iconClass, title, children }: LinesProps) => (
  <>
    <span class={`row-icon ${iconClass}`}>
      <Icon name={icon} />
    </span>
    <span class="row-text">
      <span class="row-line">
        <span class="row-title one-line">{title}</span>
        <span class="row-time">
          <Time at={new Date(time).toISOString()} as="exact" />
        </span>
      </span>
      <span class="row-line">{children}</span>
    </span>
  </>
);

type EntryFrameProps = EntryProps<{ id: string; time: number }> & Omit<LinesProps, 'time'>;

const EntryFrame = ({ row: { id, time }, isOpen, onOpen, ...lines }: EntryFrameProps) => (
  <button
    type="button"
    class="row-button"
    data-row={id}
    aria-current={isOpen ? 'true' : undefined}
    onClick={() => onOpen(id)}
  >
    <Lines {...lines} time={time} />
  </button>
);

export const TraceEntry = ifChanged((props: EntryProps<TraceRow>) => {
  const { icon, byUser, title, preview, outcome, stages, isFailed } = props.row;
  return (
    <EntryFrame {...props} icon={icon} iconClass={`${byUser ? 'by-user' : ''} ${isFailed ? 'bad' : ''}`} title={title}>
      <span class="row-people one-line" dir="auto">
        {preview}
      </span>
      <Outcome outcome={outcome} />
      {stages && <Segments stages={stages} />}
    </EntryFrame>
  );
});

const Outcome = ({ outcome: { words, tone, retryAt } }: Pick<TraceRow, 'outcome'>) => (
  <span class={`row-status ${tone}`}>{retryAt === null ? words : <RetryIn at={retryAt} />}</span>
);

/** `Retry in 1:48`, each second. */
const RetryIn = ({ at }: { at: number }) => <>Retry in {countdown(at - usePresent())}</>;

const stageNames = ['accepted', 'stored', 'queued', 'delivered', 'read'];
const stateNames: Record<StageState, string> = { done: 'done', active: 'pending', failed: 'failed', empty: 'not yet' };

const Segments = ({ stages }: { stages: StageState[] }) => (
  <span
    class="segments"
    role="img"
    aria-label={stages.map((state, index) => `${stageNames[index]}: ${stateNames[state]}`).join(', ')}
  >
    {stages.map((state, index) => (
      <span key={stageNames[index]} class={`stage-${state}`} />
    ))}
  </span>
);

const servers: Record<Server, { label: string; icon: IconName }> = {
  service: { label: 'To the service', icon: 'server' },
  app: { label: 'To the app network', icon: 'phone' },
  rapidpro: { label: 'To RapidPro', icon: 'plug' },
  turn: { label: 'To Turn', icon: 'plug' },
};

export const CallEntry = ifChanged((props: EntryProps<CallRow>) => {
  const { ms, server, route, status } = props.row;
  const tone = status === null || status >= 400 ? 'bad' : 'ok';
  return (
    <EntryFrame {...props} icon={servers[server].icon} iconClass={tone === 'bad' ? 'bad' : ''} title={route}>
      <span class="row-people one-line">
        {servers[server].label}, {ms} ms
      </span>
      <span class={`row-status ${tone}`}>{status ?? 'no response'}</span>
    </EntryFrame>
  );
});

/** A switch that was set. There is nothing to open. */
export const SwitchEntry = ifChanged(({ row: { time, name, mode, share, phone } }: { row: SwitchRow }) => (
  <div class="row-plain">
    <Lines time={time} icon="plug" iconClass="" title={`${name} set to ${modeWords[mode]}`}>
      <span class="row-people one-line">
        {mode === 'other' ? 'Its own rules' : `${modeEffects[mode]}${scopeOf({ share, phone })}`}
      </span>
      <span class="row-status">Switch</span>
    </Lines>
  </div>
));
