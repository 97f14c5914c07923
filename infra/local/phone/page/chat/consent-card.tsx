/** A user data request: the business, its reason, the properties with their values in the profile, and the answers. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { RequestItem, Setup, UserView } from '../../views.ts';
import { describeError, submit } from '../data/api.ts';
import { plain, Time } from '../text.tsx';

type Answer = 'approved' | 'denied';
type Asked = RequestItem['properties'][number];

interface CardProps {
  item: RequestItem;
  user: UserView | null;
  setup: Setup;
}

export const ConsentCard = ({ item, user, setup }: CardProps) => {
  const [problem, setProblem] = useState('');
  /** Properties to be denied after a confirmation, because one of them is required. */
  const [unconfirmed, setUnconfirmed] = useState<Asked[]>();
  const open = item.properties.filter(({ property }) => item.answers[property] === undefined);

  const answer = (properties: Asked[], given: Answer) => {
    setUnconfirmed(undefined);
    const answers = Object.fromEntries(properties.map(({ property }) => [property, given]));
    submit('POST', `/requests/${item.id}/answers`, { answers }).then(
      () => setProblem(''),
      (error) => setProblem(describeError(error)),
    );
  };
  const deny = (properties: Asked[]) =>
    properties.some(({ required }) => required) ? setUnconfirmed(properties) : answer(properties, 'denied');

  return (
    <article class="card" aria-label={`${item.business} asks for your data`}>
      <header>
        <h3>{item.business} asks for your data</h3>
        <Time at={item.time} />
      </header>
      <p class="reason">“{item.reason}”</p>
      <ul>
        {item.properties.map((asked) => (
          <li key={asked.property}>
            <Property
              asked={asked}
              user={user}
              description={setup.properties.find(({ name }) => name === asked.property)?.says}
            />
            <Given given={item.answers[asked.property]}>
              <Buttons
                name={plain(asked.property)}
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
            <button type="button" onClick={() => answer(unconfirmed, 'denied')}>
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
          <button type="button" class="primary" onClick={() => answer(open, 'approved')}>
            Approve all
          </button>
          <button type="button" onClick={() => deny(open)}>
            Deny all
          </button>
        </footer>
      )}
      {open.length === 0 && <p class="quiet">Answered. {item.business} has been notified.</p>}
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </article>
  );
};

const Property = ({
  asked,
  user,
  description,
}: {
  asked: Asked;
  user: UserView | null;
  description: string | undefined;
}) => {
  const known = user?.properties[asked.property];
  return (
    <div class="asked">
      <p>
        <strong>{plain(asked.property)}</strong> {asked.required && <span class="badge ask">required</span>}
      </p>
      <p class="quiet">{asked.reason ?? description ?? ''}</p>
      <p class="quiet">{known ? <>Your profile says: {known.value}</> : 'Your profile has no value.'}</p>
    </div>
  );
};

const Given = ({ given, children }: { given: Answer | undefined; children: ComponentChildren }) =>
  given ? <p class={`given ${given}`}>{given === 'approved' ? '✓ Approved' : '✕ Denied'}</p> : children;

const Buttons = ({ name, onApprove, onDeny }: { name: string; onApprove: () => void; onDeny: () => void }) => (
  <div class="row">
    <button type="button" aria-label={`Approve ${name}`} onClick={onApprove}>
      Approve
    </button>
    <button type="button" aria-label={`Deny ${name}`} onClick={onDeny}>
      Deny
    </button>
  </div>
);
