/** Buttons that make the demo's business send messages of each type, and a user data request. */
import { useState } from 'preact/hooks';
import { describeError, submit } from '../data/api.ts';

const acts = { greeting: 'Question', picture: 'Picture', file: 'File', consent: 'Consent request' };

export const TryIt = ({ phone }: { phone: string }) => {
  const [problem, setProblem] = useState('');
  const act = (name: string) =>
    submit('POST', `/business/${name}`, { phone }).then(
      () => setProblem(''),
      (error) => setProblem(describeError(error)),
    );
  return (
    <fieldset class="try">
      <legend>As the business, send</legend>
      {Object.entries(acts).map(([name, label]) => (
        <button type="button" class="plain" key={name} onClick={() => void act(name)}>
          {label}
        </button>
      ))}
      <span class="problem" role="alert">
        {problem}
      </span>
    </fieldset>
  );
};
