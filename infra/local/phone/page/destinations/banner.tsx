/** The banner of a destination while messages wait for it: why, since when, until when; and what a person can do. */

import { countdown } from '../../../../web/figures.ts';
import { Icon } from '../../../../web/icons.tsx';
import { Time } from '../../../../web/text.tsx';
import type { DestinationView } from '../../destinations/views.ts';
import { Announced } from '../announced.tsx';
import { usePresent } from '../data/use-present.ts';
import type { Switches } from './use-switches.ts';
import { answerOf, isWaiting, scopeOf, stateOf, waitingWords } from './words.ts';

interface BannersProps {
  switches: Switches;
  online: boolean;
}

export const Banners = ({ switches: { destinations = [], set, retry }, online }: BannersProps) => {
  const present = usePresent();
  const waiting = destinations.filter(isWaiting);
  return (
    <div class="banners">
      <Announced news={waiting.map(newsOf).join(' ')} />
      {waiting.map((destination) =>
        destination.mode === 'normal' ? (
          <p key={destination.server} class="banner">
            <Icon name="hourglass" />
            <span>
              <strong>
                {waitingWords(destination)} {verbOf(destination)} for {destination.name}.
              </strong>{' '}
              <Next destination={destination} present={present} />
            </span>
            <button type="button" disabled={!online} onClick={() => retry(destination.server)}>
              Retry now
            </button>
          </p>
        ) : (
          <p key={destination.server} class="banner bad">
            <Icon name="alert" />
            <span>
              <strong>{stateOf(destination)}</strong>
              {scopeOf(destination)}, because of a switch that was set
              {destination.since && (
                <>
                  {' '}
                  at <Time at={destination.since} />
                </>
              )}
              . {answerOf(destination)}
              {waitingWords(destination)} {verbOf(destination)}.
            </span>
            <button type="button" disabled={!online} onClick={() => set(destination.server, { mode: 'normal' })}>
              Set {destination.name} to normal
            </button>
          </p>
        ),
      )}
    </div>
  );
};

const verbOf = ({ pending, others }: DestinationView): string => ((pending || others) === 1 ? 'waits' : 'wait');

const newsOf = (destination: DestinationView): string =>
  `${destination.mode === 'normal' ? '' : `${stateOf(destination)}. `}${waitingWords(destination)} ${verbOf(destination)} for ${destination.name}.`;

/** When the next attempt is. The seconds are only shown: screen readers would read each of them. */
const Next = ({ destination: { next }, present }: { destination: DestinationView; present: number }) => {
  if (next === null || Date.parse(next) <= present) return <>The next attempt is due now.</>;
  return (
    <>
      The next attempt is at <Time at={next} as="exact" />
      <span aria-hidden="true">, in {countdown(Date.parse(next) - present)}</span>.
    </>
  );
};
