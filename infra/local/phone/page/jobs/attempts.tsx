/** The attempts to deliver a message, and how each ended. */
import type { Attempts as AttemptList } from '../../views.ts';
import { Time } from '../text.tsx';

export const Attempts = ({ attempts }: { attempts: AttemptList }) => (
  <ol class="attempts" aria-label="Attempts">
    {attempts.map(({ time, outcome, taken }) => (
      <li key={time}>
        <Time at={time} exact /> <Outcome outcome={outcome} taken={taken} />
      </li>
    ))}
  </ol>
);

const Outcome = ({ outcome, taken }: { outcome: string; taken: boolean }) => (
  <span class={`outcome ${taken || outcome === 'waiting' ? 'good' : 'bad'}`}>{outcome}</span>
);
