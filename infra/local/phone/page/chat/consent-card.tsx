/** A user data request: the business, its reason, the properties with their values in the profile, and the answers. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Icon, type IconName } from '../../../../web/icons.tsx';
import { plain, Time } from '../../../../web/text.tsx';
import type { PropertyDescription, RequestItem, Setup, UserView } from '../../views.ts';
import { BusinessAvatar } from '../avatars.tsx';
import { describeError, submit } from '../data/api.ts';
import { Inspectable } from './bubbles.tsx';

type Answer = 'approved' | 'denied';
type Asked = RequestItem['properties'][number];

interface CardProps {
  item: RequestItem;
  user: UserView | null;
  setup: Setup;
  online: boolean;
  isInspected: boolean;
  onInspect: () => void;
}

export const ConsentCard = ({ item, user, setup, online, ...inspection }: CardProps) => {
  const [problem, setProblem] = useState('');
  const [busy, setBusy] = useState(false);
  /** Properties to be denied after a confirmation, because one of them is required. */
  const [unconfirmed, setUnconfirmed] = useState<Asked[]>();
  const open = item.properties.filter(({ property }) => item.answers[property] === undefined);

  const answer = (properties: Asked[], given: Answer) => {
    setUnconfirmed(undefined);
    const answers = Object.fromEntries(properties.map(({ property }) => [property, given]));
    setBusy(true);
    void submit('POST', `/requests/${item.id}/answers`, { answers })
      .then(
        () => setProblem(''),
        (error) => setProblem(describeError(error)),
      )
      .finally(() => setBusy(false));
  };
  const deny = (properties: Asked[]) =>
    properties.some(({ required }) => required) ? setUnconfirmed(properties) : answer(properties, 'denied');

  const descriptionOf = (property: string) => setup.properties.find(({ name }) => name === property);
  return (
    <Inspectable {...inspection}>
      <article class="card" aria-label={`${item.business} asks for your data`}>
        <header>
          <BusinessAvatar id={item.from ?? item.business} name={item.business} />
          <div>
            <h3>{item.business} asks for your data</h3>
            <p class="quiet" dir="auto">
              “{item.reason}”
            </p>
          </div>
        </header>
        <ul>
          {item.properties.map((asked) => (
            <li key={asked.property}>
              <Property asked={asked} user={user} described={descriptionOf(asked.property)} />
              <Given given={item.answers[asked.property]}>
                <Buttons
                  name={plain(asked.property)}
                  disabled={busy || !online}
                  onApprove={() => answer([asked], 'approved')}
                  onDeny={() => deny([asked])}
                />
              </Given>
            </li>
          ))}
        </ul>
        {unconfirmed && (
          <div class="warning" role="alert">
            <p>
              {item.business} requires{' '}
              {unconfirmed
                .filter(({ required }) => required)
                .map(({ property }) => plain(property))
                .join(', ')}
              . You can still deny it.
            </p>
            <div class="row">
              <button type="button" disabled={busy || !online} onClick={() => answer(unconfirmed, 'denied')}>
                Deny anyway
              </button>
              <button type="button" onClick={() => setUnconfirmed(undefined)}>
                Back
              </button>
            </div>
          </div>
        )}
        {open.length > 1 && !unconfirmed && (
          <footer class="row">
            <button type="button" disabled={busy || !online} onClick={() => deny(open)}>
              Deny all
            </button>
            <button type="button" class="approve" disabled={busy || !online} onClick={() => answer(open, 'approved')}>
              Approve all
            </button>
          </footer>
        )}
        <p class="quiet validity">
          {open.length === 0 && `Answered. ${item.business} has been notified. `}
          {validityOf(item.valid_days)} <Time at={item.time} />
        </p>
        {problem && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
      </article>
    </Inspectable>
  );
};

interface PropertyProps {
  asked: Asked;
  user: UserView | null;
  described: PropertyDescription | undefined;
}

/** A property: its value in the profile, and why the business asks for it. */
const Property = ({ asked: { property, reason, required }, user, described }: PropertyProps) => {
  const value = user?.properties[property]?.value ?? 'No value in your profile';
  return (
    <div class="asked">
      <p>
        <strong>{plain(property)}</strong> {required && <span class="chip warn">Required</span>}
      </p>
      <p class="quiet" dir="auto">
        {[value, reason ?? described?.description].filter(Boolean).join(' · ')}
      </p>
    </div>
  );
};

/** For how long the user's approval is valid. */
const validityOf = (days: number | null): string => {
  if (days === null) return 'Your approval is valid until you withdraw it.';
  return `Your approval is valid for ${days === 1 ? '1 day' : `${days} days`}, or until you withdraw it.`;
};

type Given = RequestItem['answers'][string];

const chips: Record<Given, { label: string; icon: IconName; colour: string }> = {
  approved: { label: 'Approved', icon: 'check', colour: 'ok' },
  denied: { label: 'Denied', icon: 'close', colour: 'bad' },
  withdrawn: { label: 'Withdrawn', icon: 'revoked', colour: 'warn' },
  expired: { label: 'Expired', icon: 'clock', colour: '' },
};

const Given = ({ given, children }: { given: Given | undefined; children: ComponentChildren }) => {
  if (given === undefined) return children;
  const { label, icon, colour } = chips[given];
  return (
    <p class={`chip ${colour}`}>
      <Icon name={icon} />
      {label}
    </p>
  );
};

interface ButtonsProps {
  name: string;
  disabled: boolean;
  onApprove: () => void;
  onDeny: () => void;
}

const Buttons = ({ name, disabled, onApprove, onDeny }: ButtonsProps) => (
  <div class="row">
    <button type="button" aria-label={`Deny ${name}`} disabled={disabled} onClick={onDeny}>
      Deny
    </button>
    <button type="button" class="approve" aria-label={`Approve ${name}`} disabled={disabled} onClick={onApprove}>
      Approve
    </button>
  </div>
);
