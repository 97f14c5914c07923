/** The destinations in the top bar: a chip for each, coloured while its switch is not normal. */

import { Icon } from '../../../../web/icons.tsx';
import type { DestinationView } from '../../destinations/views.ts';
import type { PhoneSummary } from '../../views.ts';
import { Menu } from '../shell/menu.tsx';
import { useMedia } from '../shell/screen-size.ts';
import { ModeSelect, Switch } from './switch.tsx';
import type { Switches } from './use-switches.ts';
import { modeWords } from './words.ts';

/** Below this width, normal destinations share a chip. */
const NARROW = '(max-width: 79.99rem)';

interface ChipsProps {
  switches: Switches;
  users: PhoneSummary[];
  online: boolean;
}

export const DestinationChips = ({ switches: { destinations = [], set }, users, online }: ChipsProps) => {
  const narrow = useMedia(NARROW);
  const normal = destinations.filter(({ mode }) => mode === 'normal');
  const alone = narrow ? destinations.filter(({ mode }) => mode !== 'normal') : destinations;
  return (
    <div class="destination-chips">
      {alone.map((destination) => (
        <Menu
          key={destination.server}
          label={`${destination.name} ${modeWords[destination.mode]}`}
          look={lookOf(destination)}
          face={
            <>
              <span class="switch-dot" aria-hidden="true" />
              {`${destination.name} `}
              {destination.mode === 'normal' ? (
                <span class="unseen">Normal</span>
              ) : (
                <strong>{modeWords[destination.mode]}</strong>
              )}
              <Icon name="chevron" />
            </>
          }
        >
          {(close) => <Switch {...{ destination, users, set }} disabled={!online} onNormal={close} />}
        </Menu>
      ))}
      {narrow && normal.length > 0 && (
        <Menu
          label={`${normalWords(alone, normal)}: ${normal.map(({ name }) => name).join(', ')}`}
          look="destination-chip"
          face={
            <>
              <span class="switch-dot" aria-hidden="true" />
              {normalWords(alone, normal)}
              <span class="unseen">: {normal.map(({ name }) => name).join(', ')}</span>
              <Icon name="chevron" />
            </>
          }
        >
          {() => <SwitchRows destinations={normal} set={set} online={online} />}
        </Menu>
      )}
    </div>
  );
};

const normalWords = (others: DestinationView[], normal: DestinationView[]): string =>
  others.length === 0 ? 'All normal' : `${normal.length} normal`;

const lookOf = ({ mode }: DestinationView): string =>
  `destination-chip ${mode === 'normal' ? '' : mode === 'slow' || mode === 'other' ? 'warn' : 'bad'}`;

interface RowsProps {
  destinations: DestinationView[];
  set: Switches['set'];
  online: boolean;
}

/** A row with a short switch for each destination. */
const SwitchRows = ({ destinations, set, online }: RowsProps) => (
  <ul class="switch-rows">
    {destinations.map((destination) => (
      <li key={destination.server}>
        <span>{destination.name}</span>
        <ModeSelect {...{ destination, set }} disabled={!online} />
      </li>
    ))}
  </ul>
);
