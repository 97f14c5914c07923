/** The stack on a small page: the switches, the clock, where things are, and the theme. */

import { Icon } from '../../../../web/icons.tsx';
import { ThemeButton } from '../../../../web/theme.tsx';
import type { PhoneSummary, Setup } from '../../views.ts';
import { ClockSection } from '../clock/clock.tsx';
import type { StackClock } from '../clock/use-clock.ts';
import { Switch } from '../destinations/switch.tsx';
import type { Switches } from '../destinations/use-switches.ts';
import { modeWords } from '../destinations/words.ts';

interface StackProps {
  setup: Setup | undefined;
  switches: Switches;
  clock: StackClock;
  users: PhoneSummary[];
  online: boolean;
}

export const Stack = ({ setup, switches, clock, users, online }: StackProps) => (
  <div class="stack-part">
    <h2>Stack</h2>
    <section class="stack-switches" aria-label="Destinations">
      {switches.destinations?.map((destination) => (
        <details key={destination.server}>
          <summary>
            {destination.name}
            <span class={`stack-mode ${destination.mode === 'normal' ? 'ok' : 'bad'}`}>
              {modeWords[destination.mode]}
            </span>
          </summary>
          <Switch {...{ destination, users, set: switches.set }} disabled={!online} onNormal={() => undefined} />
        </details>
      ))}
    </section>
    <ClockSection {...{ clock, online }} />
    <ul class="stack-rows">
      <li>
        <a href="/portal-link" target="_blank" rel="noreferrer">
          <Icon name="layers" />
          Portal
        </a>
      </li>
      {setup?.docs_url && (
        <li>
          <a href={setup.docs_url}>
            <Icon name="book" />
            Docs
          </a>
        </li>
      )}
      <li>
        <span>Theme</span>
        <ThemeButton />
      </li>
    </ul>
  </div>
);
