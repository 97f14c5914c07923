/** A request for the user's data: who asks for what and why, what the profile says, and the user's answers. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { RequestItem, Setup, UserView } from '../../views.ts';
import { sayWhy, tell } from '../data/api.ts';
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
  /** What is about to be denied though it is required. */
  const [doubtful, setDoubtful] = useState<Asked[]>();
  const open = item.properties.filter(({ property }) => item.answers[property] === undefined);

  const answer = (properties: Asked[], given: Answer) => {
    setDoubtful(undefined);
    const answers = Object.fromEntries(properties.map(({ property }) => [property, given]));
    tell('POST', `/requests/${item.id}/answers`, { answers }).then(
      () => setProblem(''),
      (error) => setProblem(sayWhy(error)),
    );
  };
  const deny = (properties: Asked[]) =>
    properties.some(({ required }) => required) ? setDoubtful(properties) : answer(properties, 'denied');

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
              says={setup.properties.find(({ name }) => name === asked.property)?.says}
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
      {doubtful && (
        <div class="warning" role="alert">
          <p>
            {item.business} says that it needs{' '}
            {doubtful
              .filter(({ required }) => required)
              .map(({ property }) => plain(property))
              .join(', ')}
            . You may deny it all the same.
          </p>
          <div class="row">
            <button type="button" onClick={() => answer(doubtful, 'denied')}>
              Deny all the same
            </button>
            <button type="button" onClick={() => setDoubtful(undefined)}>
              Back
            </button>
          </div>
        </div>
      )}
      {open.length > 1 && !doubtful && (
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

const Property = ({ asked, user, says }: { asked: Asked; user: UserView | null; says: string | undefined }) => {
  const known = user?.properties[asked.property];
  return (
    <div class="asked">
      <p>
        <strong>{plain(asked.property)}</strong> {asked.required && <span class="badge ask">required</span>}
      </p>
      <p class="quiet">{asked.reason ?? says ?? ''}</p>
      <p class="quiet">{known ? <>Your profile says: {known.value}</> : 'Your profile says nothing.'}</p>
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
