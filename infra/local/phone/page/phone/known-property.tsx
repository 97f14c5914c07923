/** A property that a business got: the value, since and until when, and the button that withdraws the consent. */
import { useRef, useState } from 'preact/hooks';
import { Icon } from '../../../../web/icons.tsx';
import { dateOf, dayOrDate, plain, whenOf } from '../../../../web/text.tsx';
import type { KnownProperty } from '../../views.ts';
import { describeError, submit } from '../data/api.ts';

interface KnownProps {
  known: KnownProperty;
  online: boolean;
  onWithdrawn: () => void;
  /** Shows why a withdrawal failed; an empty text removes it. */
  onProblem: (problem: string) => void;
}

/** `today, 10:41`, or `on 12 Nov`. */
const endOf = (time: string): string => (dayOrDate(time) === 'today' ? whenOf(time) : `on ${dayOrDate(time)}`);

export const Known = ({ known, online, onWithdrawn, onProblem }: KnownProps) => {
  const row = useRef<HTMLLIElement>(null);
  const { property, value, since, until, ended } = known;
  return (
    <li ref={row} tabIndex={-1}>
      <span class="known">
        <span class="quiet">{plain(property)}</span>
        <span class={`known-value ${ended ? 'gone' : ''}`}>
          {ended ? `${stateWords[known.state]} ${endOf(ended)}` : (value ?? 'Not in your profile any more')}
        </span>
        {!ended && (
          <span class="quiet">
            Since <time dateTime={since}>{dayOrDate(since)}</time>
            {until && (
              <>
                , until <time dateTime={until}>{dateOf(until)}</time>
              </>
            )}
          </span>
        )}
      </span>
      <Action
        known={known}
        online={online}
        onProblem={onProblem}
        onWithdrawn={() => {
          // The button is about to disappear: the focus stays in its row.
          row.current?.focus();
          onWithdrawn();
        }}
      />
    </li>
  );
};

const stateWords: Record<KnownProperty['state'], string> = {
  approved: 'Approved',
  withdrawn: 'Withdrawn',
  expired: 'Expired',
};

const Action = ({ known, online, onWithdrawn, onProblem }: KnownProps) => {
  if (known.deletion) return <Deletion deletion={known.deletion} />;
  if (known.requests.length > 0) return <Withdraw {...{ known, online, onWithdrawn, onProblem }} />;
  return (
    <span class="chip">
      <Icon name="lock" />
      Automatic
    </span>
  );
};

/** Whether the business has deleted its copy. */
const Deletion = ({ deletion }: { deletion: 'owed' | 'done' }) => (
  <span class={`chip ${deletion === 'owed' ? 'warn' : 'ok'}`}>
    <Icon name={deletion === 'owed' ? 'hourglass' : 'check'} />
    {deletion === 'owed' ? 'Deleting' : 'Deleted'}
  </span>
);

const Withdraw = ({ known: { property, requests }, online, onWithdrawn, onProblem }: KnownProps) => {
  /** From the click on, until an error: the row shows the end of the consent instead of the button. */
  const sent = useRef(false);
  const [busy, setBusy] = useState(false);
  const withdraw = async () => {
    if (sent.current) return;
    sent.current = true;
    setBusy(true);
    onProblem('');
    try {
      // Several requests may have released it. A repeat after an error changes nothing in those that are withdrawn.
      for (const request of requests) {
        await submit('POST', `/requests/${request}/withdrawals`, { properties: [property] });
      }
      onWithdrawn();
    } catch (error) {
      onProblem(`${plain(property)} is not withdrawn. ${describeError(error)}`);
      sent.current = false;
      setBusy(false);
    }
  };
  // Not disabled while it is sent: a disabled button would lose the focus.
  return (
    <button
      type="button"
      class="withdraw"
      aria-label={`Withdraw ${plain(property)}`}
      aria-disabled={busy}
      disabled={!online}
      onClick={() => void withdraw()}
    >
      Withdraw
    </button>
  );
};
