/** One call, and the trace that it belongs to. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../../../../web/icons.tsx';
import { Close, Empty, Skeleton } from '../../../../web/parts.tsx';
import type { CallView } from '../../traces/views.ts';
import { useViewOrProblem } from '../data/live.ts';
import { hasValues } from './body.ts';
import { CallPanel, ValueSwitch } from './call-panel.tsx';

interface CallDetailProps {
  id: string;
  version: number;
  onClose: () => void;
  onTrace: (id: string) => void;
}

export const CallDetail = ({ id, version, onClose, onTrace }: CallDetailProps) => {
  const { view, problem } = useViewOrProblem<CallView>(`/view/calls/${encodeURIComponent(id)}`, version);
  const [showValues, setShowValues] = useState(false);
  const heading = useRef<HTMLHeadingElement>(null);
  const known = view !== undefined || problem !== undefined;
  useEffect(() => heading.current?.focus(), [known]);
  const values = view && (hasValues(view.call.body) || hasValues(view.call.response?.body ?? ''));
  return (
    <article class="detail" aria-labelledby="call-title">
      <header class="detail-head">
        <Close onClose={onClose} label="Activity" />
        <h2 id="call-title" ref={heading} tabIndex={-1}>
          {view?.route ?? (problem === undefined ? 'Call' : 'No such call')}
        </h2>
        {view && (
          <span class={`chip ${(view.status ?? 500) < 400 ? 'ok' : 'bad'}`}>{view.status ?? 'no response'}</span>
        )}
        <span class="spacer" />
        {view?.trace && (
          <button type="button" class="with-icon" onClick={() => onTrace(view.trace ?? '')}>
            <Icon name="activity" />
            Open its trace
          </button>
        )}
      </header>
      {view === undefined && problem === undefined && <Skeleton rows={4} />}
      {problem !== undefined && (
        <Empty icon="activity">
          <p>{problem}</p>
          <button type="button" onClick={onClose}>
            Show all calls
          </button>
        </Empty>
      )}
      {values && <ValueSwitch isOn={showValues} onChange={setShowValues} />}
      {view && (
        <div class="call-place">
          <CallPanel call={view.call} showValues={showValues} />
        </div>
      )}
    </article>
  );
};
