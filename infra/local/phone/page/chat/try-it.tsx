/** Has the demo's business do something, so that there is more than text to see. */
import { useState } from 'preact/hooks';
import { sayWhy, tell } from '../data/api.ts';

const acts = { greeting: 'Question', picture: 'Picture', file: 'File', consent: 'Consent request' };

export const TryIt = ({ phone }: { phone: string }) => {
  const [problem, setProblem] = useState('');
  const act = (name: string) =>
    tell('POST', `/business/${name}`, { phone }).then(
      () => setProblem(''),
      (error) => setProblem(sayWhy(error)),
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
