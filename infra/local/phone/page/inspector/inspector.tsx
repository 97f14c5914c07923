/** The inspector: a trace with its ids, and its whole life. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { countdown, milliseconds } from '../../../../web/figures.ts';
import { Icon } from '../../../../web/icons.tsx';
import { Close, Copy, Empty, Skeleton } from '../../../../web/parts.tsx';
import { endOf } from '../../../../web/text.tsx';
import { useToast } from '../../../../web/toast.tsx';
import type { TraceView } from '../../traces/views.ts';
import { Announced } from '../announced.tsx';
import { BusinessAvatar } from '../avatars.tsx';
import { describeError, submit } from '../data/api.ts';
import { useViewOrProblem } from '../data/live.ts';
import { usePresent } from '../data/use-present.ts';
import { useKeys } from '../keys.tsx';
import { ExportReceipts } from '../phone/consents.tsx';
import { hasValues } from './body.ts';
import { CopyMenu, copiedAs, useCopy, ValueSwitch } from './call-panel.tsx';
import { copyAs } from './copy-as.ts';
import { Timeline } from './timeline.tsx';

interface InspectorProps {
  id: string;
  /** How often traces have changed. */
  version: number;
  online: boolean;
  onClose: () => void;
  onOpen: (id: string) => void;
}

const MINUTE_MS = 60_000;

export const Inspector = ({ id, version, online, onClose, onOpen }: InspectorProps) => {
  const { view: trace, problem } = useViewOrProblem<TraceView>(`/view/traces/${encodeURIComponent(id)}`, version);
  const [showValues, setShowValues] = useState(false);
  const [busy, setBusy] = useState(false);
  const sending = useRef(false);
  const heading = useRef<HTMLHeadingElement>(null);
  const toast = useToast();
  const { copy } = useCopy();
  const known = trace !== undefined || problem !== undefined;
  useEffect(() => heading.current?.focus(), [known]);

  /** Asks the server once, also if the button is clicked twice. */
  const ask = async (path: string, said: string, body?: object) => {
    if (sending.current || !online) return;
    sending.current = true;
    setBusy(true);
    await submit('POST', path, body).then(
      () => toast(said),
      (error) => toast(describeError(error), 'bad'),
    );
    sending.current = false;
    setBusy(false);
  };
  const own = `/traces/${encodeURIComponent(id)}`;
  const again = () => void ask(`${own}/again`, 'Sent again.');
  /** The service looks for due retries at the beginning of each minute. */
  const advanceTo = (at: number) =>
    void ask('/clock', 'The clock is at the attempt.', {
      set: new Date(Math.ceil(at / MINUTE_MS) * MINUTE_MS + 1_000).toISOString(),
    });
  const first = trace?.steps.find(({ call }) => call !== undefined)?.call;
  useKeys({
    r: () => trace?.fixed === null && again(),
    c: () => first && void copy('curl', copyAs('curl', first), copiedAs('cURL')),
  });

  if (trace === undefined) {
    return (
      <article class="detail" aria-busy={problem === undefined}>
        <header class="detail-head">
          <Close onClose={onClose} label="Activity" />
          <h2 ref={heading} tabIndex={-1}>
            {problem === undefined ? 'Trace' : 'No such trace'}
          </h2>
        </header>
        {problem === undefined ? (
          <Skeleton rows={4} />
        ) : (
          <Empty icon="activity">
            <p>{problem}</p>
            <button type="button" onClick={onClose}>
              Show all traces
            </button>
          </Empty>
        )}
      </article>
    );
  }
  const values = trace.steps.some(({ call }) => call && (hasValues(call.body) || hasValues(call.response?.body ?? '')));
  return (
    <article class="detail inspector" aria-labelledby="trace-title">
      <header class="detail-head">
        <Close onClose={onClose} label="Activity" />
        <h2 id="trace-title" ref={heading} tabIndex={-1} title={trace.title}>
          {trace.title}
        </h2>
        <Status trace={trace} />
        <span class="spacer" />
        {trace.kind === 'consent' && trace.person && <ExportReceipts phone={trace.person.phone} />}
        <button type="button" class="with-icon" onClick={() => void copy('link', location.href, 'Copied the link.')}>
          <Icon name="link" />
          <span class="action-label">Copy link</span>
        </button>
        {trace.fixed === null && (
          <button type="button" class="with-icon again-wide" disabled={busy || !online} onClick={again}>
            <Icon name="retry" />
            Send again
          </button>
        )}
      </header>
      <Facts trace={trace} />
      {values && <ValueSwitch isOn={showValues} onChange={setShowValues} />}
      <Timeline
        steps={trace.steps}
        showValues={showValues}
        onOpen={onOpen}
        retry={{
          canRetry: trace.canRetry,
          busy: busy || !online,
          onAdvance: advanceTo,
          onRetry: () => void ask(`${own}/retry`, 'The service retries within a minute.'),
        }}
      />
      {trace.deletion !== null && (
        <p class="row">
          <button
            type="button"
            disabled={busy || !online}
            onClick={() => void ask(`${own}/confirm`, `${trace.business?.name} confirmed that its copy is deleted.`)}
          >
            Confirm as {trace.business?.name}
          </button>
        </p>
      )}
      {trace.fixed !== null && <p class="fixed-reason quiet">{trace.fixed}</p>}
      {first && (
        <footer class="detail-actions">
          <CopyMenu call={first} />
          {trace.fixed === null && (
            <button type="button" class="primary with-icon" disabled={busy || !online} onClick={again}>
              <Icon name="retry" />
              Send again
            </button>
          )}
        </footer>
      )}
    </article>
  );
};

/** `7c1e40d2…b85e3f9a42` */
const shortId = (id: string): string => (id.length > 20 ? `${id.slice(0, 8)}…${id.slice(-10)}` : id);

const Status = ({ trace: { outcome } }: { trace: TraceView }) => (
  <>
    <span class={`chip ${outcome.tone}`}>{outcome.words}</span>
    <Announced news={outcome.words} />
  </>
);

const Facts = ({ trace }: { trace: TraceView }) => {
  const { id, subject, business, person, toUser, outcome } = trace;
  const ends = [business && endOf(business.number), person && endOf(person.phone)];
  const direction = (toUser ? ends : ends.toReversed()).filter(Boolean);
  return (
    <dl class="facts">
      {subject && (
        <>
          <dt>{subject.kind}</dt>
          <dd>
            <code title={subject.id}>{shortId(subject.id)}</code>
            <Copy text={subject.id} label={`Copy ${subject.kind.toLowerCase()} id`} />
          </dd>
        </>
      )}
      {business && (
        <>
          <dt>Business</dt>
          <dd>
            <BusinessAvatar id={business.number} name={business.name} />
            {business.name}
          </dd>
        </>
      )}
      <dt>Trace</dt>
      <dd>
        <code title={id}>{shortId(id)}</code>
        <Copy text={id} label="Copy trace id" />
      </dd>
      {direction.length === 2 && (
        <>
          <dt>From → to</dt>
          <dd>
            <code>{direction.join(' → ')}</code>
          </dd>
        </>
      )}
      {subject?.kind === 'Job' && (
        <>
          <dt>Campaign</dt>
          <dd>
            <a href={`/portal-link?to=/campaigns/${subject.id}`} target="_blank" rel="noreferrer">
              Open in the portal
            </a>
          </dd>
        </>
      )}
      <dt>{outcome.retryAt === null ? 'Took' : 'Retry'}</dt>
      <dd>{outcome.retryAt === null ? tookOf(trace) : <Countdown at={outcome.retryAt} />}</dd>
    </dl>
  );
};

const Countdown = ({ at }: { at: number }) => <>in {countdown(at - usePresent())}</>;

const tookOf = ({ tookMs, readMs }: TraceView): string => {
  if (tookMs === null) return 'Not delivered yet';
  return [milliseconds(tookMs), readMs !== null && `read after ${milliseconds(readMs)}`].filter(Boolean).join(', ');
};
